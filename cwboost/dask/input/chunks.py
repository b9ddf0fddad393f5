"""The source of one partition: blocks of X, y and weights, checked where they are."""

from contextlib import contextmanager
from dataclasses import dataclass, replace

import dask
import numpy as np
from dask.sizeof import sizeof
from distributed.protocol.pickle import dumps, loads
from scipy import sparse

from cwboost.dask.input.encoding import Encoding
from cwboost.families.discovery import check_capabilities
from cwboost.families.sealing.faults import add_note
from cwboost.input.examples import HeldOut
from cwboost.input.labels import read_labels
from cwboost.input.schema import check_missing
from cwboost.support.checks import unmasked
from cwboost.support.weights import check_total, check_weight, near_one


@dataclass(frozen=True, eq=False)
class Chunk:
    """Blocks of a partition: NumPy arrays, pandas objects or SciPy sparse matrices."""

    index: int
    role: str  # "training", else what messages call the held-out examples
    X: object
    y: object
    weight: object = None
    groups: object = None
    is_checked: bool = False

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    def weights(self) -> np.ndarray:
        """Return the example weights, ones by default."""
        return np.ones(self.n_rows) if self.weight is None else self.weight

    def __sizeof__(self) -> int:
        return sum(map(sizeof, (self.X, self.y, self.weight, self.groups)))


class Source:
    """A partition of data larger than memory: its chunk is computed again at every call."""

    def __init__(self, arguments):
        self.index, self.role, *_ = arguments
        (culled,) = dask.optimize(dask.delayed(Chunk, pure=False)(*arguments))
        self._pickled = dumps(culled)

    def __call__(self) -> Chunk:
        return loads(self._pickled).compute(scheduler="synchronous")


@dataclass(frozen=True, eq=False)
class Report:
    """Summary of a partition."""

    n_rows: int
    labels: np.ndarray
    used: np.ndarray  # those of positive weight
    sums: np.ndarray  # of their weights


def checked(chunk: Chunk, encoding: Encoding) -> Chunk:
    """Return the chunk with plain arrays: X uint8, float32, float64, CSR or CSC."""
    if chunk.is_checked:
        return chunk
    X = encoding.matrix(chunk.X)
    labels = read_labels(chunk.y) if len(chunk.y) else np.ravel(chunk.y)
    y, weight = _vector("y", labels, X.shape[0]), None
    if chunk.weight is not None:
        weight = check_weight(_vector("sample_weight", chunk.weight, X.shape[0]), X.shape[0])
    groups = chunk.groups
    if groups is not None:
        groups = _vector("groups", groups, X.shape[0])
    return replace(chunk, X=X, y=y, weight=weight, groups=groups, is_checked=True)


def _vector(name, values, n_rows):
    values = np.asarray(unmasked(values))
    if values.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got the shape {values.shape}")
    if len(values) != n_rows:
        raise ValueError(
            f"{name} must have the {n_rows} rows of X in this partition, got {len(values)}: divide "
            f"{name} as X, for instance by repartition(divisions=X.divisions)"
        )
    return values


def report(chunk: Chunk, family) -> Report:
    """Return the report of a checked chunk, for pricing by `family`."""
    check_capabilities(family, is_sparse=sparse.issparse(chunk.X))
    check_missing(chunk.X, family)
    weight = chunk.weights()
    labels, place = np.unique(chunk.y, return_inverse=True)
    used = weight > 0
    return Report(
        chunk.n_rows,
        labels,
        np.bincount(place[used], minlength=len(labels)),
        np.bincount(place, weight, minlength=len(labels)),
    )


def joined(matrices):
    """Return the rows of matrices as one."""
    filled = [X for X in matrices if X.shape[0]]
    if any(map(sparse.issparse, filled)):
        return sparse.vstack([sparse.csr_array(X) for X in filled], format="csr")
    return np.concatenate(filled) if len(filled) > 1 else filled[0]


def joined_set(role: str, parts) -> HeldOut:
    """Return labels and weights of a set of held-out examples, given those of its chunks."""
    if not sum(len(y) for y, _ in parts):
        raise ValueError(f"the {role} data have no rows: all partitions are empty")
    y = np.concatenate([y for y, _ in parts])
    if parts[0][1] is None:
        return HeldOut(None, y, None)
    weight = np.concatenate([weight for _, weight in parts])
    check_total(weight, f"sample_weight of the {role} data")
    return HeldOut(None, y, near_one(weight))


@contextmanager
def named(index: int, role: str):
    """Name the partition in errors that come from it."""
    where = f"partition {index} of the {role} data"
    try:
        yield
    except (ValueError, TypeError) as error:
        of_partition = type(error)(f"{where}: {error}")
        of_partition.partition = index
        raise of_partition from error
    except Exception as error:
        add_note(error, f"in {where}")
        raise
