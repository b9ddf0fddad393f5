"""Examples that the workers send to the client: it fits init models on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cwboost.dask.crew import Crew
from cwboost.dask.host import Setup
from cwboost.dask.input.chunks import Chunk, joined
from cwboost.estimator.groups import keys_of
from cwboost.estimator.problem import Holder, Problem
from cwboost.estimator.splits import listed
from cwboost.families.sealing.sample import N_CHECKED_ROWS, Sample
from cwboost.support.samples import evenly_spaced

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


class PartitionExamples(NamedTuple):
    """Examples of a partition: places among all, rows of the partition, features, weights, keys."""

    places: np.ndarray
    rows: np.ndarray
    X: Any
    weight: np.ndarray
    keys: np.ndarray


def shared_examples(crew: Crew, setup: Setup, together: bool) -> SharedExamples | None:
    """Fetch examples from all partitions; return None if a class has none among them.

    Of many examples some of which belong `together`, these are whole groups.
    """
    parts = crew.collect(examples_of, setup.encoding, setup, MOST, together)
    places, _, X, weight, keys = zip(*parts.values())
    places = np.concatenate(places)
    order = np.argsort(places)
    totals = setup.class_counts
    y = np.searchsorted(np.cumsum(totals), places[order], side="right").astype(np.int64)
    counts = np.bincount(y, minlength=len(totals))
    if (counts == 0).any():
        return None
    holder = Holder(joined(X))
    holder.keys = np.concatenate(keys)
    weight = np.concatenate(weight)[order]
    problem = Problem(holder, rows=order, y=y, counts=counts, weight=weight)
    return SharedExamples(problem, {index: part.rows for index, part in parts.items()})


def sample_of_partitions(crew: Crew, setup: Setup) -> Sample:
    """Return examples on which learners are checked and importances computed."""
    parts = crew.collect(examples_of, setup.encoding, setup, N_CHECKED_ROWS, False).values()
    places, X = np.concatenate([part.places for part in parts]), joined([part.X for part in parts])
    return Sample(X[np.argsort(places)])


def examples_of(chunk: Chunk, setup: Setup, most: int, together: bool) -> PartitionExamples | None:
    """Return some examples of a training partition: evenly spaced among all by class, or groups.

    Whole groups are taken if examples belong `together` and are more than `most`.
    """
    if chunk.index not in setup.counts:
        return None
    by_class, _, weight = setup.used_rows(chunk)
    places = setup.places_of(chunk.index)
    if together and setup.n_total > most:
        rows = np.flatnonzero(listed(chunk.keys()[by_class], setup.n_total, most))
        rows = rows[evenly_spaced(len(rows), most)]
    else:
        rows = np.flatnonzero(np.isin(places, evenly_spaced(setup.n_total, most)))
    at = by_class[rows]
    X, groups = chunk.X[at], None if chunk.groups is None else chunk.groups[at]
    return PartitionExamples(places[rows], rows, X, weight[rows], keys_of(X, groups))


def listed_keys(chunk: Chunk, setup: Setup) -> tuple[np.ndarray, np.ndarray] | None:
    """Return places among all and keys of the listed examples of a training partition."""
    if chunk.index not in setup.counts:
        return None
    keys = chunk.keys()[setup.used_rows(chunk)[0]]
    is_listed = listed(keys, setup.n_total)
    return setup.places_of(chunk.index)[is_listed], keys[is_listed]
