"""What lives on a worker: the partitions it holds, and the replies it makes of theirs."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
from scipy import sparse

from cwboost.dask.input.chunks import Chunk, checked, named, report
from cwboost.dask.input.encoding import Encoding, columns_of
from cwboost.dask.partition import HeldOutPartition, Partition
from cwboost.estimator.splits import listed
from cwboost.families.partitioned import PartitionContext, PricingPlan
from cwboost.families.sealing.sample import read_only
from cwboost.fitted_model import BaseScores
from cwboost.support.samples import evenly_spaced

__all__ = ["Host", "Setup"]


@dataclass(frozen=True, eq=False)
class Setup:
    """What all partitions share before the first round."""

    plan: PricingPlan | None
    encoding: Encoding
    classes: np.ndarray  # the labels
    class_weight: np.ndarray
    exponent: int  # weights are divided by this power of two
    q: float
    masses: np.ndarray  # sum of the scaled example weights of every class
    size: float  # number of examples of ordinary weight that weigh as much as all
    counts: dict  # examples of positive weight per class, by training partition, in their order
    base: BaseScores | None = None
    # Rows of the examples that the init model was fitted on, and their base scores without their
    # own labels, by training partition.
    own_scores: dict = field(default_factory=dict)

    def base_of(self, X, index: int | None, n_threads: int) -> np.ndarray | None:
        """Return the base scores of a training partition, or of other examples."""
        if self.base is None:
            return None
        scores = self.base(X, n_threads)
        if index in self.own_scores:
            rows, own = self.own_scores[index]
            scores[rows] = own
        return scores

    @property
    def n_total(self) -> int:
        """Number of examples of positive weight in all training partitions."""
        return int(self.class_counts.sum())

    @property
    def class_counts(self) -> np.ndarray:
        """Number of examples of positive weight of each class in all training partitions."""
        return sum(self.counts.values())

    def context_of(self, index: int, n_threads: int) -> PartitionContext:
        """Return the context of a training partition."""
        totals = self.class_counts
        before = sum(counts for other, counts in self.counts.items() if other < index)
        starts = np.cumsum(totals) - totals + before
        own = [np.arange(start, start + n) for start, n in zip(starts, self.counts[index])]
        places = np.concatenate(own).astype(np.int64)
        places.flags.writeable = False
        return PartitionContext(places=places, n_total=self.n_total, n_threads=n_threads)


class Host:
    """The partitions of one worker."""

    def __init__(self, chunks, n_threads=1):
        self.chunks = {chunk.index: chunk for chunk in chunks}
        self.n_threads = n_threads
        self.partitions: dict[int, Partition] = {}
        self.held_out: dict[int, HeldOutPartition] = {}
        self.plan: PricingPlan | None = None

    def columns(self, categorical_features) -> dict:
        """Return the columns of every chunk, by partition."""
        found = {}
        for index, chunk in self.chunks.items():
            with named(index, chunk.role):
                found[index] = columns_of(chunk.X, chunk.role, categorical_features)
        return found

    def report(self, family, encoding) -> dict:
        """Check and encode every chunk; return a report by partition."""
        reports = {}
        for index, chunk in self.chunks.items():
            with named(index, chunk.role):
                self.chunks[index] = chunk = checked(chunk, encoding)
                reports[index] = report(chunk, family)
            return_memory()
        return reports

    def describe(self, family, encoding) -> dict:
        """Return what the family needs to know of every training partition that has examples."""
        found = {}
        for index, chunk in self.chunks.items():
            if chunk.role == "training":
                with named(index, chunk.role):
                    used = (chunk := checked(chunk, encoding)).weights() > 0
                    if used.any():
                        X = chunk.X if used.all() else chunk.X[used]
                        found[index] = family.describe(X)
                return_memory()
        return found

    def keys(self, setup: Setup) -> dict:
        """Return places among all and keys of listed training examples, by partition."""
        found = {}
        for index, chunk in self.chunks.items():
            if chunk.role == "training" and chunk.n_rows:
                with named(index, chunk.role):
                    chunk = checked(chunk, setup.encoding)
                    keys = chunk.keys(_rows(*self._weights(chunk, setup)))
                    places = setup.context_of(index, 1).places
                    is_listed = listed(keys, setup.n_total)
                    found[index] = places[is_listed], keys[is_listed]
        return found

    def examples(self, setup: Setup, most: int, together: bool = False) -> dict:
        """Return some training examples by partition: evenly spaced among all by class, or groups.

        They are their places among all, their rows in the partition, features, weights and keys.
        Whole groups are taken if examples belong `together` and are more than `most`.
        """
        found = {}
        for index, chunk in self.chunks.items():
            if chunk.role == "training" and chunk.n_rows:
                with named(index, chunk.role):
                    chunk = checked(chunk, setup.encoding)
                    label, weight = self._weights(chunk, setup)
                    by_class = _rows(label, weight)
                if len(by_class):
                    places = setup.context_of(index, self.n_threads).places
                    if together and setup.n_total > most:
                        is_listed = listed(chunk.keys(by_class), setup.n_total, most)
                        rows = np.flatnonzero(is_listed)
                        rows = rows[evenly_spaced(len(rows), most)]
                    else:
                        rows = np.flatnonzero(np.isin(places, evenly_spaced(setup.n_total, most)))
                    at = by_class[rows]
                    found[index] = places[rows], rows, chunk.X[at], weight[at], chunk.keys(at)
        return found

    def bind(self, setup: Setup) -> None:
        """Prepare every partition and let go of its source."""
        self.plan = setup.plan
        for index in sorted(self.chunks):
            role = self.chunks[index].role
            with named(index, role):
                if not self.chunks[index].n_rows:
                    del self.chunks[index]
                elif role == "training":
                    self._bind_training(index, setup)
                else:
                    self._bind_held_out(checked(self.chunks.pop(index), setup.encoding), setup)
            return_memory()

    def _bind_training(self, index: int, setup: Setup) -> None:
        """Prepare a partition; no array of its source is kept longer than it is needed."""
        X, counts, weight = self._sorted(self.chunks.pop(index), setup)
        if X is None:
            return
        base = setup.base_of(X, index, self.n_threads)
        context = replace(setup.context_of(index, self.n_threads), weight=read_only(weight))
        pricer = setup.plan.bind(read_only(X), context)
        del X
        self.partitions[index] = Partition(pricer, counts, context, setup.q, base)

    def _sorted(self, chunk: Chunk, setup: Setup) -> tuple:
        """Return features, counts and weights of a partition, sorted by class, or None of each."""
        chunk = checked(chunk, setup.encoding)
        label, weight = self._weights(chunk, setup)
        rows = _rows(label, weight)
        if not len(rows):
            return None, None, None
        counts = np.bincount(label[rows], minlength=len(setup.classes))
        X = chunk.X
        if len(rows) < chunk.n_rows or (rows[1:] < rows[:-1]).any():
            X = X[rows] if sparse.issparse(X) else np.take(X, rows, axis=0)
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        return X, counts, weight[rows]

    def _weights(self, chunk: Chunk, setup: Setup) -> tuple[np.ndarray, np.ndarray]:
        """Return class index and scaled weight of every example; zero for unknown classes."""
        label, known = chunk.encode(setup.classes)
        weight = np.where(known, chunk.weights() * setup.class_weight[label], 0.0)
        return label, np.ldexp(weight, -setup.exponent)

    def count_weights(self, setup: Setup, bounds: np.ndarray) -> dict:
        """Return how many weights of training examples do not exceed each bound, by partition."""
        found = {}
        for index, chunk in self.chunks.items():
            if chunk.role == "training":
                _, weight = self._weights(checked(chunk, setup.encoding), setup)
                places = np.searchsorted(bounds, weight[weight > 0])
                found[index] = np.bincount(places, minlength=len(bounds) + 1)[:-1].cumsum()
        return found

    def _bind_held_out(self, chunk: Chunk, setup: Setup) -> None:
        X = sparse.csr_array(chunk.X) if sparse.issparse(chunk.X) else chunk.X
        label = chunk.encode_held_out(setup.classes)
        base = setup.base_of(X, None, self.n_threads)
        self.held_out[chunk.index] = HeldOutPartition(
            X, label, chunk.weight, len(setup.classes), chunk.role, base
        )

    def run(self, operations) -> list:
        """Carry out operations on every partition, in order.

        Return the merged summary of this worker's partitions of each "price", of others the results
        by partition.
        """
        return [self._run(name, arguments) for name, arguments in operations]

    def _run(self, name, arguments):
        results = {}
        for index, member in (self.partitions | self.held_out).items():
            if hasattr(member, name):
                with named(index, member.role):
                    results[index] = getattr(member, name)(*arguments)
        if name != "price":
            return results
        return reduce(self.plan.merge, results.values()) if results else None


def _rows(label, weight) -> np.ndarray:
    """Return the rows of positive weight, sorted by class."""
    used = np.flatnonzero(weight > 0)
    # Labels of few bytes are sorted by radix.
    by_class = label[used].astype(np.min_scalar_type(int(label.max(initial=0)) + 1))
    return used[np.argsort(by_class, kind="stable")]


def return_memory() -> None:
    """Let the C library return freed memory to the system, if it is glibc's, which keeps it."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
