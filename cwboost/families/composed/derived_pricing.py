"""Search of thresholds on derived features, in one process."""

import numpy as np

from cwboost.families.composed.derived_learners import DerivedLearners, rows_of
from cwboost.families.composed.drawing import Drawing
from cwboost.families.composed.filling import filled, medians
from cwboost.families.contract import BindContext, Priced, Pricer, PricingRequest, WeakLearnerFamily
from cwboost.kernels import SortedFeatures
from cwboost.support.samples import evenly_spaced


class DerivedPricer(Pricer):
    """Search of thresholds on the derived features of one training matrix."""

    def __init__(self, family: WeakLearnerFamily, X, taken, context: BindContext):
        self.n_samples = X.shape[0]
        self.exact = bool(family.exhaustive)
        self._family = family
        self._X = rows_of(X)
        self._n_threads, self._rng = context.n_threads, context.random_state
        self._seen = rows = evenly_spaced(self.n_samples, family.sample_size)
        weight = np.ones(len(rows)) if context.weight is None else context.weight[rows]
        fill = None if taken is None else medians(self._X[rows], weight, taken)
        self._drawing = Drawing(
            family,
            X=self._X[rows],
            y=None if context.y is None else context.y[rows],
            weight=weight,
            fill=fill,
            n_samples=self.n_samples,
            summaries=[family.summarise(filled(self._X, fill))],
            rng=self._rng,
        )
        self._fixed: tuple[DerivedLearners, SortedFeatures] | None = None
        if not family.redraw:
            learners = self._drawing.draw(self._rng)
            self._fixed = learners, self._features(learners)

    def price(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        return self._best(SortedFeatures.search, weights, request.rows)

    def price_shared(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        return self._best(SortedFeatures.search_shared, weights, request.rows)

    def _best(self, search, weights, rows) -> Priced:
        """Draw features and search them: on the rows that count, if they are fewer, at first."""
        if self._fixed is not None:
            learners, features = self._fixed
            return _priced(learners, search(features, weights))
        learners = self._drawing.draw(self._rng, weights[:, self._seen])
        some, n_derived = self.n_samples if rows is None else len(rows), len(learners)
        if some * n_derived + self.n_samples * len(weights) < self.n_samples * n_derived:
            kept = search(self._features(learners, rows), weights[:, rows])
            # Only the winners need the examples that do not count: for outputs and thresholds.
            # A constant has the parameters of feature 0.
            learners = learners.take(np.unique(np.maximum(kept.feature, 0)))
        found = search(self._features(learners), weights)
        return _priced(learners, found)

    def _features(self, learners, rows=None) -> SortedFeatures:
        """Return the derived features of some examples, all by default, sorted."""
        X = self._X if rows is None else self._X[rows]
        values = learners.derived(X, self._family, self._n_threads)
        return SortedFeatures(values, self._n_threads)


def _priced(drawn: DerivedLearners, stumps) -> Priced:
    return Priced(drawn.with_thresholds(stumps), stumps.outputs, stumps.edges)
