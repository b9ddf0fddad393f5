"""Aumann-Shapley values of thresholds on directions.

For a learner h(x) = sign(<d, x> - t) and a background example b, the difference h(x) - h(b) is
spread over the features along the straight line from b to x: feature f gets

    (h(x) - h(b)) d_f (x_f - b_f) / <d, x - b>,

which is the limit of the Shapley value if every feature is cut into equal small parts. A feature
without entry in d gets 0, all features together get h(x) - h(b), and the units do not matter. If d
has one entry, this is the Shapley value of a stump. The value of an example is the mean over
background examples; of these, only those on the other side of the threshold count.
"""

import numpy as np
from scipy import sparse

from cwboost.families.contract import WeakLearners
from cwboost.kernels import Projector

CLOSE = 1e-9
"""Projections closer than this, in standard deviations of the background, are not told apart."""


class DirectedShapley:
    """Values of a weighted sum of thresholds on directions.

    With n rows and m background examples, a learner of k features costs ``n m k`` multiplications.
    Column j of `directions`, (n_features, n_learners), is that of learner j, whose outputs decide
    on which side of the threshold an example is; `coef` is (n_learners, n_scores), and `fill` what
    learners take in place of gaps, if they do. `base` is the mean score of the background,
    (n_scores,).
    """

    def __init__(
        self, directions, learners: WeakLearners, coef: sparse.csr_array, background, fill=None
    ):
        self._directions, self._learners, self._coef = directions, learners, coef
        self._sides, self._fill = learners.outputs(background), fill
        known, rows = _finite(background, fill)
        self._centre = rows.mean(axis=0, where=known)
        self._background = np.where(known, rows - self._centre, 0.0)
        self._is_known = known.all(axis=1)
        self._z = Projector(directions)(self._background, 1, np.float64)
        self._spread = self._z.std(axis=1)
        self.base = coef.T @ self._sides.mean(axis=0)

    def add(self, X, values, n_threads: int = 1) -> None:
        """Add the values of the rows of X to `values`, (n_samples, n_features, n_scores)."""
        sides = self._learners.outputs(X)
        known, rows = _finite(X, self._fill)
        rows = np.where(known, rows - self._centre, 0.0)
        z = Projector(self._directions)(rows, n_threads, np.float64)
        for j in range(len(self._learners)):
            features = np.flatnonzero(self._directions[:, j])
            parts = self._parts(j, features, rows, z[j], sides[:, j], n_threads)
            unknown = ~known[:, features]
            lost = unknown.any(axis=1)
            parts[lost] = 0
            # What rounding and unknown values leave goes to all features, or to the unknown ones.
            entries = np.abs(self._directions[features, j])
            share = np.where(lost[:, None], unknown, entries)
            rest = sides[:, j] - self._sides[:, j].mean() - parts.sum(axis=1)
            # A constant has no entries, and nothing is left of it.
            parts += (rest / np.maximum(share.sum(axis=1), 1e-300))[:, None] * share
            for entry in range(*self._coef.indptr[j : j + 2]):
                values[:, features, self._coef.indices[entry]] += self._coef.data[entry] * parts

    def _parts(self, j, features, rows, z, sides, n_threads) -> np.ndarray:
        """Return the values of one learner for its features, (n_samples, n_its_features)."""
        parts = np.zeros((len(rows), len(features)))
        for side in (-1, 1):
            here = np.flatnonzero(sides == side)
            there = np.flatnonzero((self._sides[:, j] == -side) & self._is_known)
            if not len(here) or not len(there):
                continue
            gap = z[here, None] - self._z[j, there]
            gap[np.abs(gap) <= CLOSE * self._spread[j]] = np.inf
            np.divide(2.0 * side / len(self._background), gap, out=gap)
            whole = np.ones((len(there), len(features) + 1))
            whole[:, :-1] = self._background[np.ix_(there, features)]
            sums = Projector(whole)(gap, n_threads, np.float64)
            parts[here] = sums[-1][:, None] * rows[np.ix_(here, features)] - sums[:-1].T
        return parts * self._directions[features, j]


def _finite(X, fill) -> tuple[np.ndarray, np.ndarray]:
    """Return which entries are known, finite or filled, and float64 with zeros for the others."""
    rows = (X.toarray() if sparse.issparse(X) else np.asarray(X)).astype(np.float64)
    known = np.isfinite(rows)
    rows = np.where(known, rows, 0.0 if fill is None else fill)
    return known | (fill is not None), rows
