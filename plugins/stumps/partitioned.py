"""Pricing of stumps on partitions, as trees of one comparison."""

import numpy as np
from cwboost.plugins.stumps.learners import StumpLearners

import cwboost


class StumpCoordinator(cwboost.TreeCoordinator):
    """Stumps with thresholds between bins, and with subsets of categories."""

    def choose(self, scales, rng):
        seed = 0 if self.exact else rng.integers(0, 2**64, dtype=np.uint64)
        found, sets = yield from self.find_stumps(scales, seed)
        learners = StumpLearners.of(found, self.bins.n_features, category_sets=sets)
        return cwboost.Chosen(learners, found.edges / scales)
