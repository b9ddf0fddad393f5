"""Binding of a family to training examples, again and again if only their weights differ."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from cwboost.estimator.input.interactions import read_interactions
from cwboost.estimator.input.monotonic import of_second_score, read_constraints
from cwboost.estimator.input.schema import InputSchema
from cwboost.estimator.problem import Problem
from cwboost.families.contract import BindContext
from cwboost.families.discovery import check_capabilities
from cwboost.families.sealing.pricer import SealedPricer, bind_family
from cwboost.families.sealing.sample import read_only
from cwboost.support.weights import effective_size


class Binder:
    """Binds the family of `schema` to `problem`, and to problems of other weights.

    `constraints` are those of the scores, by parameter; the attribute has them in the form of
    `BindContext`, by its names. With `releases`, X goes as soon as the family needs it no more.
    """

    def __init__(
        self,
        schema: InputSchema,
        classes,
        problem: Problem,
        n_targets: int,
        n_threads: int,
        constraints: Mapping[str, Any] = MappingProxyType({}),
    ):
        self._size, self._weight = effective_size(problem.weight), problem.weight
        self._schema = schema
        self._n_targets, self._n_threads = n_targets, n_threads
        given = {
            "monotonic": _monotonic(schema, classes, constraints.get("monotonic_cst"), n_targets),
            "interactions": _interactions(schema, constraints.get("interaction_cst")),
        }
        self.constraints = {name: one for name, one in given.items() if one is not None}
        self._first: SealedPricer | None = None

    def bind(self, problem: Problem, rng, releases: bool = False) -> SealedPricer:
        """Return a pricer of the problem's examples and weights."""
        context = self._context(problem, rng)
        again = None if self._first is None else self._first.rebound(context)
        if again is not None:
            return again
        self._first = None  # and with it what it keeps of X
        X, rows = problem.holder.X, problem.rows
        first = bind_family(self._schema.family, X, context, rows, self._weight)
        if releases and first.rebound(context) is not None:
            problem.holder.release()
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
            size=self._size,
            feature_names=None if schema.names is None else tuple(schema.feature_names),
            **self.constraints,
            **schema.facts(),
        )


def _monotonic(schema: InputSchema, classes, monotonic_cst, n_targets) -> np.ndarray | None:
    """Return the monotonic constraints of the scores that are priced, None if there are none."""
    found = read_constraints(
        monotonic_cst, classes, schema.n_features, schema.names, schema.categories
    )
    if found is None:
        return None
    check_capabilities(schema.family, requires=["monotonic"])
    return read_only(of_second_score(found) if n_targets < len(found) else found)


def _interactions(schema: InputSchema, interaction_cst) -> np.ndarray | None:
    """Return the sets of features that may interact, None for one set of all."""
    found = read_interactions(interaction_cst, schema.n_features, schema.names)
    if found is None:
        return None
    check_capabilities(schema.family, requires=["interactions"])
    return read_only(found)
