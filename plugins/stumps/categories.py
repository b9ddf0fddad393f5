"""Stumps on categories beside stumps on numbers."""

import numpy as np
from cwboost.plugins.stumps.learners import StumpLearners


def stronger(stumps, edges, found):
    """Return the better one of two stumps for every target, its edge, and whether it is a set.

    `stumps` are thresholds and constants, which win in a tie; `found` is a `FoundCategories`.
    """
    ones = np.ones(len(found.feature))
    others = StumpLearners(
        feature=found.feature,
        threshold=0 * ones,
        polarity=ones,
        missing=found.missing,
        n_features=stumps.n_features,
        category_sets=found.sets,
    )
    is_set = found.edges > edges
    best = np.arange(len(stumps)) + len(stumps) * is_set
    learners = StumpLearners.concatenate([stumps, others]).take(best)
    return learners, np.maximum(edges, found.edges), is_set
