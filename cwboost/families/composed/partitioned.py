"""Several families on partitions: every question goes to the plan of one of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cwboost.families.composed.mixed_learners import MixedLearners
from cwboost.families.contract import best_of_targets
from cwboost.families.partitioned import Chosen, PartitionedFamily, PartitionPricer, PricingPlan

__all__ = ["MixedPlan", "check_members"]


def check_members(members) -> None:
    """Raise TypeError or ValueError if families cannot price on partitions together."""
    for member in members:
        if not isinstance(member, PartitionedFamily):
            raise TypeError(
                f"weak_learner {member.name!r} cannot be trained on partitions: its family does "
                "not derive from cwboost.PartitionedFamily"
            )
        member.check_partitioned()
    names = [member.name for member in members]
    again = [name for name in names if names.count(name) > 1]
    if again:
        raise ValueError(f"families: each name once on partitions, got {again[0]!r} again")


class MixedPlan(PricingPlan):
    """One plan per family, by its name; the best of their learners is chosen."""

    def __init__(self, plans):
        self.plans = plans
        self.exact = all(plan.exact for plan in plans.values())

    def bind(self, X, context):
        return MixedPartition({name: plan.bind(X, context) for name, plan in self.plans.items()})

    def merge(self, one, other):
        name, *own = one
        return (name, *self.plans[name].merge(tuple(own), tuple(other[1:])))

    def choose(self, scales, rng, request):
        learners, edges, target = [], [], []
        for name in self.plans:
            chosen = yield from self._ask(name, scales, rng, replace(request, with_cells=False))
            learners.append(MixedLearners.of(name, chosen.learners))
            edges.append(chosen.edges)
            target.append(chosen.target)
        edges, target = np.concatenate(edges), np.concatenate(target)
        best = best_of_targets(edges, target)
        return Chosen(MixedLearners.concatenate(learners).take(best), edges[best], target[best])

    def _ask(self, name, *about):
        """Hold the conversation of one family."""
        conversation = self.plans[name].choose(*about)
        question = next(conversation)
        while True:
            _, *summary = yield name, question
            try:
                question = conversation.send(tuple(summary))
            except StopIteration as end:
                return end.value


class MixedPartition(PartitionPricer):
    """One partition, bound to every family."""

    def __init__(self, pricers):
        self._pricers = pricers

    def summarise(self, weights, question):
        name, own = question
        return (name, *self._pricers[name].summarise(weights, own))

    def outputs(self, learners):
        parts = [(self._pricers[n].outputs(own), places) for n, own, places in learners.batches()]
        packed = np.empty((len(learners), parts[0][0].shape[1]), dtype=np.uint8)
        for outputs, places in parts:
            packed[places] = outputs
        return packed
