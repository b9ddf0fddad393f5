"""Fitted classifiers of scikit-learn as weak learners: trees and linear models as flat arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np

from cwboost.families.array_learners import ArrayLearners
from cwboost.families.contract import WeakLearners, coef_of, sum_outputs
from cwboost.families.flat_forms import ThresholdTrees, stump_trees
from cwboost.families.tree_learners import TreeLearners
from cwboost.kernels import Projector

FLAT_CLASSIFIERS = {
    "DecisionTreeClassifier": "sklearn.tree",
    "ExtraTreeClassifier": "sklearn.tree",
    "LinearSVC": "sklearn.svm",
    "LogisticRegression": "sklearn.linear_model",
    "Perceptron": "sklearn.linear_model",
    "RidgeClassifier": "sklearn.linear_model",
    "SGDClassifier": "sklearn.linear_model",
}
"""Classifiers with a known fitted form, by name, and the module that exports each."""


def learners_class(estimator) -> type[SklearnLearners]:
    """Return the class that stores fitted clones of an estimator; exact types have a flat form."""
    kind = type(estimator)
    module = FLAT_CLASSIFIERS.get(kind.__name__, "nowhere")
    if not kind.__module__.startswith(f"{module}."):
        return OpaqueModels
    return TreeModels if module == "sklearn.tree" else LinearModels


class SklearnLearners(WeakLearners):
    """A batch of fitted binary classifiers; each subclass stores one form.

    Each form has ``of(estimator, X)``, one learner that predicts as a fitted estimator of -1 and +1
    does, ``constant(sign, n_features)``, and ``reversed()``.
    """

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int) -> SklearnLearners:
        form = LinearModels if "weights" in arrays else TreeModels
        return form.from_arrays(arrays, n_features)

    @classmethod
    def concatenate(cls, batches: Sequence[SklearnLearners]) -> SklearnLearners:
        return type(batches[0]).concatenate(batches)


class TreeModels(TreeLearners, SklearnLearners):
    """Decision trees."""

    @classmethod
    def of(cls, estimator, X) -> TreeModels:
        tree, classes = estimator.tree_, estimator.classes_
        levels = [np.zeros(1, dtype=np.intp)]
        while len(levels[-1]):
            inner = levels[-1][tree.children_left[levels[-1]] >= 0]
            children = np.stack([tree.children_left[inner], tree.children_right[inner]], axis=1)
            levels.append(children.ravel())
        order = np.concatenate(levels)
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order))
        left = tree.children_left[order]
        leaf = left < 0
        sign = classes[np.argmax(tree.value[order, 0], axis=1)]
        to_left = tree.missing_go_to_left[order] > 0
        trees = ThresholdTrees(
            offsets=np.array([0, len(order)], dtype=np.int64),
            feature=np.where(leaf, -1, tree.feature[order]).astype(np.int32),
            threshold=np.where(leaf, 0.0, tree.threshold[order]),
            left=np.where(leaf, -1, place[left]).astype(np.int32),
            missing=np.where(leaf, 0, np.where(to_left, -1, 1)).astype(np.int8),
            output=np.where(leaf, sign, 0).astype(np.int8),
        )
        return cls(trees, X.shape[1])

    @classmethod
    def constant(cls, sign: int, n_features: int) -> TreeModels:
        signs = np.array([sign], dtype=np.int8)
        return cls(stump_trees(np.array([-1]), np.zeros(1), signs, signs), n_features)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int) -> TreeModels:
        models = super().from_arrays(arrays, n_features)
        if models.is_graded:
            raise ValueError("output must be -1 or +1 in leaves, got several outputs per leaf")
        return models

    def reversed(self) -> TreeModels:
        return TreeModels(replace(self.trees, output=-self.trees.output), self.n_features)


class LinearModels(ArrayLearners, SklearnLearners):
    """Linear models: `polarity` if ``x @ weights + intercept > 0``, else ``-polarity``."""

    layout: ClassVar = {
        "weights": ("float64", ("n_features",)),
        "intercept": ("float64", ()),
        "polarity": ("int8", ()),
    }

    @classmethod
    def of(cls, estimator, X) -> LinearModels:
        weights = np.asarray(estimator.coef_, dtype=np.float64).reshape(1, -1)
        # Without an intercept, scikit-learn stores a plain 0 here.
        intercept = np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64)).ravel()[:1]
        if not (np.isfinite(weights).all() and np.isfinite(intercept).all()):
            return cls.constant(1, X.shape[1])
        parts = {"weights": weights, "intercept": intercept, "polarity": [1]}
        return cls(**parts, n_features=X.shape[1])

    @classmethod
    def constant(cls, sign: int, n_features: int) -> LinearModels:
        parts = {"weights": np.zeros((1, n_features)), "intercept": [1.0], "polarity": [sign]}
        return cls(**parts, n_features=n_features)

    def reversed(self) -> LinearModels:
        arrays = {**self.arrays(), "polarity": -self.polarity}
        return LinearModels(**arrays, n_features=self.n_features)

    def outputs(self, X) -> np.ndarray:
        return self._signs(self._projector()(X))

    def _projector(self) -> Projector:
        """Return the products with all weights; one column of zeros if there are no learners."""
        return Projector(self.weights.T if len(self) else np.zeros((self.weights.shape[1], 1)))

    def _signs(self, values) -> np.ndarray:
        above = values[: len(self)] > -self.intercept[:, None]
        return np.where(above, self.polarity[:, None], -self.polarity[:, None]).T

    def scorer(self, coef):
        projector = self._projector()

        def outputs(X, n_threads):
            return self._signs(projector(X, n_threads))

        return partial(sum_outputs, outputs, coef_of(self, coef))

    def flat_form(self) -> ThresholdTrees:
        stumps = stump_trees(
            feature=np.arange(len(self)),
            threshold=-self.intercept,
            polarity=self.polarity,
            missing=-self.polarity,
        )
        return replace(stumps, directions=self.weights.T)

    def check_values(self, n_features: int) -> None:
        for name in ("weights", "intercept"):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"array {name!r} must be finite")
        if not np.isin(self.polarity, (-1, 1)).all():
            raise ValueError("array 'polarity' must hold -1 and +1")


class OpaqueModels(SklearnLearners):
    """Fitted estimators of any kind, which no model file can hold.

    `models` are pairs: a fitted classifier of -1 and +1, or None for a constant; and a factor, -1
    or +1.
    """

    def __init__(self, models: Sequence[tuple]):
        self.models = tuple(models)

    @classmethod
    def of(cls, estimator, X) -> OpaqueModels:
        return cls([(estimator, 1)])

    @classmethod
    def constant(cls, sign: int, n_features: int) -> OpaqueModels:
        return cls([(None, sign)])

    def reversed(self) -> OpaqueModels:
        return OpaqueModels([(model, -sign) for model, sign in self.models])

    def __len__(self) -> int:
        return len(self.models)

    def outputs(self, X) -> np.ndarray:
        outputs = np.empty((X.shape[0], len(self)), dtype=np.int8)
        for j, (model, sign) in enumerate(self.models):
            outputs[:, j] = sign if model is None else sign * model.predict(X)
        return outputs

    def arrays(self) -> dict[str, np.ndarray]:
        raise TypeError(f"only these have a form in flat arrays: {', '.join(FLAT_CLASSIFIERS)}")

    def take(self, indices) -> OpaqueModels:
        return OpaqueModels([self.models[j] for j in np.asarray(indices, dtype=np.intp)])

    @classmethod
    def concatenate(cls, batches: Sequence[OpaqueModels]) -> OpaqueModels:
        return cls([model for batch in batches for model in batch.models])
