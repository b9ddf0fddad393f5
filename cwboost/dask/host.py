"""What lives on a worker: the partitions it holds, and the replies it makes of theirs."""

import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
from scipy import sparse

from cwboost.calibration.scores import HeldOutScores
from cwboost.dask.input.chunks import Chunk, Source, checked, named
from cwboost.dask.input.encoding import Encoding
from cwboost.dask.partition import HeldOutPartition, Partition, given_before
from cwboost.ensemble.model import Ensemble
from cwboost.families.partitioned import Coordinator, PartitionContext
from cwboost.families.sealing.sample import read_only
from cwboost.fitted_model import BaseScores
from cwboost.input.labels import encode_labels
from cwboost.kernels import usable_threads


@dataclass(frozen=True, eq=False)
class Setup:
    """What all partitions share before the first round."""

    coordinator: Coordinator | None
    encoding: Encoding
    classes: np.ndarray  # the labels
    class_weight: np.ndarray
    exponent: int  # weights are divided by this power of two
    q: float
    masses: np.ndarray  # sum of the scaled example weights of every class
    size: float  # number of examples that the weights stand for
    counts: dict  # examples of positive weight per class, by training partition, in their order
    base: BaseScores | None = None
    # Rows of the examples that the init model was fitted on, and their base scores without their
    # own labels, by training partition.
    own_scores: dict = field(default_factory=dict)
    previous: Ensemble | None = None  # that training goes on from

    def classes_at(self, places) -> np.ndarray:
        """Return the class indices of the examples at places among all, which are by class."""
        return np.searchsorted(np.cumsum(self.class_counts), places, side="right")

    def base_of(self, X, index: int | None, n_threads: int) -> np.ndarray | None:
        """Return the base scores of a training partition, or of other examples."""
        if self.base is None:
            return None
        scores = self.base(X, n_threads)
        if index in self.own_scores:
            rows, own = self.own_scores[index]
            scores[rows] = own
        return scores

    def weights_of(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """Return class indices and weights; an unknown class has weight zero."""
        label = np.minimum(np.searchsorted(self.classes, chunk.y), len(self.classes) - 1)
        is_known = self.classes[label] == chunk.y
        return label, np.where(is_known, chunk.weights() * self.class_weight[label], 0.0)

    def used_rows(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows of positive weight, sorted by class; class indices and scaled weights."""
        label, weight = self.weights_of(chunk)
        used = np.flatnonzero(weight > 0)
        # Labels of few bytes are sorted by radix.
        by_class = label[used].astype(np.min_scalar_type(int(label.max(initial=0)) + 1))
        rows = used[np.argsort(by_class, kind="stable")]
        return rows, label[rows], np.ldexp(weight[rows], -self.exponent)

    @property
    def n_total(self) -> int:
        """Number of examples of positive weight in all training partitions."""
        return int(self.class_counts.sum())

    @property
    def class_counts(self) -> np.ndarray:
        """Number of examples of positive weight of each class in all training partitions."""
        return sum(self.counts.values())

    def places_of(self, index: int) -> np.ndarray:
        """Return the places of a training partition's examples, see `PartitionContext`."""
        totals = self.class_counts
        before = sum(counts for other, counts in self.counts.items() if other < index)
        starts = np.cumsum(totals) - totals + before
        own = [np.arange(start, start + n) for start, n in zip(starts, self.counts[index])]
        return read_only(np.concatenate(own).astype(np.int64))


class Host:
    """The partitions of one worker, whose sources are chunks, or a `Source` of each."""

    def __init__(self, sources, n_threads=1):
        self.sources = {source.index: source for source in sources}
        self.n_threads = n_threads
        self.partitions: dict[int, Partition] = {}
        self.held_out: dict[int, HeldOutPartition] = {}
        self.coordinator: Coordinator | None = None

    def collect(self, found_in, encoding: Encoding | None, *arguments) -> dict:
        """Return ``found_in(chunk, *arguments)`` of every chunk, unless it is None, by partition.

        The chunks are checked before, if there is an encoding.
        """
        found = {}
        for index, source in self.sources.items():
            with named(index, source.role):
                result = found_in(self._chunk(index, encoding), *arguments)
            if result is not None:
                found[index] = result
            return_memory()
        return found

    def _chunk(self, index: int, encoding: Encoding | None) -> Chunk:
        """Return a chunk, checked if there is an encoding; keep it so, unless it is too large."""
        source = self.sources[index]
        chunk = source() if isinstance(source, Source) else source
        if encoding is not None:
            chunk = checked(chunk, encoding)
        if source is not chunk and not isinstance(source, Source):
            self.sources[index] = chunk
        return chunk

    def bind(self, setup: Setup) -> None:
        """Prepare every partition and let go of its source."""
        self.coordinator = setup.coordinator
        for index in sorted(self.sources):
            role = self.sources[index].role
            with named(index, role):
                if role == "training":
                    self._bind_training(index, setup)
                else:
                    self._bind_held_out(self._taken(index, setup), setup)
            return_memory()

    def _taken(self, index: int, setup: Setup) -> Chunk:
        """Return a checked chunk, and let go of its source."""
        chunk = self._chunk(index, setup.encoding)
        del self.sources[index]
        return chunk

    def _bind_training(self, index: int, setup: Setup) -> None:
        """Prepare a partition; no array of its source is kept longer than it is needed."""
        X, counts, weight = self._sorted(self._taken(index, setup), setup)
        if X is None:
            return
        base = setup.base_of(X, index, self.n_threads)
        before = None
        if setup.previous is not None:
            before = given_before(setup.previous, X, self.n_threads)
        context = PartitionContext(
            places=setup.places_of(index),
            n_total=setup.n_total,
            n_threads=self.n_threads,
            weight=read_only(weight),
        )
        pricer = setup.coordinator.bind(read_only(X), context)
        del X
        self.partitions[index] = Partition(pricer, counts, context, setup.q, base, before)

    def _sorted(self, chunk: Chunk, setup: Setup) -> tuple:
        """Return features, counts and weights of a partition, sorted by class, or None of each."""
        if chunk.index not in setup.counts:
            return None, None, None
        rows, label, weight = setup.used_rows(chunk)
        counts = np.bincount(label, minlength=len(setup.classes))
        X = chunk.X
        if len(rows) < chunk.n_rows or (rows[1:] < rows[:-1]).any():
            X = X[rows] if sparse.issparse(X) else np.take(X, rows, axis=0)
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        return X, counts, weight

    def _bind_held_out(self, chunk: Chunk, setup: Setup) -> None:
        if not chunk.n_rows:
            return
        X = sparse.csr_array(chunk.X) if sparse.issparse(chunk.X) else chunk.X
        scores = HeldOutScores(
            X,
            encode_labels(chunk.y, setup.classes, weight=chunk.weight),
            n_scores=len(setup.classes),
            weight=chunk.weight,
            masses=None,
            groups=None,
            metrics=(),
            base=setup.base_of(X, None, self.n_threads),
        )
        self.held_out[chunk.index] = HeldOutPartition(scores, chunk.role)

    def run(self, operations) -> list:
        """Carry out operations on every partition, in order.

        Return the merged summary of this worker's partitions of each "price", of others the results
        by partition.
        """
        return [self._run(name, arguments) for name, arguments in operations]

    def share(self, tasks: dict) -> dict:
        """Return the results of tasks by their numbers, done by the threads of this worker."""
        with ThreadPoolExecutor(usable_threads(self.n_threads)) as pool:
            results = pool.map(lambda task: task(self.coordinator), tasks.values())
            return dict(zip(tasks, results))

    def _run(self, name, arguments):
        results = {}
        for index, member in (self.partitions | self.held_out).items():
            if hasattr(member, name):
                with named(index, member.role):
                    results[index] = getattr(member, name)(*arguments)
        if name != "price":
            return results
        return reduce(self.coordinator.merge, results.values()) if results else None


def return_memory() -> None:
    """Let the C library return freed memory to the system, if it is glibc's, which keeps it."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
