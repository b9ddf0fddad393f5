"""Scores of similarity on partitions: the client fits them on examples that the workers send."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from joblib import cpu_count

from cwboost.dask.crew import Crew
from cwboost.dask.host import Setup
from cwboost.kernels import usable_threads
from cwboost.similarity import MOST, SimilarityScores

__all__ = ["SharedExamples"]


class SharedExamples:
    """The examples that the regression takes, all or 16,384, from all partitions.

    Parameters
    ----------
    crew : Crew
    setup : Setup
        Still without a plan.

    Attributes
    ----------
    is_finite : bool
        True if all values of all partitions are finite numbers.
    """

    def __init__(self, crew: Crew, setup: Setup):
        parts = crew.examples(setup, MOST)
        self._setup = setup
        self.is_finite = all(is_finite for is_finite, *_ in parts.values())
        places, X, weight = (
            np.concatenate([part[field] for part in parts.values()]) for field in (1, 3, 4)
        )
        order = np.argsort(places)
        self._X, self._weight = X[order], weight[order]
        ends = np.cumsum(sum(setup.counts.values()))
        self._y = np.searchsorted(ends, places[order], side="right")
        ranks = np.argsort(order)
        sizes = [len(part[1]) for part in parts.values()]
        own = np.split(ranks, np.cumsum(sizes)[:-1])
        self._of_partition = {index: (part[2], at) for (index, part), at in zip(parts.items(), own)}

    def scored(self, previous: SimilarityScores | None = None) -> Setup:
        """Fit scores and return the setup with them; without, if the examples do not differ.

        A continued training keeps those of the `previous` fit, which are fitted again to know the
        scores of examples without their own labels.
        """
        if not self.is_finite:
            return replace(self._setup, similarity=previous)
        n_classes = len(self._setup.classes)
        # The workers wait meanwhile, and the bits do not depend on the number of threads.
        n_threads = usable_threads(cpu_count())
        data = self._X, self._y, n_classes, self._weight
        similarity, levels = SimilarityScores.fit(*data, n_threads)
        if previous is not None:
            if similarity is None or not similarity.equals(previous):
                return replace(self._setup, similarity=previous)
            similarity = previous
        if similarity is None:
            return self._setup
        of_partition = {
            index: (rows, levels[at]) for index, (rows, at) in self._of_partition.items()
        }
        return replace(self._setup, similarity=similarity, levels=of_partition)
