"""Binding of a family to training examples, again and again if only their weights differ."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cwboost.families.contract import BindContext, WeakLearnerFamily
from cwboost.families.sealing.pricer import SealedPricer, bind_family
from cwboost.families.sealing.sample import read_only
from cwboost.input.problem import Problem
from cwboost.input.schema import InputSchema
from cwboost.support.weights import effective_size


class Binder:
    """Binds a family to `problem`, and its candidates to problems of other weights.

    `constraints` are those of the scores, in the form of `BindContext`, by its names. With
    `releases`, X goes as soon as the family needs it no more.
    """

    def __init__(
        self,
        schema: InputSchema,
        problem: Problem,
        n_targets: int,
        n_threads: int,
        constraints: Mapping[str, Any] = MappingProxyType({}),
        releases: bool = False,
    ):
        self.size, self.problem = effective_size(problem.row_weight), problem
        self._schema = schema
        self._n_targets, self._n_threads = n_targets, n_threads
        self._constraints = constraints
        self._releases = releases
        self._first: SealedPricer | None = None

    def bind(self, family: WeakLearnerFamily, problem: Problem, rng) -> SealedPricer:
        """Return a pricer of the problem's examples and weights."""
        context = self._context(problem, rng)
        again = None if self._first is None else self._first.rebound(family, context)
        if again is not None:
            return again
        self._first = None  # and with it what it keeps of X
        own = self.problem
        first = bind_family(family, own.holder.X, context, own.rows, own.weight)
        if self._releases and first.rebound(family, context) is not None:
            own.holder.release()
        self._first = first
        return first

    def _context(self, problem: Problem, rng) -> BindContext:
        schema = self._schema
        return BindContext(
            n_targets=self._n_targets,
            random_state=rng,
            n_threads=self._n_threads,
            y=read_only(problem.y),
            class_counts=read_only(problem.counts),
            weight=read_only(problem.weight),
            size=self.size,
            feature_names=None if schema.names is None else tuple(schema.feature_names),
            **self._constraints,
        )
