"""Ridge regression on kernel values, and the scores that leave each example out.

Targets are +1 for the class and -1 for the others. Left-out scores have closed forms, so that no
regression is repeated. Sums over examples are exact: kernel values and weights are integers in
small units.
"""

from math import fsum

import numpy as np
from cwboost.plugins.kernel.kernel_values import UNIT
from scipy.linalg.blas import dtrmm  # noqa: TID251

from cwboost.kernels import inverse_factor, matrix_product

WEIGHT_UNIT = 2.0**10
"""Weight 1, that of the heaviest example, in the units in which weights are kept."""

JITTER = 2.0**-10
"""Added to the diagonal of the landmarks' kernel values, in units of value 1: more than rounding
can take from the least eigenvalue."""

MOST_LEVERAGE = 0.95
"""Limit of the share of its own label in the score of an example, which may be an estimate."""

CHUNK, WEIGHTED_CHUNK, LANDMARKS_CHUNK = 1024, 512, 256
"""Number of examples whose sums are formed at a time; of weighted ones, so that sums of products of
two kernel values and a weight do not exceed 2**(17 + 17 + 10 + 9) = 2**53; and of landmarks, whose
products are dense."""

SIGNS = 64
"""Number of vectors of signs. Up to this number of landmarks, all leverages are exact."""

ROOT_UNIT = 2.0**19
"""Unit of the entries of B, whose rows are shorter than ``(penalty jitter)**-0.5 <= 2**10``:
products with 2,000 kernel values stay below 2**(10 + 5.5 + 19 + 17) < 2**52 in whole units."""

SUM_UNIT = 2.0**13
"""Unit of the entries of s' B, whose rows are shorter than 2**(10 + 5.5)."""


def targets(y, n_scores: int) -> np.ndarray:
    """Return +1 and -1, (n, n_scores), for class indices; the last class has no score if K = 2."""
    return np.where(y[:, None] == np.arange(n_scores), 1.0, -1.0)


def whole_weights(weight) -> np.ndarray:
    """Return weights in whole units, the heaviest `WEIGHT_UNIT`, none below one."""
    return np.maximum(np.rint(weight * (WEIGHT_UNIT / weight.max())), 1.0)


class Coefficients:
    """Coefficients rounded so that sums of products with kernel values are exact."""

    def __init__(self, values):
        self.values = values
        # Of a score, terms in whole units sum up to less than 2**53, whatever their signs. The sums
        # are correctly rounded, whatever the order of the values in memory.
        largest = max(fsum(column) for column in np.abs(values).T)
        bits = 52 - int(UNIT).bit_length() + 1
        # Coefficients of a file may be as small as numbers get: the unit must not vanish.
        self.unit = 2.0 ** max(int(np.frexp(largest)[1]) - bits, -1000) if largest > 0 else 1.0
        self.whole = np.rint(values / self.unit)
        self._by_score = np.ascontiguousarray(self.whole.T)

    def scores(self, values) -> np.ndarray:
        """Return scores, (n, n_scores), of kernel values (n, n_landmarks), in whole units."""
        # Few rows of a product take less time than few columns.
        return (self._by_score @ values.T).T * (self.unit / UNIT)


def regress_on_all(values, Y, weight, penalty: float, n_threads: int = 1, folds=None):
    """Regress on the kernel values of all examples, (n, n), in whole units, as the weights are.

    With ``A = K + penalty diag(1 / w)``, the coefficients are ``a = inv(A) Y``; the scores of
    examples g without their labels are ``Y_g - inv(inv(A)_gg) a_g``, where g is a single example
    or, with `folds`, all of one fold. Return both, (n, n_scores). The penalty must be at least
    0.01.
    """
    A = values / UNIT
    A[np.diag_indices(len(A))] += penalty * WEIGHT_UNIT / weight
    B = inverse_factor(A, n_threads)
    found = matrix_product(B.T, matrix_product(B, Y, n_threads), n_threads)
    if folds is None:
        return found, Y - found / np.square(B).sum(axis=0)[:, None]
    left_out = np.empty_like(Y)
    for fold in np.unique(folds):
        g = np.flatnonzero(folds == fold)
        own = np.ascontiguousarray(B[:, g])
        C = inverse_factor(np.ascontiguousarray(matrix_product(own.T, own, n_threads)), n_threads)
        pull = matrix_product(C.T, matrix_product(C, found[g], n_threads), n_threads)
        left_out[g] = Y[g] - pull
    return found, left_out


def regress_on_landmarks(values, at, Y, weight, penalty: float, n_threads: int = 1):
    """Regress on the kernel values of some of the examples, the landmarks.

    With P the values, K those of the landmarks and ``A = P' W P + penalty (K + jitter I)``, the
    coefficients are ``inv(A) P' W Y``. Of the score f of an example, ``(f - h y) / (1 - h)`` is
    left without its label, with the leverage ``h = w p' inv(A) p``; see `Leverages`. Return the
    coefficients, (n_landmarks, n_scores), and the scores so left, (n, n_scores).

    ``values(rows)`` returns the kernel values of some of the examples, given as a slice or by their
    indices, (n_rows, n_landmarks), in whole units, in memory that the next call may reuse. It is
    called twice for each example, since the values of all examples take much memory. The landmarks
    are `at`, ascending.
    """

    def without_label(scores, square, rows) -> np.ndarray:
        share = np.minimum(square * (weight[rows] / WEIGHT_UNIT), MOST_LEVERAGE)[:, None]
        return (scores - share * Y[rows]) / (1.0 - share)

    products, moments = _normal_equations(values, Y, weight, np.arange(len(Y)))
    of_landmarks = values(at).copy()
    A = _ridge(of_landmarks, penalty)
    A += products
    del products  # each of these matrices takes up to 32 MB
    B = inverse_factor(A, n_threads)
    del A
    found = Coefficients(matrix_product(B.T, matrix_product(B, moments, n_threads), n_threads))
    leverages = Leverages(B, n_threads)
    left_out = np.empty_like(Y)
    for rows in _chunks(len(Y), CHUNK):
        part = values(rows)
        left_out[rows] = without_label(found.scores(part), leverages(part), rows)
    square, pull = leverages.of_landmarks(of_landmarks)
    scores = found.scores(of_landmarks) - pull[:, None] * found.values
    left_out[at] = without_label(scores, square, at)
    return found.values, left_out


def cross_fit_on_landmarks(values, at, Y, weight, penalty: float, folds, n_threads: int = 1):
    """Regress on the kernel values of landmarks, and once more without each of the `folds`.

    The arguments are those of `regress_on_landmarks`, and so are the first two results, but that
    the scores of a fold come from a regression without its examples, as landmarks too. The third
    are the coefficients of these regressions, (n_folds, n_landmarks, n_scores).
    """
    numbers = range(int(folds.max()) + 1)
    parts = [_normal_equations(values, Y, weight, np.flatnonzero(folds == k)) for k in numbers]
    ridge = _ridge(values(at).copy(), penalty)

    def solved(kept, products, moments) -> np.ndarray:
        coefficients = np.zeros((len(at), Y.shape[1]))
        if not len(kept):
            return coefficients
        A = np.ascontiguousarray((ridge + products)[np.ix_(kept, kept)])
        B = inverse_factor(A, n_threads)
        found = matrix_product(B.T, matrix_product(B, moments[kept], n_threads), n_threads)
        coefficients[kept] = found
        return Coefficients(coefficients).values

    products, moments = (sum(part) for part in zip(*parts))
    found = solved(np.arange(len(at)), products, moments)
    of_fold, left_out = [], np.empty_like(Y)
    for k, (own_products, own_moments) in zip(numbers, parts):
        kept = np.flatnonzero(folds[at] != k)
        of_fold.append(solved(kept, products - own_products, moments - own_moments))
        own = Coefficients(of_fold[-1])
        rest = np.flatnonzero(folds == k)
        for rows in np.array_split(rest, 1 + len(rest) // CHUNK):
            left_out[rows] = own.scores(values(rows))
    return found, left_out, np.array(of_fold)


def _ridge(of_landmarks, penalty: float) -> np.ndarray:
    """Return ``penalty (K + jitter I)`` for the kernel values of the landmarks."""
    A = of_landmarks / UNIT
    A[np.diag_indices(len(A))] += JITTER
    A *= penalty
    return A


class Leverages:
    """Leverages ``p' inv(A) p = |B p|**2`` of examples of weight 1, from their kernel values p.

    B is lower triangular, with ``inv(A) = B' B``. For many examples and landmarks the products B p
    would take a third of the time of the fit, so the squares are estimated: with signs s drawn at
    random, the mean of ``(s' B p)**2`` is ``|B p|**2`` (Johnson and Lindenstrauss 1984; Achlioptas
    2003). 64 vectors of signs give it within 18% (its standard deviation).
    """

    def __init__(self, B, n_threads: int = 1):
        m = len(B)
        self._root = np.asfortranarray(np.rint(B * ROOT_UNIT))
        self._sums = None
        if m > SIGNS:
            signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(SIGNS, m))
            self._sums = np.rint(matrix_product(signs, B, n_threads) * SUM_UNIT)

    def __call__(self, values) -> np.ndarray:
        """Return the leverages of examples, estimated if there are many landmarks."""
        if self._sums is None:
            return np.square(self._spread(values)).sum(axis=0)
        spread = (self._sums @ values.T) / (SUM_UNIT * UNIT)
        return np.square(spread).sum(axis=0) / SIGNS

    def of_landmarks(self, values) -> tuple[np.ndarray, np.ndarray]:
        """Return what remains of the leverages of landmarks, and how much each pulls itself.

        A landmark has a coefficient of its own, which new examples do not have. So it is left out
        as a landmark too, with its coefficient held at zero: the part of B p along ``B e_i`` then
        counts in neither score nor leverage. Return the ``|B p|**2`` without this part, and the
        part over ``B e_i``: times its own coefficient, what its score has of it.
        """
        squares, pulls = np.empty(len(values)), np.empty(len(values))
        for some in _chunks(len(values), LANDMARKS_CHUNK):
            spread, own = self._spread(values[some]), self._root[:, some] / ROOT_UNIT
            pulls[some] = (spread * own).sum(axis=0) / np.square(own).sum(axis=0)
            squares[some] = np.square(spread - pulls[some] * own).sum(axis=0)
        return squares, pulls

    def _spread(self, values) -> np.ndarray:
        """Return B p of each example: sums of integers below 2**53."""
        return dtrmm(1.0 / (ROOT_UNIT * UNIT), self._root, values.T, lower=True)


def _normal_equations(values, Y, weight, at) -> tuple[np.ndarray, np.ndarray]:
    """Return ``P' W P`` and ``P' W Y`` of the examples `at`: sums of integers, hence exact."""
    A = moments = 0.0
    all_alike = (weight == weight[0]).all()
    for some in _chunks(len(at), CHUNK if all_alike else WEIGHTED_CHUNK):
        rows = at[some]
        part = values(rows)
        weighted = part if all_alike else part * weight[rows, None]
        # BLAS does half of the work if both factors are one array.
        A += weighted.T @ part
        moments += weighted.T @ Y[rows]
    unit = (weight[0] if all_alike else 1.0) / WEIGHT_UNIT
    return A * (unit / UNIT**2), moments * (unit / UNIT)


def _chunks(n: int, size: int):
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
