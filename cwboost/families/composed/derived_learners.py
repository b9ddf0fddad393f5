"""Fitted thresholds on derived features."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from scipy import sparse

from cwboost.families.array_learners import ArrayLearners
from cwboost.families.contract import WeakLearnerFamily, coef_of
from cwboost.families.flat_forms import ThresholdTrees, stump_trees
from cwboost.kernels import THRESHOLDS_SEARCHED, AdditiveScores, gained_fractions

__all__ = ["RESERVED", "DerivedLearners"]

THRESHOLDS = {
    "threshold": ("float64", ()),
    "polarity": ("int8", ()),
    "missing": ("int8", ()),
    "is_split": ("int8", ()),
    "gain": ("float32", ()),
}

RESERVED = frozenset({*THRESHOLDS, "group"})
"""Names that no parameter of a derived feature can have."""

CHUNK = 2**20
"""Number of derived values computed at a time, which bounds the scratch memory."""


class DerivedLearners(ArrayLearners):
    """Thresholds on derived features; a subclass per family has its parameters in `layout`.

    Attributes
    ----------
    family : type
    defined : set of str
        The methods that the family defines besides `draw`.
    """

    family: ClassVar[type[WeakLearnerFamily]]
    defined: ClassVar[set[str]]

    @classmethod
    def of_family(cls, family: type[WeakLearnerFamily], defined) -> type[DerivedLearners]:
        """Return the class of the learners of a family that defines some methods."""
        # Messages say "DifferencesLearners"; pickle looks for the qualified name.
        names = {
            "__module__": family.__module__,
            "__qualname__": f"{family.__qualname__}.learners_type",
            "layout": {**family.layout, **THRESHOLDS},
            "shared": family.shared,
            "family": family,
            "defined": defined,
        }
        return type(f"{family.__name__}Learners", (cls,), names)

    @classmethod
    def drawn(cls, parameters, shared, n_features: int) -> DerivedLearners:
        """Return a batch of one learner, still without threshold, per derived feature.

        Parameters
        ----------
        parameters : dict of str to array-like
            What `DerivedFeatureFamily.draw` returned.
        shared : dict of str to ndarray
            With an axis of one group in front.
        n_features : int
        """
        if set(parameters) != set(cls.family.layout):
            raise ValueError(
                f"draw of {cls.family.__name__} must return the names of its layout, "
                f"{sorted(cls.family.layout)}, got {sorted(parameters)}"
            )
        n_derived = len(next(iter(parameters.values())))
        if n_derived == 0:
            raise ValueError(f"draw of {cls.family.__name__} must return a derived feature, got 0")
        blank = {name: np.ones(n_derived) for name in THRESHOLDS}
        if cls.shared:
            blank["group"] = np.zeros(n_derived)
        return cls(n_features=n_features, **parameters, **shared, **blank)

    def with_thresholds(self, feature, found, sums, norms, n_derived: int) -> DerivedLearners:
        """Return the learners that a search found on the derived features of this batch.

        Parameters
        ----------
        feature : ndarray of shape (n,), int
            Index into this batch; -1 is a constant.
        found : tuple of ndarrays
            Threshold, polarity, output for a missing value, and edge of each learner.
        sums, norms : ndarray of shape (n_targets,), dtype float64
            As for `cwboost.kernels.gained_fractions`.
        n_derived : int
            Number of features that were searched.
        """
        threshold, polarity, missing, edges = found
        split = feature >= 0
        learners = self.take(np.where(split, feature, 0))
        learners.threshold = np.where(split, threshold, 0.0)
        learners.polarity, learners.missing = polarity, missing
        learners.is_split = split.astype(np.int8)
        gain = gained_fractions(edges, sums, norms, THRESHOLDS_SEARCHED * n_derived)
        learners.gain = np.where(split, gain, 0).astype(np.float32)
        return learners

    def parameters(self):
        """Yield the learners of each group, and the arguments that the family's methods get."""
        if not len(self):
            return
        layout = {name: getattr(self, name) for name in self.family.layout}
        if not self.shared:
            yield slice(None), layout
            return
        for group in np.unique(self.group):
            own = np.flatnonzero(self.group == group)
            shared = {name: getattr(self, name)[group, ...] for name in self.shared}
            yield own, {name: array[own] for name, array in layout.items()} | shared

    def derived(self, X) -> np.ndarray:
        """Return the derived feature of each learner, (n_samples, n_learners)."""
        values = np.empty((X.shape[0], len(self)))
        for rows, part in self._chunks(X):
            values[rows] = part
        return values

    def _chunks(self, X):
        step = max(1, CHUNK // max(1, len(self)))
        for start in range(0, X.shape[0] if len(self) else 0, step):
            rows = slice(start, min(start + step, X.shape[0]))
            own = np.asarray(X[rows], dtype=np.float64)
            values = np.empty((len(own), len(self)))
            for learners, parameters in self.parameters():
                values[:, learners] = self._transformed(own, parameters, values[:, learners].shape)
            yield rows, values

    def _transformed(self, X, parameters, shape) -> np.ndarray:
        with np.errstate(all="ignore"):  # A NaN that results is a missing value.
            values = np.asarray(self.family.transform(X, **parameters))
        if values.shape != shape:
            raise ValueError(
                f"transform of {self.family.__name__} must return shape {shape}, got {values.shape}"
            )
        return values

    def outputs(self, X) -> np.ndarray:
        split = self.is_split > 0
        outputs = np.empty((X.shape[0], len(self)), dtype=np.int8)
        for rows, values in self._chunks(X):
            above = (values > self.threshold) | ~split
            signs = np.where(above, self.polarity, -self.polarity)
            outputs[rows] = np.where(np.isnan(values) & split, self.missing, signs)
        return outputs

    def scorer(self, coef):
        """Return the default's scorer, which computes each distinct derived feature once."""
        coef = coef_of(self, coef)
        first, place = self._distinct()
        distinct = self.take(first)
        feature = np.where(self.is_split > 0, place, -1)
        stumps = (feature, self.threshold, self.polarity, self.missing)
        add = AdditiveScores(*stumps, coef, n_features=len(first))

        def scorer(X, n_threads: int = 1) -> np.ndarray:
            scores = np.empty((X.shape[0], coef.shape[1]))
            if len(first) == 0:
                return np.zeros_like(scores)
            for rows, values in distinct._chunks(X):
                scores[rows] = add(values, n_threads)
            return scores

        return scorer

    def _distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the first learner of each distinct feature, and the feature of each learner."""
        names = [*self.family.layout, *(["group"] if self.shared else [])]
        parameters = [getattr(self, name) for name in names]
        rows = [b"".join(array[j].tobytes() for array in parameters) for j in range(len(self))]
        places: dict[bytes, int] = {}
        place = np.array([places.setdefault(row, len(places)) for row in rows], dtype=np.intp)
        return np.unique(place, return_index=True)[1], place

    def flat_form(self) -> ThresholdTrees | None:
        if "direction" not in self.defined or self.n_features is None:
            return None
        directions = np.zeros((self.n_features, len(self)))
        for learners, parameters in self.parameters():
            directions[:, learners] = self.family.direction(self.n_features, **parameters)
        linear = np.where(self.is_split > 0, np.arange(len(self)), -1)
        stumps = stump_trees(linear, self.threshold, self.polarity, self.missing, gain=self.gain)
        return replace(stumps, directions=directions)

    def feature_shares(self, n_features: int) -> sparse.csr_array:
        family = self.family
        if not {"direction", "features_used"} & self.defined:
            raise NotImplementedError(
                f"the weak learner {family.name!r} does not say which features its learners use: "
                f"{family.__name__} defines neither features_used nor direction"
            )
        used = np.zeros((len(self), n_features))
        for learners, parameters in self.parameters():
            used[learners] = family.features_used(n_features, **parameters)
        used[self.is_split == 0] = 0
        learner, feature = np.nonzero(used)
        shares = used[learner, feature] / used.sum(axis=1)[learner] * self.gain[learner]
        return sparse.csr_array((shares, (learner, feature)), shape=used.shape)

    def check_values(self, n_features: int) -> None:
        if np.isnan(self.threshold).any():
            raise ValueError("array 'threshold' must not hold NaN")
        if not np.isfinite(self.gain).all() or (self.gain > 1).any():
            raise ValueError("array 'gain' must hold numbers of at most 1")
        for name, allowed in (("polarity", (-1, 1)), ("missing", (-1, 1)), ("is_split", (0, 1))):
            if not np.isin(getattr(self, name), allowed).all():
                raise ValueError(f"array {name!r} must hold {allowed[0]} and {allowed[1]}")
        for learners, parameters in self.parameters():
            self.family.check_stored(n_features, **parameters)
            try:
                self._transformed(
                    np.zeros((1, n_features)), parameters, (1, len(self.threshold[learners]))
                )
            except Exception as error:
                raise ValueError(
                    f"the weak learner {self.family.name!r} cannot compute with its stored "
                    f"parameters: {error}"
                ) from error
