"""How families are broken: the reference family with one part of it replaced."""

from __future__ import annotations

from dataclasses import replace

from reference_family import ReferenceLearners, ReferencePricer, ReferenceStump

from cwboost.families.contract import Capabilities

SPARSE = Capabilities(sparse_input=True)

BROKEN = {}
"""The function that makes each broken family, and what each check must say of it."""


def breaks(**checks):
    """Register a function that makes a broken family; checks: what each must say of it."""

    def register(make):
        BROKEN[make.__name__] = (make, checks)
        return make

    return register


def make_family(pricer=ReferencePricer, learners=None, capabilities=None, **members):
    """A reference family with another pricer, other learners, capabilities or members."""
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
    """Learners whose outputs go through `change(X, outputs)`."""

    change = None

    def outputs(self, X):
        return type(self).change(X, super().outputs(X))


def changed_outputs(change):
    return make_family(learners=type("Changed", (Outputs,), {"change": staticmethod(change)}))


def changed_priced(change):
    """A family whose price() results go through `change(priced, weights, pricer)`."""

    class ChangedPricer(ReferencePricer):
        def price(self, weights, request=None):
            return change(super().price(weights), weights, self)

    return make_family(ChangedPricer)


def changed_weights(change):
    """A family that prices other weights than it is given, and reports edges for those given."""

    class ChangedPricer(ReferencePricer):
        def price(self, weights, request=None):
            return self.pack(weights, [self.best(row[None]) for row in change(weights, self)])

    return make_family(ChangedPricer)


def changed_X(change):
    """A family that trains on another matrix than it is given."""

    class ChangedPricer(ReferencePricer):
        def __init__(self, X):
            super().__init__(change(X))

    return make_family(ChangedPricer)
