"""Examples that the client has a list of: some of many, in whole groups, without their features."""

from typing import NamedTuple

import numpy as np

from cwboost.dask.crew import Crew
from cwboost.dask.host import Setup
from cwboost.dask.input.chunks import Chunk
from cwboost.input.groups import keys_of_groups, shared
from cwboost.input.splits import MOST_LISTED, Split, drawn_splits, listed

FEWEST_GROUPS = 20
"""Groups that stand for all: of fewer, what is left out would be anything but a fifth."""


class Listing(NamedTuple):
    """Examples by ascending place among all, sorted by class; each of shape (n_listed,).

    `keys` are equal for examples of a group.
    """

    places: np.ndarray
    keys: np.ndarray

    def whole_groups(self, setup: Setup, most: int) -> np.ndarray | None:
        """Return the places of about `most` examples: whole groups, None if these are few."""
        of_few = listed(self.keys, setup.n_total, most)
        n_groups = len(np.unique(self.keys[of_few]))
        return None if n_groups < FEWEST_GROUPS else self.places[of_few]


def listing(crew: Crew, setup: Setup) -> Listing:
    """Ask the partitions for the examples of listed groups: more if these are few."""
    most = MOST_LISTED
    while True:
        parts = crew.collect(_listed_of, setup.encoding, setup, most)
        places, keys = map(np.concatenate, zip(*parts.values()))
        if most >= setup.n_total or len(np.unique(keys)) >= FEWEST_GROUPS:
            break
        most *= 4
    order = np.argsort(places)
    return Listing(places[order], keys[order])


def _listed_of(chunk: Chunk, setup: Setup, most: int) -> tuple | None:
    """Return places and keys of a partition's listed examples."""
    if chunk.index not in setup.counts:
        return None
    rows, _, _ = setup.used_rows(chunk)
    keys = keys_of_groups(chunk.groups, chunk.n_rows)[rows]
    at = listed(keys, setup.n_total, most)
    return setup.places_of(chunk.index)[at], keys[at]


def splits(setup: Setup, found: Listing | None, rng) -> tuple[list[Split], int]:
    """Return what holdout runs leave out, and their seed; see `drawn_splits`."""
    groups = None if found is None else shared(found.keys)
    if groups is None:
        return drawn_splits(setup.class_counts, None, rng)
    counts = np.bincount(setup.classes_at(found.places), minlength=len(setup.classes))
    drawn, seed = drawn_splits(counts, groups, rng)
    return [Split(found.places[rows], found.places[rows]) for rows, _ in drawn], seed
