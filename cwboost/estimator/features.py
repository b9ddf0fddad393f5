"""Checks of a feature matrix that scikit-learn does not have."""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = ["find_missing", "refuse_categorical"]


def refuse_categorical(X) -> None:
    """Name the categorical columns of a pandas or polars frame, and what to do with them."""
    if not (hasattr(X, "dtypes") and hasattr(X, "columns")):
        return
    kinds = ("category", "categorical", "enum")
    names = [
        str(name)
        for name, dtype in zip(X.columns, X.dtypes)
        if str(dtype).lower().startswith(kinds)
    ]
    if names:
        raise ValueError(
            f"X has categorical columns: {', '.join(names)}. Weak learners compare numbers; encode "
            "the columns first, for example with sklearn.preprocessing.OneHotEncoder"
        )


def find_missing(X, family) -> bool:
    """Whether X has NaN; refuse it, and infinities too, where the family takes no missing values.

    One sum looks at all values: it is finite unless one of them is not, or it overflows.
    """
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f":
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return False
    has_missing = bool(np.isnan(values).any())
    if not family.capabilities.missing_values and (has_missing or np.isinf(values).any()):
        raise ValueError(
            f"Input X contains {'NaN' if has_missing else 'infinity'}. The weak learner "
            f"{family.name!r} does not handle missing values."
        )
    return has_missing
