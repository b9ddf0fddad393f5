"""Examples that the client has a list of: some of many, in whole groups, without their features."""

from typing import NamedTuple

import numpy as np

from cwboost.dask.crew import Crew
from cwboost.dask.host import Setup
from cwboost.dask.input.chunks import Chunk
from cwboost.input.groups import keys_of_rows, repeat_few
from cwboost.input.problem import checksum_of, keys_if_shared
from cwboost.input.splits import MOST_LISTED, Split, drawn_splits, listed
from cwboost.support import weights

FEWEST_GROUPS = 20
"""Groups that stand for all: of fewer, what is left out would be anything but a fifth."""


class Listing(NamedTuple):
    """Examples by ascending place among all, sorted by class; each of shape (n_listed,).

    `keys` are equal for examples that stay together, `copies` for copies of an example.
    `checksum` is that of the listed rows and labels.
    """

    places: np.ndarray
    keys: np.ndarray
    copies: np.ndarray
    weight: np.ndarray
    checksum: int

    def whole_groups(self, setup: Setup, most: int) -> np.ndarray | None:
        """Return the places of about `most` examples: whole groups, None if these are few."""
        if keys_if_shared(self.keys) is None:
            return None
        of_few = listed(self.keys, setup.n_total, most)
        places, n_groups = self.places[of_few], len(np.unique(self.keys[of_few]))
        return None if n_groups < FEWEST_GROUPS else places


def listing(crew: Crew, setup: Setup, has_groups: bool) -> Listing:
    """Ask the partitions for the examples whose keys are listed: more if they are of few groups."""
    most = MOST_LISTED
    while True:
        parts = crew.collect(_listed_of, setup.encoding, setup, most)
        places, keys, copies, weight = map(np.concatenate, zip(*parts.values()))
        if most >= setup.n_total or len(np.unique(keys)) >= FEWEST_GROUPS:
            break
        most *= 4
    distinct = np.unique(copies)
    if not has_groups and repeat_few(keys, distinct, setup.n_total):
        keys = copies = places.astype(np.uint64)
    found, order = (places, keys, copies, weight), np.argsort(places)
    return Listing(*(one[order] for one in found), checksum_of(distinct))


def _listed_of(chunk: Chunk, setup: Setup, most: int) -> tuple | None:
    """Return places, keys, copies and weights of a partition's listed examples."""
    if chunk.index not in setup.counts:
        return None
    rows, label, weight = setup.used_rows(chunk)
    keys = chunk.keys()[rows]
    at = np.flatnonzero(listed(keys, setup.n_total, most))
    rows, keys = rows[at], keys[at]
    copies = keys if chunk.groups is None else keys_of_rows(chunk.X[rows]) ^ keys
    copies = copies + label[at].astype(np.uint64)
    return setup.places_of(chunk.index)[at], keys, copies, weight[at]


def effective_size(setup: Setup, found: Listing, left_out=()) -> float:
    """Return how many examples of ordinary weight, the median, weigh as much as those left in.

    Copies are one example, as on one machine; see `cwboost.support.weights.effective_size`.
    """
    kept = ~np.isin(found.places, left_out)
    which = np.unique(found.copies[kept], return_inverse=True)[1]
    size = weights.effective_size(np.bincount(which, found.weight[kept]))
    return size * float(setup.masses.sum() / found.weight.sum())


def splits(setup: Setup, found: Listing, rng) -> tuple[list[Split], int]:
    """Return what holdout runs leave out, and their seed; see `drawn_splits`."""
    counts, groups = setup.class_counts, keys_if_shared(found.keys)
    if groups is None:
        return drawn_splits(counts, None, rng)
    listed_counts = np.bincount(setup.classes_at(found.places), minlength=len(counts))
    drawn, seed = drawn_splits(listed_counts, groups, rng)
    return [Split(found.places[rows], found.places[rows]) for rows, _ in drawn], seed
