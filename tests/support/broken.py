"""Broken families: the reference family with one part replaced."""

from __future__ import annotations

from dataclasses import replace

from reference_family import ReferenceLearners, ReferencePricer, ReferenceStump

from cwboost.families.contract import Capabilities

SPARSE = Capabilities(sparse_input=True)

BROKEN = {}
"""The function that makes each broken family, and what each check must say of it."""


def breaks(**checks):
    """Register a function that makes a broken family; `checks` maps checks to their messages."""

    def register(make):
        BROKEN[make.__name__] = (make, checks)
        return make

    return register


def make_family(pricer=ReferencePricer, learners=None, capabilities=None, **members):
    """Return a reference family with another pricer, other learners, capabilities or members."""
    if learners is not None:
        pricer = with_learners(pricer, learners)
        members["learners_type"] = learners
    if capabilities is not None:
        members["capabilities"] = capabilities
    return type("Broken", (ReferenceStump,), {"pricer_type": pricer, **members})()


def with_learners(pricer, learners):
    class Repacked(pricer):
        def pack(self, weights, found):
            priced = super().pack(weights, found)
            return replace(priced, learners=learners(**priced.learners.arrays()))

    return Repacked


class Outputs(ReferenceLearners):
    """Return learners whose outputs are replaced by `change(X, outputs)`."""

    change = None

    def outputs(self, X):
        return type(self).change(X, super().outputs(X))


def changed_outputs(change):
    return make_family(learners=type("Changed", (Outputs,), {"change": staticmethod(change)}))


def changed_priced(change):
    """Return a family whose price() results are replaced by `change(priced, weights, pricer)`."""

    class ChangedPricer(ReferencePricer):
        def price(self, weights, request=None):
            return change(super().price(weights), weights, self)

    return make_family(ChangedPricer)


def changed_weights(change):
    """Return a family that prices modified weights but reports edges for the given ones."""

    class ChangedPricer(ReferencePricer):
        def price(self, weights, request=None):
            return self.pack(weights, [self.best(row[None]) for row in change(weights, self)])

    return make_family(ChangedPricer)


def changed_X(change):
    """Return a family that trains on a modified matrix."""

    class ChangedPricer(ReferencePricer):
        def __init__(self, X):
            super().__init__(change(X))

    return make_family(ChangedPricer)
