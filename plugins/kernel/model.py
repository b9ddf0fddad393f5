"""The init model, and the fitted one: scores, arrays of a file, SHAP values, ONNX nodes."""

import operator
from collections.abc import Mapping
from functools import partial

import numpy as np
from cwboost.plugins.kernel.codes import LARGEST, FeatureCodes
from cwboost.plugins.kernel.expansion import Expansion
from cwboost.plugins.kernel.fitting import Examples, evenly_spaced, fitted
from cwboost.plugins.kernel.kernel_values import KernelValues, Landmarks
from cwboost.plugins.kernel.line import along_line
from cwboost.plugins.kernel.on_codes import ENTRIES, FittedOnCodes, of_every_class, read_arrays
from cwboost.plugins.kernel.regression import Coefficients
from scipy import sparse

from cwboost import InitContext, InitModel

FEWEST_EXAMPLES, MOST_FEATURES, MOST_CLASSES = 50, 10_000, 100
"""Limits of what the model suits; features are the expanded ones."""

MOST = 2**14
"""Largest number of examples that the regression takes."""

MOST_LANDMARKS = 2000
"""Largest number of landmarks: sums over as many are exact."""


class FittedKernel(FittedOnCodes):
    """Scores that are sums of kernel values of the row and landmarks, times coefficients.

    The landmarks are codes of training examples, (n_landmarks, n_expanded); `coefficients` are
    (n_landmarks, n_scores), of two classes those of the first.
    """

    def __init__(self, expansion: Expansion, codes: FeatureCodes, landmarks, width, coefficients):
        super().__init__(expansion, codes)
        self.landmarks, self.width = landmarks, width
        self.coefficients = Coefficients(coefficients)
        self._measured = Landmarks(landmarks)

    @property
    def n_scores(self) -> int:
        return self.coefficients.values.shape[1]

    @property
    def _row_size(self) -> int:
        return max(self.landmarks.shape)

    def scoring(self):
        values = KernelValues(self._measured, self.width)
        return lambda codes: self.coefficients.scores(values(codes))

    @property
    def n_rows_kept(self) -> int:
        return len(self.landmarks)

    def shapley_values(self, X, background=None, n_threads: int = 1):
        """Return the values along the line from the mean landmark, or the mean of a background."""
        landmarks = self.landmarks.astype(np.float64)
        origin = landmarks if background is None else self.coded(background).astype(np.float64)
        origin = origin.mean(axis=0)
        along = partial(
            along_line,
            origin=origin,
            landmarks=landmarks,
            width=self.width,
            coefficients=self.coefficients.values,
        )
        to_columns = self.to_columns(X.shape[1])
        parts = np.empty((*X.shape, self.n_scores))
        step = max(1, ENTRIES // max(len(landmarks), len(origin) * self.n_scores))
        base = along(origin[None])[1]
        for start in range(0, len(parts), step):
            found, _ = along(self.coded(X[start : start + step]).astype(np.float64))
            for k in range(self.n_scores):
                parts[start : start + step, :, k] = (to_columns @ found[:, :, k].T).T
        # What quadrature and rounding leave goes to all features by the size of their values.
        rest = self.scores(X, n_threads)[:, : self.n_scores] - base - parts.sum(axis=1)
        sizes = np.abs(parts)
        parts += rest[:, None] * sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1e-300)
        return of_every_class(parts), of_every_class(base)

    def onnx_nodes(self, graph, features: str) -> str:
        from cwboost.plugins.kernel.graph import add_nodes

        return add_nodes(graph, self, features)

    def arrays(self) -> dict[str, np.ndarray]:
        return super().arrays() | {
            "landmarks": self.landmarks,
            "coefficients": self.coefficients.values,
            "width": np.array([self.width]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int, n_classes: int):
        n_scores = 1 if n_classes == 2 else n_classes
        own = {
            "landmarks": ("int8", ("landmarks", "expanded"), _are_landmarks),
            "coefficients": (
                "float64",
                ("landmarks", n_scores),
                lambda a: np.abs(a).max() <= 1e100,
            ),
            "width": ("float64", (1,), lambda width: 1e-20 < width[0] < 1e20),
        }
        expansion, codes, found = read_arrays(arrays, n_features, own)
        landmarks, coefficients, width = found
        return cls(expansion, codes, landmarks, float(width[0]), coefficients)


def _are_landmarks(landmarks) -> bool:
    return min(landmarks.shape) > 0 and landmarks.min() >= -LARGEST


class KernelInit(InitModel):
    """Kernel ridge regression of the classes, with leave-one-out or leave-one-fold-out scores.

    The kernel is heavy-tailed; its width, the scale of the features and the penalty are those of
    the lowest leave-one-out log loss. Gaps are filled with means and marked; categories become
    indicators. The regression takes up to 16,384 of the examples, evenly spaced.

    Parameters
    ----------
    max_landmarks : int, default=2000
        Largest number of training examples that a fitted model keeps, at least 50 and at most 2000.
        Up to this number of examples it keeps all; of more, between half of it and all of it.
    """

    name = "kernel"
    api_version = 1
    fitted_type = FittedKernel

    def __init__(self, max_landmarks: int = MOST_LANDMARKS):
        self.max_landmarks = max_landmarks

    def fit(self, X, y, context: InitContext):
        return self.fit_rows(X, np.arange(len(y)), y, context)

    def fit_rows(self, X, rows, y, context: InitContext):
        max_landmarks = operator.index(self.max_landmarks)
        if not FEWEST_EXAMPLES <= max_landmarks <= MOST_LANDMARKS:
            raise ValueError(f"max_landmarks must be in [50, 2000], got {max_landmarks}")
        n, n_classes = len(y), context.n_classes
        if sparse.issparse(X) or n < FEWEST_EXAMPLES or n_classes > MOST_CLASSES:
            return None, None
        sample = evenly_spaced(n, MOST_LANDMARKS)
        expansion = Expansion.of(X, rows, context.categorical, rows[sample])
        if not 0 < len(expansion) <= MOST_FEATURES:
            return None, None
        used = evenly_spaced(n, MOST)
        n_scores = 1 if n_classes == 2 else n_classes
        weight, n_threads = context.weight[used], context.n_threads
        folds = None if context.alone else context.folds[used]
        examples = Examples(X[rows[used]], expansion, y[used], n_scores, weight, n_threads, folds)
        found = fitted(examples, max_landmarks)
        if found is None:
            return None, None
        setting, landmarks = found.setting, found.codes[found.at]

        def fitted_kernel(coefficients):
            return FittedKernel(expansion, setting.codes, landmarks, setting.width, coefficients)

        model = fitted_kernel(found.coefficients)
        scores = of_every_class(found.left_out)
        if len(used) < n:
            others = np.setdiff1d(np.arange(n), used, assume_unique=True)
            left_out, scores = scores, np.empty((n, n_classes))
            scores[used] = left_out
            if folds is None:
                parts = [(model, others)]
            else:  # those that belong to them are among the landmarks
                models = map(fitted_kernel, found.of_fold)
                parts = [(m, others[context.folds[others] == k]) for k, m in enumerate(models)]
            for one, own in parts:
                one.score_rows(X, rows, own, scores, n_threads)
        return model, scores
