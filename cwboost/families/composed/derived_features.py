"""A base class for families of thresholds on features that the author computes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from scipy import sparse

from cwboost.families.array_learners import ArrayLearners
from cwboost.families.contract import (
    BindContext,
    Capabilities,
    Priced,
    Pricer,
    PricingRequest,
    WeakLearnerFamily,
)
from cwboost.kernels import AdditiveScores, SortedFeatures

__all__ = ["DerivedFeatureFamily"]

THRESHOLDS = {
    "threshold": ("float64", ()),
    "polarity": ("int8", ()),
    "missing": ("int8", ()),
    "is_split": ("int8", ()),
}

CHUNK = 2**20
"""Number of derived values computed at a time, which bounds the scratch memory."""


class DerivedFeatureFamily(WeakLearnerFamily):
    """Base of families whose learners compare a feature derived from the data with a threshold.

    A subclass draws and computes the derived features. This class searches thresholds and
    constants, handles missing values, stores learners and predicts. A learner is `polarity`
    if its derived feature exceeds the threshold, `missing` if it is NaN, else ``-polarity``.

    Attributes
    ----------
    layout : dict of str to (dtype, shape)
        Class attribute: the parameters of one derived feature, as for `ArrayLearners`; a shape is
        a tuple of ints and ``"n_features"``, ``()`` for a number.
    redraw : bool, default=True
        Class attribute. True: features are drawn in every round. False: they are drawn once, and
        sorted once.
    exhaustive : bool, default=False
        Class attribute. True if `draw` returns every derived feature that the family has: pricing
        is exact then.

    Examples
    --------
    >>> from cwboost.families import DerivedFeatureFamily
    >>> class Differences(DerivedFeatureFamily):
    ...     name = "difference"
    ...     api_version = 1
    ...     layout = {"first": ("int64", ()), "second": ("int64", ())}
    ...
    ...     def __init__(self, n_derived=50):
    ...         self.n_derived = n_derived
    ...
    ...     def draw(self, X, random_state):
    ...         first, second = random_state.integers(X.shape[1], size=(2, self.n_derived))
    ...         return {"first": first, "second": second}
    ...
    ...     @staticmethod
    ...     def transform(X, first, second):
    ...         return X[:, first] - X[:, second]
    """

    layout: ClassVar[Mapping[str, tuple[str, tuple]]]
    redraw: ClassVar[bool] = True
    exhaustive: ClassVar[bool] = False
    capabilities = Capabilities(symmetric=True)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "layout"):
            return  # A base class of families without a layout of its own.
        taken = sorted(set(cls.layout) & set(THRESHOLDS))
        if taken:
            raise TypeError(f"{cls.__name__}.layout: the names {taken} belong to the base class")
        # Messages say "DifferencesLearners"; pickle looks for the qualified name.
        names = {
            "__module__": cls.__module__,
            "__qualname__": f"{cls.__qualname__}.learners_type",
            "layout": {**cls.layout, **THRESHOLDS},
            "family": cls,
        }
        cls.learners_type = type(f"{cls.__name__}Learners", (DerivedLearners,), names)

    @abstractmethod
    def draw(self, X, random_state: np.random.Generator) -> Mapping[str, np.ndarray]:
        """Draw derived features.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The training matrix.
        random_state : numpy.random.Generator
            The one source of randomness.

        Returns
        -------
        dict of str to array-like
            The parameters by the names of `layout`, with one row per derived feature; at least
            one.
        """

    @staticmethod
    @abstractmethod
    def transform(X, **parameters) -> np.ndarray:
        """Compute derived features.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), dtype float64
        **parameters : ndarray
            By the names of `layout`, with one row per derived feature.

        Returns
        -------
        ndarray of shape (n_samples, n_derived)
            NaN is a missing value; overflow and division by zero raise no warning here. Each row
            must depend on that row of X alone, to the last bit. A product with BLAS
            (``X @ directions``) does not promise that; `cwboost.kernels.Projector` does.
        """

    def check_parameters(self, n_features: int) -> None:
        """Raise ValueError that names a hyper-parameter out of range; `bind` calls this.

        `n_features` is the number of columns of the training matrix.
        """

    @classmethod
    def check_stored(cls, n_features: int, **parameters) -> None:
        """Raise ValueError for `parameters` of a file that `transform` cannot take.

        The file is for `n_features` features.
        Names, dtypes and shapes are right here; check what else `transform` relies on, such as
        indices in range.
        """

    def bind(self, X, context: BindContext) -> DerivedPricer:
        self.check_parameters(X.shape[1])
        return DerivedPricer(self, X, context)


class DerivedPricer(Pricer):
    """Search of thresholds on the derived features of one training matrix."""

    def __init__(self, family: DerivedFeatureFamily, X, context: BindContext):
        self.n_samples = X.shape[0]
        self.exact = bool(family.exhaustive)
        self._family = family
        self._X = X
        self._context = context
        self._drawn: tuple[DerivedLearners, SortedFeatures] | None = None
        if not family.redraw:
            learners = self._draw()
            self._drawn = learners, self._features(learners)

    def price(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        if self._drawn is None:
            return self._best(SortedFeatures.search, weights, request.rows)
        learners, features = self._drawn
        return _priced(learners, features.search(weights, rows=request.rows))

    def price_shared(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        if self._drawn is None:
            return self._best(SortedFeatures.search_shared, weights, request.rows)
        learners, features = self._drawn
        return _priced(learners, features.search_shared(weights))

    def _best(self, search, weights, rows) -> Priced:
        """Draw features and search them: on the rows that count, if they are fewer, at first."""
        learners = self._draw()
        some = self.n_samples if rows is None else len(rows)
        if some * len(learners) + self.n_samples * len(weights) < self.n_samples * len(learners):
            kept = search(self._features(learners, rows), weights[:, rows])
            # Only the winners need the examples that do not count: for outputs and thresholds.
            # A constant has the parameters of feature 0.
            learners = learners.take(np.unique(np.maximum(kept.feature, 0)))
        return _priced(learners, search(self._features(learners), weights))

    def _draw(self) -> DerivedLearners:
        """Return a batch of one learner, still without threshold, per feature."""
        drawn = self._family.draw(self._X, self._context.random_state)
        n_derived = len(next(iter(drawn.values())))
        blank = {name: np.ones(n_derived) for name in THRESHOLDS}
        return self._family.learners_type(n_features=self._X.shape[1], **drawn, **blank)

    def _features(self, learners, rows=None) -> SortedFeatures:
        """Return the derived features of some examples, all by default, sorted."""
        X = self._X if rows is None else self._X[rows]
        return SortedFeatures(learners.derived(X), self._context.n_threads)


def _priced(drawn: DerivedLearners, found) -> Priced:
    split = found.feature >= 0
    learners = drawn.take(np.where(split, found.feature, 0))
    learners.threshold = np.where(split, found.threshold, 0.0)
    learners.polarity, learners.missing = found.polarity, found.missing
    learners.is_split = split.astype(np.int8)
    return Priced(learners, found.outputs, found.edges)


class DerivedLearners(ArrayLearners):
    """Thresholds on derived features; a subclass per family has its parameters in `layout`."""

    family: ClassVar[type[DerivedFeatureFamily]]

    def derived(self, X) -> np.ndarray:
        """Return the derived feature of each learner, (n_samples, n_learners)."""
        values = np.empty((X.shape[0], len(self)))
        for rows, part in self._chunks(X):
            values[rows] = part
        return values

    def _chunks(self, X):
        parameters = {name: getattr(self, name) for name in self.family.layout}
        step = max(1, CHUNK // max(1, len(self)))
        for start in range(0, X.shape[0] if len(self) else 0, step):
            rows = slice(start, min(start + step, X.shape[0]))
            with np.errstate(all="ignore"):  # A NaN that results is a missing value.
                values = self.family.transform(np.asarray(X[rows], dtype=np.float64), **parameters)
            values = np.asarray(values, dtype=np.float64)
            if values.shape != (rows.stop - start, len(self)):
                raise ValueError(
                    f"transform of {self.family.__name__} must return shape "
                    f"{(rows.stop - start, len(self))}, got {values.shape}"
                )
            yield rows, values

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
        coef = sparse.csr_array(coef, dtype=np.float64)
        if coef.shape[0] != len(self):
            raise ValueError(f"coef: expected {len(self)} rows, got shape {coef.shape}")
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
        parameters = [getattr(self, name) for name in self.family.layout]
        rows = [b"".join(array[j].tobytes() for array in parameters) for j in range(len(self))]
        places: dict[bytes, int] = {}
        place = np.array([places.setdefault(row, len(places)) for row in rows], dtype=np.intp)
        return np.unique(place, return_index=True)[1], place

    def check_values(self, n_features: int) -> None:
        if np.isnan(self.threshold).any():
            raise ValueError("array 'threshold' must not hold NaN")
        for name, allowed in (("polarity", (-1, 1)), ("missing", (-1, 1)), ("is_split", (0, 1))):
            if not np.isin(getattr(self, name), allowed).all():
                raise ValueError(f"array {name!r} must hold {allowed[0]} and {allowed[1]}")
        parameters = {name: getattr(self, name) for name in self.family.layout}
        self.family.check_stored(n_features, **parameters)
