"""Stump families whose results go through a function: what a family may do wrong, or else."""

import numpy as np
from cwboost.plugins.stumps import StumpFamily
from cwboost.plugins.stumps.family import StumpPricer

import cwboost


class AlteredPricer(StumpPricer):
    alter = None
    n_calls = 0

    def price(self, weights, request=cwboost.PricingRequest()):
        self.n_calls += 1
        priced = super().price(weights, request)
        return type(self).alter(self, priced, weights, request)


def altered_stumps(alter, **attributes):
    """A family of stumps whose pricer returns ``alter(pricer, priced, weights, request)``."""
    pricer_type = type("Altered", (AlteredPricer,), {"alter": alter})

    class AlteredStumps(StumpFamily):
        def bind(self, X, context):
            pricer = super().bind(X, context)
            pricer.__class__ = pricer_type
            vars(pricer).update(attributes)
            return pricer

    return AlteredStumps()


def only_what_pays(pricer, priced, weights, request):
    """No learner for a target of which none pays."""
    kept = np.flatnonzero(priced.edges > request.min_edge)
    learners = priced.learners.take(kept)
    return cwboost.Priced(learners, priced.outputs[kept], priced.edges[kept], kept)


def two_per_target(pricer, priced, weights, request):
    """The best learner of each target, and the best for the weights of half of the examples."""
    request = cwboost.PricingRequest(rows=request.rows)
    priced = StumpPricer.price(pricer, weights, request)
    half = np.where(np.arange(weights.shape[1]) % 2, weights, 0.0)
    other = StumpPricer.price(pricer, half, request)
    learners = type(priced.learners).concatenate([priced.learners, other.learners])
    outputs = np.concatenate([priced.outputs, other.outputs])
    signs = cwboost.unpack_outputs(outputs, pricer.n_samples)
    target = np.tile(np.arange(len(weights)), 2)
    edges = np.einsum("ti,it->t", weights[target], signs)
    order = np.argsort(target, kind="stable")
    return cwboost.Priced(learners.take(order), outputs[order], edges[order], target[order])
