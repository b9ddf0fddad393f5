"""Checks that predictions for a row depend on that row alone."""

import numpy as np
from scipy import sparse

from cwboost.testing.check import check
from cwboost.testing.material import dense_forms, inputs, made_by, on, pixels

ONE_ROW = "Compute each row from that row alone: no mean of the rows at hand, no product with BLAS."


@check(ONE_ROW)
def check_rows(plugin):
    """Check that predictions depend neither on other rows nor on the layout, bit for bit."""
    for kind, X in inputs().items():
        with on(kind):
            check_rows_of(plugin, X)


@check("Take values beyond those of training in outputs.")
def check_new_examples(family):
    """Check that learners predict on examples far outside the training data."""
    made = made_by(family, pixels())
    for value in (-1e30, -1.0, 300.0, 1e30):
        with on(f"features of {value}"):
            rows = made.predict(np.full((3, pixels().shape[1]), value))
            assert (rows == rows[0]).all(), "equal rows, unequal predictions"


def check_rows_of(plugin, X) -> None:
    """Check the rows of one matrix."""
    made = made_by(plugin, X)
    expected = made.predict(X)
    others = {
        "one row at a time": (np.vstack([made.predict(X[i : i + 1]) for i in range(20)]), 20),
        "rows in reverse": (made.predict(X[::-1])[::-1], None),
        "half of the rows": (made.predict(X[: X.shape[0] // 2]), X.shape[0] // 2),
    }
    for what, form in () if sparse.issparse(X) else dense_forms(X):
        others[what] = made.predict(form), None
    for what, (predictions, n) in others.items():
        assert np.array_equal(predictions, expected[:n]), f"predictions differ: {what}"
