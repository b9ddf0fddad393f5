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
    """One plan per family, by its name, and the choice among them.

    `shares` are the probabilities of the families, each of which is also asked for the targets for
    which it was not drawn; None takes the best.
    """

    def __init__(self, plans, shares):
        self.plans = dict(plans)
        self.shares = shares
        self.exact = shares is None and all(plan.exact for plan in plans.values())

    def bind(self, X, context):
        return MixedPartition({name: plan.bind(X, context) for name, plan in self.plans.items()})

    def merge(self, one, other):
        name, *own = one
        return (name, *self.plans[name].merge(tuple(own), tuple(other[1:])))

    def choose(self, scales, rng, request):
        names, n_targets = list(self.plans), len(scales)
        wanted = dict.fromkeys(names, np.ones(n_targets, dtype=bool))
        if self.shares is not None:
            drawn = rng.choice(len(names), n_targets, p=self.shares)
            wanted = {name: drawn == k for k, name in enumerate(names) if (drawn == k).any()}
        found = []
        for name, targets in wanted.items():
            chosen = yield from self._ask(name, scales, rng, replace(request, with_cells=False))
            kept = np.flatnonzero(targets[chosen.target])
            learners = MixedLearners.of(name, chosen.learners.take(kept))
            found.append((learners, chosen.edges[kept], chosen.target[kept]))
        return _best_of(found)

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


def _best_of(found) -> Chosen:
    """Return the learner of largest edge for each target; in a tie, that of the first family."""
    learners, edges, target = zip(*found)
    edges, target = np.concatenate(edges), np.concatenate(target)
    best = best_of_targets(edges, target)
    return Chosen(MixedLearners.concatenate(learners).take(best), edges[best], target[best])
