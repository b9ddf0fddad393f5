"""Importances of features: their shares in the squared SHAP values of training examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cwboost.ensemble.shapley import UnsplitError, shapley_values
from cwboost.support.samples import spaced_by_weight

if TYPE_CHECKING:
    from cwboost.fitted_model import FittedModel

MOST_ROWS = 128
"""Largest number of examples; more change no rank on twenty tables."""

MOST_VALUES, FEWEST_ROWS = 2**22, 8
"""Largest number of SHAP values, of less examples if these have many, but of this number."""

MOST_OUTPUTS, FEWEST_PASSED = 2**26, 32
"""Largest number of outputs of nodes that all examples pass, of less examples if trees are large or
classes many, but of this number: SHAP values would take a third of the time of a fit."""

MOST_POINTS = 2
"""Of quadrature: their error is a hundredth of that of the choice of examples."""


def importances_of(model: FittedModel, X, weight, n_threads: int) -> np.ndarray | None:
    """Return the share of each feature in the squares of the SHAP values of a model.

    Some of the training examples X are used, also as the background of learners that know none. The
    shares have the sum 1, or are zeros if no feature moves a score; they are None if there are no
    SHAP values of all of the score.
    """
    rows, weight = spaced_by_weight(weight, _n_rows(model, X.shape[1]))
    values = _values(model, X[rows], n_threads)
    if values is None:
        return None
    # Relative to the largest, so that no square overflows.
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    values /= largest or 1.0
    values *= np.sqrt(weight / weight.max())[:, None, None]
    squares = np.square(values, out=values).sum(axis=(0, 2))
    return squares / (squares.sum() or 1.0)


def _n_rows(model: FittedModel, n_features: int) -> int:
    """Return the number of examples to use at most."""
    form = model.ensemble.learners.flat_form()
    n_outputs = 1 if form is None else max(1, form.output.size)
    by_values = max(FEWEST_ROWS, MOST_VALUES // (n_features * model.ensemble.n_scores))
    return min(MOST_ROWS, by_values, max(FEWEST_PASSED, MOST_OUTPUTS // n_outputs))


def _values(model: FittedModel, X, n_threads: int) -> np.ndarray | None:
    """Return the SHAP values of the whole scores, None if there are none."""
    base = None if model.base is None else model.base.shapley_values(X, X, n_threads)
    if model.base is not None and base is None:
        return None
    form, features = model.ensemble.learners.flat_form(), model.features(X)
    try:
        background = features if form is None or form.cover is None else None
        values, _ = shapley_values(
            model.ensemble, features, background, n_threads=n_threads, most_points=MOST_POINTS
        )
    except UnsplitError:
        return None
    values = model.by_column(values)
    return values if base is None else values + base[0]
