"""Binding of a family to the trainings of one fit, which differ in weights alone."""

from __future__ import annotations

from collections.abc import Callable

from cwboost.estimator.problem import Problem
from cwboost.families.contract import BindContext, WeakLearnerFamily
from cwboost.families.sealing import SealedPricer, bind_family

__all__ = ["Binding"]


class Binding:
    """Binds a family to a problem; the next time, it binds the pricer again if that can be.

    Parameters
    ----------
    family : WeakLearnerFamily
    context_of : callable
        ``context_of(problem, rng)`` returns the `BindContext` of a training.
    releases : bool
        True to let X of the problem go once the family needs it no more.
    """

    def __init__(
        self, family: WeakLearnerFamily, context_of: Callable[..., BindContext], releases: bool
    ):
        self.family = family
        self.context_of = context_of
        self.releases = releases
        self.first: SealedPricer | None = None

    def __call__(self, problem: Problem, rng) -> SealedPricer:
        """Return a pricer of the problem that draws from a generator."""
        context = self.context_of(problem, rng)
        again = None if self.first is None else self.first.rebound(context)
        if again is not None:
            return again
        self.first = bind_family(self.family, problem.X, context)
        if self.releases and self.first.rebound(context) is not None:
            problem.release()
        return self.first
