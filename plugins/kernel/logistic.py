"""Logistic regression on whole numbers, and what remains of it without each fold.

With rows z, weights w, class indicators t, penalties l and p the softmax of the scores ``z'c``, the
coefficients c minimise the weighted log loss plus ``l c**2 / 2``. Steps

    c += inv( sum of w z z' / 2 + l ) ( sum of w (t - p) z - l c )

lower that, since half of the sum of squares bounds the curvature of the log loss (Böhning 1992):
the matrix is factored once. They begin ahead of the last coefficients (Nesterov 1983).
"""

import numpy as np
from cwboost.plugins.kernel.kernel_values import UNIT
from cwboost.plugins.kernel.regression import Coefficients

from cwboost.kernels import inverse_factor, matrix_product, softmax

STEPS = 15
"""More of them change nothing that matters to boosting."""

SHARE_UNIT = 2.0**20
"""Weighted residuals and curvatures per unit. Their products with rows are whole numbers that add
up to less than 2**53 over 4,096 rows of numbers below 2**7, exactly and in any order."""


class LogisticRegression:
    """Coefficients, (n_numbers, n_classes), of rows of whole numbers with whole weights."""

    def __init__(self, rows, targets, weight, penalty, n_threads: int):
        self._rows, self._targets, self._n_threads = rows, targets, n_threads
        self._weight, self._penalty = weight * (len(weight) / weight.sum()), penalty
        self.coefficients = self._fitted()

    def _fitted(self) -> np.ndarray:
        every = slice(None)
        root = self._root(self._curvature(every, 0.5))
        found = last = np.zeros((self._rows.shape[1], self._targets.shape[1]))
        for k in range(STEPS):
            ahead = found + k / (k + 3) * (found - last)
            gradient = self._gradient(every, self._residuals(ahead))
            last, found = found, ahead + self._solved(root, self._penalised(gradient, ahead))
        return found

    def without(self, folds) -> np.ndarray:
        """Return the coefficients without each fold, (n_folds, n_numbers, n_classes).

        They are one step of Newton's from those of all. The step of a class takes the scores of the
        others for fixed, which makes it too long, of two classes twice.
        """
        found = self.coefficients
        residuals, n_classes = self._residuals(found), found.shape[1]
        p, own = self._targets - residuals, [self._gradient(at, residuals[at]) for at in folds]
        gradient, steps = self._penalised(sum(own), found), np.empty((len(folds), *found.shape))
        for c in range(n_classes):
            parts = [self._curvature(at, p[at, c] * (1.0 - p[at, c])) for at in folds]
            total = sum(parts)
            for k, part in enumerate(parts):
                rest = (gradient - own[k])[:, [c]]
                steps[k, :, [c]] = self._solved(self._root(total - part), rest).T
        return found + (n_classes - 1) / n_classes * steps

    def _residuals(self, found) -> np.ndarray:
        return self._targets - softmax(Coefficients(UNIT * found).scores(self._rows))

    def _gradient(self, at, residuals) -> np.ndarray:
        shares = np.rint(residuals * self._weight[at, None] * SHARE_UNIT)
        return self._rows[at].T @ shares / SHARE_UNIT

    def _penalised(self, gradient, found) -> np.ndarray:
        return gradient - self._penalty[:, None] * found

    def _curvature(self, at, values) -> np.ndarray:
        shares = np.rint(self._weight[at] * values * SHARE_UNIT)
        return (self._rows[at] * shares[:, None]).T @ self._rows[at] / SHARE_UNIT

    def _root(self, curvature) -> np.ndarray:
        return inverse_factor(curvature + np.diag(self._penalty), self._n_threads)

    def _solved(self, root, gradient) -> np.ndarray:
        half = matrix_product(root, gradient, self._n_threads)
        return matrix_product(root.T, half, self._n_threads)
