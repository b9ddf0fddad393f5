"""Examples that the workers send to the client: it fits init models on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cwboost.dask.crew import Crew
from cwboost.dask.host import Setup
from cwboost.dask.input.chunks import Chunk, joined
from cwboost.dask.listing import Listing
from cwboost.families.sealing.sample import Sample
from cwboost.input.examples import Examples, GivenRows
from cwboost.input.splits import N_FOLDS
from cwboost.support.samples import evenly_spaced

MOST = 2**14
"""Number of examples on which the client fits an init model, if there are as many."""


@dataclass(frozen=True, eq=False)
class SharedExamples:
    """Training examples on the client, and their rows in each partition, by its index."""

    examples: Examples
    rows: dict[int, np.ndarray]

    def by_partition(self, scores: np.ndarray) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Return rows and scores of the examples of each partition."""
        ends = np.cumsum([len(rows) for rows in self.rows.values()])[:-1]
        parts = np.split(np.argsort(self.examples.rows), ends)
        return {index: (rows, scores[at]) for (index, rows), at in zip(self.rows.items(), parts)}


class PartitionExamples(NamedTuple):
    """Examples of a partition: places among all, rows in it, features, weights, groups."""

    places: np.ndarray
    rows: np.ndarray
    X: Any
    weight: np.ndarray
    groups: np.ndarray | None


def shared_examples(crew: Crew, setup: Setup, found: Listing | None) -> SharedExamples:
    """Fetch examples from all partitions, a few of every class among them.

    Of many examples in groups, these are whole groups, unless there are few.
    """
    counts = setup.class_counts
    starts = np.cumsum(counts) - counts
    chosen = evenly_spaced(setup.n_total, MOST)
    if len(chosen) < setup.n_total and found is not None:
        whole = found.whole_groups(setup, MOST)
        chosen = chosen if whole is None else whole[evenly_spaced(len(whole), MOST)]
    few = [start + evenly_spaced(count, N_FOLDS) for start, count in zip(starts, counts)]
    chosen = np.union1d(chosen, np.concatenate(few))
    parts = crew.collect(examples_of, setup.encoding, setup, chosen)
    places, _, X, weight, groups = zip(*parts.values())
    order = np.argsort(np.concatenate(places))
    y = setup.classes_at(chosen).astype(np.int64)
    labels = setup.classes[y][np.argsort(order)]
    groups = None if found is None else np.concatenate(groups)
    weight = np.concatenate(weight)[order]
    examples = Examples(
        GivenRows(joined(X), labels, groups),
        rows=order,
        y=y,
        classes=setup.classes,
        counts=np.bincount(y),
        weight=weight,
        row_weight=weight,
    )
    return SharedExamples(examples, {index: part.rows for index, part in parts.items()})


def sample_of(parts) -> Sample:
    """Return examples of all partitions as one sample."""
    order = np.argsort(np.concatenate([part.places for part in parts]))
    weight = np.concatenate([part.weight for part in parts])[order]
    return Sample(joined([part.X for part in parts])[order], weight=weight)


def examples_of(chunk: Chunk, setup: Setup, chosen: np.ndarray) -> PartitionExamples | None:
    """Return those examples of a training partition whose place among all is `chosen`."""
    if chunk.index not in setup.counts:
        return None
    by_class, _, weight = setup.used_rows(chunk)
    places = setup.places_of(chunk.index)
    rows = np.flatnonzero(np.isin(places, chosen))
    at = by_class[rows]
    groups = None if chunk.groups is None else chunk.groups[at]
    return PartitionExamples(places[rows], rows, chunk.X[at], weight[rows], groups)
