"""Examples that the workers send to the client: it fits init models on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cwboost.dask.crew import Crew
from cwboost.dask.host import Setup
from cwboost.dask.input.chunks import joined
from cwboost.estimator.problem import Holder, Problem
from cwboost.families.sealing.sample import N_CHECKED_ROWS, Sample

__all__ = ["SharedExamples", "sample_of_partitions", "shared_examples"]

MOST = 2**14
"""Largest number of examples on which the client fits an init model."""


@dataclass(frozen=True, eq=False)
class SharedExamples:
    """Training examples on the client, and their rows in each partition, by its index."""

    problem: Problem
    rows: dict[int, np.ndarray]

    def by_partition(self, scores: np.ndarray) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Return rows and scores of the examples of each partition."""
        ends = np.cumsum([len(rows) for rows in self.rows.values()])[:-1]
        parts = np.split(np.argsort(self.problem.rows), ends)
        return {index: (rows, scores[at]) for (index, rows), at in zip(self.rows.items(), parts)}


def shared_examples(crew: Crew, setup: Setup, together: bool) -> SharedExamples | None:
    """Fetch examples from all partitions; return None if a class has none among them.

    Of many examples some of which belong `together`, these are whole groups.
    """
    parts = crew.collect("examples", setup, MOST, together)
    places, X, weight, keys = (
        np.concatenate([part[field] for part in parts.values()]) for field in (0, 2, 3, 4)
    )
    order = np.argsort(places)
    totals = setup.class_counts
    y = np.searchsorted(np.cumsum(totals), places[order], side="right").astype(np.int64)
    counts = np.bincount(y, minlength=len(totals))
    if (counts == 0).any():
        return None
    holder = Holder(X)
    holder.keys = keys
    problem = Problem(holder, rows=order, y=y, counts=counts, weight=weight[order])
    return SharedExamples(problem, {index: part[1] for index, part in parts.items()})


def sample_of_partitions(crew: Crew, setup: Setup) -> Sample:
    """Return examples on which learners are checked and importances computed."""
    parts = crew.collect("examples", setup, N_CHECKED_ROWS).values()
    places, X = np.concatenate([part[0] for part in parts]), joined([part[2] for part in parts])
    return Sample(X[np.argsort(places)])
