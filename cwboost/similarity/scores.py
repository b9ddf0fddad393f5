"""Scores of similarity: how much an example resembles the training examples of each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from cwboost.kernels import usable_threads
from cwboost.similarity.codes import FeatureCodes, as_levels
from cwboost.similarity.fitting import ENTRIES, FEW, MORE_LANDMARKS, MOST, Examples, fitted
from cwboost.similarity.likeness import LandmarkLikeness, Landmarks
from cwboost.similarity.regression import Coefficients
from cwboost.similarity.relevance import squared_slopes
from cwboost.similarity.selection import evenly_spaced

__all__ = ["MOST", "SimilarityScores", "evenly_spaced"]

FEW_OPERATIONS = 2**22
"""Products below this size are left to whatever number of threads BLAS takes."""

SLOPES_AT = 256
"""Number of landmarks at which slopes are computed."""

ARRAYS = {
    "centre": ("float64", 1),
    "scale": ("float64", 1),
    "fill": ("float64", 1),
    "landmarks": ("int8", 2),
    "coefficients": ("float64", 2),
    "width": ("float64", 0),
}


@dataclass(frozen=True, eq=False)
class SimilarityScores:
    """Kernel ridge regression of the classes on the likeness to landmarks.

    Parameters
    ----------
    codes : FeatureCodes
    fill : ndarray of shape (n_features,), dtype float64
        What stands for missing features: their means, rounded.
    landmarks : ndarray of shape (n_landmarks, n_features), dtype int8
        Codes of some of the training examples, or of all.
    width : float
        Of the kernel.
    coefficients : ndarray of shape (n_landmarks, n_scores), dtype float64
        One score per class; one of the first class only, if there are two.

    Notes
    -----
    Every result has the same bits on any processor, at any number of threads and however rows are
    divided into calls: sums are sums of integers, exact in any order, or have a fixed order.
    """

    codes: FeatureCodes
    fill: np.ndarray
    landmarks: np.ndarray
    width: float
    coefficients: np.ndarray

    def __post_init__(self):
        measured = Landmarks(self.landmarks.astype(np.float32))
        object.__setattr__(self, "_measured", measured)
        object.__setattr__(self, "rounded", Coefficients(self.coefficients))

    @property
    def n_scores(self) -> int:
        """Number of scores."""
        return self.coefficients.shape[1]

    @classmethod
    def fit(cls, X, y, n_classes: int, weight, n_threads: int = 1, is_worth=None):
        """Fit a regression; return it and the scores of the training examples.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Finite.
        y : ndarray of shape (n_samples,), int
            Class indices, ascending: of landmarks that are evenly spaced, each class has its share.
        n_classes : int
        weight : ndarray of shape (n_samples,), dtype float64, > 0
        n_threads : int, default=1
        is_worth : callable, default=None
            Called with the indices of the examples of a first regression and the log losses that it
            has where it leaves them out; False means that scores are not worth their time.

        Returns
        -------
        similarity : SimilarityScores or None
            None if the examples do not differ, or if scores are not worth it.
        levels : ndarray of shape (n_samples, n_scores), dtype uint8, or None
            The scores that a regression without the label of the example would give it; equal
            examples have the mean of theirs.
        """
        n_scores = 1 if n_classes == 2 else n_classes
        used = evenly_spaced(len(y), MOST)
        X_used, y_used = X if len(used) == len(y) else X[used], y[used]
        examples = Examples(X_used, y_used, n_scores, weight[used], n_threads)
        with _limited(n_threads):
            found = fitted(examples, None if is_worth is None else partial(is_worth, used))
        if found is None:
            return None, None
        fill = FeatureCodes.standardised(X_used[evenly_spaced(len(used), FEW)]).centre
        landmarks, setting = found.codes[found.at], found.setting
        similarity = cls(setting.codes, fill, landmarks, setting.width, found.coefficients)
        if len(used) == len(y):
            return similarity, as_levels(found.left_out)
        levels = np.empty((len(y), n_scores), dtype=np.uint8)
        levels[used] = as_levels(found.left_out)
        others = np.setdiff1d(np.arange(len(y)), used, assume_unique=True)
        levels[others] = similarity(X[others], n_threads)
        return similarity, levels

    def __call__(self, X, n_threads: int = 1) -> np.ndarray:
        """Return the scores of the rows of X as levels, (n_samples, n_scores), dtype uint8.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Without missing values; see `filled`.
        n_threads : int, default=1
        """
        n, step = X.shape[0], max(1, ENTRIES // max(self.landmarks.shape))
        levels = np.empty((n, self.n_scores), dtype=np.uint8)
        alike = LandmarkLikeness(self._measured, self.width)
        if n * self.landmarks.size < FEW_OPERATIONS:
            levels[:] = as_levels(self._raw(X, alike))
            return levels
        with _limited(n_threads):
            for start in range(0, n, step):
                rows = slice(start, start + step)
                levels[rows] = as_levels(self._raw(X[rows], alike))
        return levels

    def filled(self, X):
        """Return X with a feature's mean for every missing value; X itself if there is none."""
        values = X.data if sparse.issparse(X) else X
        if values.dtype.kind != "f" or not np.isnan(values).any():
            return X
        X = X.copy()
        if sparse.issparse(X):
            lost = np.isnan(X.data)
            X.data[lost] = self.fill[sparse.coo_array(X).coords[1][lost]]
            return X
        lost = np.isnan(X)
        X[lost] = np.broadcast_to(self.fill, X.shape)[lost]
        return X

    def _raw(self, X, alike: LandmarkLikeness) -> np.ndarray:
        X = X.toarray() if sparse.issparse(X) else X
        return self.rounded.scores(alike(self.codes(X)))

    def slopes(self) -> np.ndarray:
        """Return the share of each feature in the squared slopes of each score.

        Slopes are taken at up to 256 landmarks, in units of the standard deviations of all.

        Returns
        -------
        ndarray of shape (n_scores, n_features), dtype float64, rows sum to one
        """
        points = self.landmarks[evenly_spaced(len(self.landmarks), SLOPES_AT)]
        slopes = squared_slopes(points, self.landmarks, self.width, self.coefficients)
        slopes *= self.landmarks.var(axis=0, dtype=np.float64)
        total = slopes.sum(axis=1, keepdims=True)
        shares = slopes / np.where(total > 0.0, total, 1.0)
        return shares

    def equals(self, other: SimilarityScores) -> bool:
        """Return True if both give the same scores: their arrays have the same bits."""
        own, others = self.arrays(), other.arrays()
        return all(np.array_equal(own[name], others[name]) for name in own)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return flat arrays with everything `from_arrays` needs."""
        return {
            "centre": self.codes.centre,
            "scale": self.codes.scale,
            "fill": self.fill,
            "landmarks": self.landmarks,
            "coefficients": self.coefficients,
            "width": np.array(self.width),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int, n_scores: int):
        """Return the inverse of `arrays`, for a file of unknown origin.

        Raises
        ------
        ValueError
            If an array is wrong; the message names it and its fault.
        """
        if set(arrays) != set(ARRAYS):
            raise ValueError(f"similarity_ must have the arrays {sorted(ARRAYS)}")
        for name, (dtype, n_dimensions) in ARRAYS.items():
            array = arrays[name]
            if not isinstance(array, np.ndarray):
                raise ValueError(f"similarity_: {name} must be an array")
            if array.dtype != dtype or array.ndim != n_dimensions:
                raise ValueError(f"similarity_: {name} must have dtype {dtype}, {n_dimensions}-d")
            if dtype == "float64" and not np.isfinite(array).all():
                raise ValueError(f"similarity_: {name} must be finite")
        landmarks, coefficients = arrays["landmarks"], arrays["coefficients"]
        n = len(landmarks)
        if n == 0 or landmarks.shape != (n, n_features) or coefficients.shape != (n, n_scores):
            raise ValueError("similarity_: landmarks and coefficients do not fit the model")
        if any(arrays[name].shape != (n_features,) for name in ("centre", "scale", "fill")):
            raise ValueError(f"similarity_: centre, scale and fill must have {n_features} entries")
        if (
            n > max(FEW, MORE_LANDMARKS)
            or not arrays["width"] > 0
            or np.abs(coefficients).max() > 1e100
        ):
            raise ValueError("similarity_: numbers out of range")
        codes = FeatureCodes(arrays["centre"], arrays["scale"])
        return cls(codes, arrays["fill"], landmarks, float(arrays["width"]), coefficients)


def _limited(n_threads: int):
    """Limit the threads of BLAS, as a context."""
    return _libraries().limit(limits=usable_threads(n_threads), user_api="blas")


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Return the libraries of NumPy and SciPy; finding them takes longer than some scores."""
    return ThreadpoolController()
