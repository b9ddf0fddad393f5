"""Init models on partitions: the client fits them on examples that the workers send."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cwboost.dask.crew import Crew
from cwboost.dask.host import Setup
from cwboost.estimator.problem import Problem

__all__ = ["MOST", "shared_start"]

MOST = 2**14
"""Largest number of examples on which the client fits an init model."""


def shared_start(crew: Crew, setup: Setup, start) -> Setup:
    """Return the setup with the base scores from which all partitions start.

    ``start(problem)`` returns such scores or None, and the problem with those of its examples.
    """
    parts = crew.collect("examples", setup, MOST)
    places, X, weight = (
        np.concatenate([part[field] for part in parts.values()]) for field in (0, 2, 3)
    )
    order = np.argsort(places)
    counts = setup.class_counts
    y = np.searchsorted(np.cumsum(counts), places[order], side="right").astype(np.int64)
    own = np.bincount(y, minlength=len(counts))
    if (own == 0).any():
        return setup
    base, problem = start(Problem([X], order, y, own, weight[order]))
    if base is None:
        return setup
    ranks = np.argsort(order)
    ends = np.cumsum([len(part[0]) for part in parts.values()])[:-1]
    of_partition = {
        index: (part[1], problem.base[at])
        for (index, part), at in zip(parts.items(), np.split(ranks, ends))
    }
    return replace(setup, base=base, own_scores=of_partition)
