"""Fitted thresholds on derived features."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import ClassVar

import numpy as np
from scipy import sparse

from cwboost.families.array_learners import ArrayLearners
from cwboost.families.arrays import check_names
from cwboost.families.composed.filling import filled
from cwboost.families.contract import WeakLearnerFamily, coef_of
from cwboost.families.flat_forms import ThresholdTrees, stump_trees
from cwboost.kernels import AdditiveScores, Projector, canonical_csr, readable

THRESHOLDS = {
    "threshold": ("float64", ()),
    "polarity": ("int8", ()),
    "missing": ("int8", ()),
    "is_split": ("int8", ()),
}

FILL = {"fill": ("float64", ("n_features",))}
"""What fills the gaps of each column, NaN if it is left out: shared, unless a family sees all."""

RESERVED = frozenset({*THRESHOLDS, *FILL, "group"})
"""Names that no parameter of a derived feature can have."""

CHUNK = 2**20
"""Number of derived values computed at a time, which bounds the scratch memory."""

ENTRIES = 2**22
"""Largest number of entries of the directions that are computed at a time."""

BATCHES_KEPT = 8
"""Number of such batches that a scorer keeps; it computes more of them again in each call."""


class DerivedLearners(ArrayLearners):
    """Thresholds on derived features; a subclass per family has its parameters in `layout`."""

    family: ClassVar[type[WeakLearnerFamily]]
    defined: ClassVar[set[str]]  # its methods besides `draw`
    is_linear: ClassVar[bool]  # it has directions
    is_projected: ClassVar[bool]  # derived features are computed from these

    @classmethod
    def of_family(cls, family: type[WeakLearnerFamily], defined) -> type[DerivedLearners]:
        """Return the class of the learners of a family that defines some methods."""
        # "DifferencesLearners" in messages; pickle looks for the qualified name.
        is_linear = "direction" in defined
        names = {
            "__module__": family.__module__,
            "__qualname__": f"{family.__qualname__}.learners_type",
            "layout": {**family.layout, **THRESHOLDS},
            "shared": family.shared if family.sees_all else {**family.shared, **FILL},
            "family": family,
            "defined": defined,
            "is_linear": is_linear,
            "is_projected": is_linear and "transform" not in defined,
        }
        learners = type(f"{family.__name__}Learners", (cls,), names)
        # skops looks for the name in the module; a class of the author's own keeps it.
        module = sys.modules.get(family.__module__)
        present = getattr(module, learners.__name__, learners)
        if module is not None and present.__qualname__ == learners.__qualname__:
            setattr(module, learners.__name__, learners)
        return learners

    @classmethod
    def shapes(cls, n_features: int, n_taken: int | str = "n_taken") -> dict[str, tuple]:
        """Return those of arrays for `n_features`, of which the family takes `n_taken`."""
        if "fill" not in cls.shared:
            return super().shapes(n_features)
        return super().shapes(n_taken) | {"fill": ("float64", ("n_groups", n_features))}

    @classmethod
    def drawn(cls, parameters, shared, n_features: int) -> DerivedLearners:
        """Return a batch of one learner, still without threshold, per derived feature.

        `parameters` are what `DerivedFeatureFamily.draw` returned; the arrays of `shared` have an
        axis of one group in front.
        """
        check_names(parameters, cls.family.layout, f"draw of {cls.family.__name__}")
        n_derived = len(next(iter(parameters.values())))
        if n_derived == 0:
            raise ValueError(f"draw of {cls.family.__name__} must return a derived feature, got 0")
        blank = {name: np.ones(n_derived) for name in THRESHOLDS}
        if cls.shared:
            blank["group"] = np.zeros(n_derived)
        return cls(n_features=n_features, **parameters, **shared, **blank)

    def with_thresholds(self, found) -> DerivedLearners:
        """Return the learners that a search on derived features of this batch found.

        `found` is a `FoundStumps` whose `feature` is an index into this batch, -1 for a constant.
        """
        split = found.feature >= 0
        learners = self.take(np.where(split, found.feature, 0))
        learners.threshold = np.where(split, found.threshold, 0.0)
        learners.polarity, learners.missing = found.polarity, found.missing
        learners.is_split = split.astype(np.int8)
        return learners

    def parameters(self):
        """Yield the learners of each group, their fill, and the arguments of the family's methods.

        The fill is None if the family sees all.
        """
        if not len(self):
            return
        layout = {name: getattr(self, name) for name in self.family.layout}
        if not self.shared:
            yield slice(None), None, layout
            return
        arrays = [getattr(self, name) for name in self.shared]
        has_one = len(arrays[0]) == 1
        for group in [0] if has_one else np.unique(self.group):
            learners = slice(None) if has_one else np.flatnonzero(self.group == group)
            shared = {name: array[group, ...] for name, array in zip(self.shared, arrays)}
            fill = shared.pop("fill", None)
            yield learners, fill, {name: array[learners] for name, array in layout.items()} | shared

    def _directions(self) -> np.ndarray:
        """Return the direction of each learner, (n_features, n_learners); zeros of constants."""
        directions = np.zeros((self.n_features, len(self)))
        for learners, fill, parameters in self.parameters():
            block = np.zeros((self.n_features, len(directions[0, learners])))
            block[self._taken(fill)] = self._direction(fill, parameters)
            directions[:, learners] = block
        directions[:, self.is_split == 0] = 0
        return directions

    def _taken(self, fill) -> np.ndarray:
        return np.ones(self.n_features, dtype=bool) if fill is None else ~np.isnan(fill)

    def _direction(self, fill, parameters) -> np.ndarray:
        n_features = np.count_nonzero(self._taken(fill))
        directions = np.asarray(self.family.direction(n_features, **parameters), np.float64)
        if directions.ndim != 2 or len(directions) != n_features:
            raise ValueError(
                f"direction of {self.family.__name__} must return shape (n_features, n_derived) "
                f"with {n_features} features, got {directions.shape}"
            )
        return directions

    def _origin(self, fill, parameters) -> np.ndarray | None:
        n_features = np.count_nonzero(self._taken(fill))
        return self.family.origin(n_features, **parameters) if "origin" in self.defined else None

    def derived(self, X, family: WeakLearnerFamily, n_threads: int = 1) -> np.ndarray:
        """Return the derived feature of each learner, (n_samples, n_learners), for training.

        X is as `rows_of` returns it. Raise ValueError for NaN unless `family` sees gaps.
        """
        chunks = [values for _, values in self._chunks(X, self._function(), n_threads)]
        values = chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
        numbers = X.data if sparse.issparse(X) else X
        with np.errstate(invalid="ignore", over="ignore"):
            is_small = np.isfinite(np.sum(numbers, where=np.isfinite(numbers)))
        if not family.sees_all and is_small and np.isnan(values).any():
            raise ValueError(
                f"transform of {type(family).__name__} must return numbers for numbers, got NaN: "
                "replace it, or declare Capabilities(missing_values=True)"
            )
        return values

    @property
    def _dtype(self):
        return np.float32 if self.is_projected and "origin" in self.defined else np.float64

    def _chunks(self, X, function, n_threads: int = 1):
        step = max(1, CHUNK // max(1, len(self)))
        for start in range(0, X.shape[0] if len(self) else 0, step):
            rows = slice(start, min(start + step, X.shape[0]))
            yield rows, function(X[rows], n_threads)

    def _function(self):
        """Return a function of (X, n_threads) that computes derived features, for many calls."""
        make = self._projection if self.is_projected else self._transformation
        parts = [(own, fill, make(fill, parameters)) for own, fill, parameters in self.parameters()]

        def function(X, n_threads):
            if len(parts) == 1:
                _, fill, derive = parts[0]
                return derive(filled(X, fill), n_threads)
            values = np.empty((X.shape[0], len(self)), dtype=self._dtype)
            for learners, fill, derive in parts:
                values[:, learners] = derive(filled(X, fill), n_threads)
            return values

        return function

    def _projection(self, fill, parameters):
        project = Projector(self._direction(fill, parameters), self._origin(fill, parameters))
        return lambda X, n_threads: project(X, n_threads, self._dtype).T

    def _transformation(self, fill, parameters):
        n_derived = len(next(iter(parameters.values())))

        def transform(X, n_threads):
            X = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
            with np.errstate(all="ignore"):  # A NaN that results is a missing value.
                values = np.asarray(self.family.transform(X, **parameters), dtype=np.float64)
            if values.shape != (X.shape[0], n_derived):
                raise ValueError(
                    f"transform of {self.family.__name__} must return shape "
                    f"{X.shape[0], n_derived}, got {values.shape}"
                )
            return values

        return transform

    def _batches(self):
        """Yield batches of learners, small enough for their directions, with their places."""
        size = max(1, len(self))
        if self.is_projected:
            size = max(8, ENTRIES // self.n_features // 8 * 8)
        for start in range(0, len(self), size):
            places = np.arange(start, min(start + size, len(self)))
            yield places, self.take(places)

    def outputs(self, X) -> np.ndarray:
        X = rows_of(X)
        outputs = np.empty((X.shape[0], len(self)), dtype=np.int8)
        for places, batch in self._batches():
            split = batch.is_split > 0
            for rows, values in batch._chunks(X, batch._function()):
                above = (values > batch.threshold) | ~split
                signs = np.where(above, batch.polarity, -batch.polarity)
                outputs[rows, places] = np.where(np.isnan(values) & split, batch.missing, signs)
        return outputs

    def scorer(self, coef):
        """Return the default's scorer, which computes each distinct derived feature once."""
        coef = coef_of(self, coef)
        used = np.flatnonzero(np.diff(coef.indptr))
        learners, coef = self.take(used), coef[used]
        size = next((len(places) for places, _ in learners._batches()), 1)

        def parts():
            for places, batch in learners._batches():
                yield batch._scores(coef[places])

        kept = list(parts()) if len(learners) <= BATCHES_KEPT * size else None

        def scorer(X, n_threads: int = 1) -> np.ndarray:
            X = rows_of(X)
            scores = np.zeros((X.shape[0], coef.shape[1]))
            for add in parts() if kept is None else kept:
                add(X, n_threads, scores)
            return scores

        return scorer

    def _scores(self, coef):
        """Return a function that adds the scores of a batch."""
        first, place = self._distinct()
        distinct = self.take(first)
        feature = np.where(self.is_split > 0, place, -1)
        sums = AdditiveScores(
            feature, self.threshold, self.polarity, self.missing, coef, n_features=len(first)
        )
        function = distinct._function()

        def add(X, n_threads, scores):
            for rows, values in distinct._chunks(X, function, n_threads):
                scores[rows] += sums(values, n_threads)

        return add

    def _distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the first learner of each distinct feature, and the feature of each learner."""
        names = [*self.family.layout, *(["group"] if self.shared else [])]
        parameters = [getattr(self, name) for name in names]
        rows = [b"".join(array[j].tobytes() for array in parameters) for j in range(len(self))]
        places: dict[bytes, int] = {}
        place = np.array([places.setdefault(row, len(places)) for row in rows], dtype=np.intp)
        return np.unique(place, return_index=True)[1], place

    def flat_form(self) -> ThresholdTrees | None:
        if not self.is_linear or self.n_features is None:
            return None
        directions, threshold = self._directions(), self.threshold.copy()
        if self._dtype == np.float32:
            for learners, fill, parameters in self.parameters():
                taken, origin = directions[self._taken(fill)], self._origin(fill, parameters)
                threshold[learners] += np.add.reduce(origin[:, None] * taken[:, learners])
        linear = np.where(self.is_split > 0, np.arange(len(self)), -1)
        stumps = stump_trees(linear, threshold, self.polarity, self.missing)
        if "fill" not in self.shared:
            return replace(stumps, directions=directions)
        fill = np.nan_to_num(self.fill, nan=0.0)
        return replace(stumps, directions=directions, fill=fill, fill_of=self.group)

    def check_values(self, n_features: int) -> None:
        if np.isnan(self.threshold).any():
            raise ValueError("array 'threshold' must not hold NaN")
        for name, allowed in (("polarity", (-1, 1)), ("missing", (-1, 1)), ("is_split", (0, 1))):
            if not np.isin(getattr(self, name), allowed).all():
                raise ValueError(f"array {name!r} must hold {allowed[0]} and {allowed[1]}")
        if "fill" in self.shared and (
            np.isinf(self.fill).any() or np.isnan(self.fill).all(axis=1).any()
        ):
            raise ValueError("array 'fill' must hold finite numbers, for a column at least")
        for _, fill, parameters in self.parameters():
            self.family.check_stored(int(np.count_nonzero(self._taken(fill))), **parameters)
        try:
            for _, batch in self._batches():
                batch._function()(np.zeros((1, n_features)), 1)
        except Exception as error:
            raise ValueError(
                f"the weak learner {self.family.name!r} cannot compute with its stored "
                f"parameters: {error}"
            ) from error


def rows_of(X):
    """Return a matrix in a form whose rows can be taken and read by kernels."""
    return canonical_csr(X) if sparse.issparse(X) else readable(X)
