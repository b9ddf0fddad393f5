"""Binding of a family to training examples, again and again if only their weights differ."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cwboost.families.contract import BindContext, WeakLearnerFamily
from cwboost.families.sealing.pricer import SealedPricer, bind_family
from cwboost.families.sealing.sample import read_only
from cwboost.input.examples import Examples
from cwboost.input.schema import InputSchema
from cwboost.support.weights import effective_size


class Binder:
    """Binds a family to `examples`, and its candidates to the same with other weights.

    `constraints` are those of the scores, in the form of `BindContext`, by its names. With
    `releases`, X goes as soon as the family needs it no more.
    """

    def __init__(
        self,
        schema: InputSchema,
        examples: Examples,
        n_targets: int,
        n_threads: int,
        constraints: Mapping[str, Any] = MappingProxyType({}),
        releases: bool = False,
    ):
        self.size, self.examples = effective_size(examples.row_weight), examples
        self._schema = schema
        self._n_targets, self._n_threads = n_targets, n_threads
        self._constraints = constraints
        self._releases = releases
        self._first: SealedPricer | None = None

    def bind(self, family: WeakLearnerFamily, examples: Examples, rng) -> SealedPricer:
        """Return a pricer of the examples and their weights."""
        context = self._context(examples, rng)
        again = None if self._first is None else self._first.rebound(family, context)
        if again is not None:
            return again
        self._first = None  # and with it what it keeps of X
        every = self.examples
        first = bind_family(family, every.given.X, context, every.rows, every.weight)
        if self._releases and first.rebound(family, context) is not None:
            every.given.release()
        self._first = first
        return first

    def _context(self, examples: Examples, rng) -> BindContext:
        return BindContext(
            n_targets=self._n_targets,
            random_state=rng,
            n_threads=self._n_threads,
            y=read_only(examples.y),
            class_counts=read_only(examples.counts),
            weight=read_only(examples.weight),
            size=self.size,
            **self._schema.facts(),
            **self._constraints,
        )
