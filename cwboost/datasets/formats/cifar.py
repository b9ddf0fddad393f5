"""CIFAR-10, the Python version: six pickled dictionaries, read without executing their content."""

from __future__ import annotations

import io
import pickle
import pickletools
from pathlib import Path
from typing import ClassVar

import numpy as np

from cwboost.datasets.formats import _files

__all__ = ["read_cifar10"]

BATCH_ROWS = 10_000


def read_cifar10(folder: Path):
    """Read ``cifar-10-batches-py/data_batch_1`` ... and ``test_batch``; R, G and B planes.

    The training batches that exist are concatenated in order.
    """
    folder = folder / "cifar-10-batches-py" if (folder / "cifar-10-batches-py").is_dir() else folder
    batches = [folder / f"data_batch_{number}" for number in range(1, 6)]
    present = [path for path in batches if path.exists()]
    if not present:
        return None
    if present != batches[: len(present)]:
        raise ValueError(f"{folder} lacks a data_batch before {present[-1].name}")
    parts = [_read_batch(path) for path in present]
    X_test, y_test = _read_batch(_files.find_one(folder, "test_batch"))
    return {
        "X_train": np.concatenate([X for X, _ in parts]),
        "y_train": np.concatenate([y for _, y in parts]),
        "X_test": X_test,
        "y_test": y_test,
    }


def _read_batch(path):
    try:
        batch = _load(path.read_bytes())
        X, y = _pixels(batch[b"data"]), _labels(batch[b"labels"])
    except _NOT_A_BATCH as error:
        raise ValueError(f"{path} is not a batch of CIFAR-10: {error}") from error
    if X.shape != (len(y), 3072):
        raise ValueError(f"{path}: data must be uint8 of shape ({len(y)}, 3072)")
    return X, y


# A pickle is a program. This one may only pile up numbers, strings and containers: its operations
# are held to a list before any is run, and the three names it may use stand for the classes below,
# which keep what they are told. NumPy never sees it: with its own classes a file could make it
# follow pointers of the file's choice.

_NOT_A_BATCH = (
    *(pickle.UnpicklingError, ArithmeticError, AttributeError, EOFError),
    *(LookupError, RecursionError, TypeError, ValueError),
)

OPERATIONS_LIMIT = 2**18
OPERATIONS = {
    *("PROTO", "FRAME", "STOP", "MARK", "EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE"),
    *("DICT", "LIST", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "SETITEM", "SETITEMS"),
    *("APPEND", "APPENDS", "PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE", "GET", "BINGET"),
    *("LONG_BINGET", "INT", "BININT", "BININT1", "BININT2", "LONG1", "NEWTRUE"),
    *("NEWFALSE", "NONE", "STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES"),
    *("SHORT_BINBYTES", "BINUNICODE", "SHORT_BINUNICODE", "GLOBAL", "STACK_GLOBAL"),
    *("REDUCE", "BUILD"),
}


def _load(data: bytes) -> dict:
    """Return the dictionary of a pickle that holds numbers, bytes and arrays of bytes."""
    for number, (operation, argument, _) in enumerate(pickletools.genops(data)):
        if number > OPERATIONS_LIMIT or operation.name not in OPERATIONS:
            raise pickle.UnpicklingError(f"{operation.name} is not allowed in a data file")
        if operation.name.endswith("PUT") and int(argument) > OPERATIONS_LIMIT:
            raise pickle.UnpicklingError("a memo larger than the file")
    batch = _NumbersOnly(io.BytesIO(data), encoding="bytes").load()
    if type(batch) is not dict:
        raise TypeError("it does not hold a dictionary")
    return batch


class _Dtype:
    """Description of a dtype in a file."""

    def __init__(self, name, *_):
        self.name = name

    def __setstate__(self, state):
        self.state = state


class _Array:
    """Description of an array in a file."""

    def __setstate__(self, state):
        self.state = state


def _reconstruct(*_):
    return _Array()


def _encode_latin1(text, encoding):
    """Return the bytes that Python 3 pickles as text under protocol 2."""
    if type(text) is not str or encoding not in ("latin1", b"latin1"):
        raise pickle.UnpicklingError(f"unexpected encoding {str(encoding)[:20]!r}")
    return text.encode("latin1")


class _NumbersOnly(pickle.Unpickler):
    """Unpickler of arrays of bytes and plain containers: every other name is refused."""

    NAMES: ClassVar[dict] = {
        ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
        ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
        ("numpy", "ndarray"): _Array,
        ("numpy", "dtype"): _Dtype,
        ("_codecs", "encode"): _encode_latin1,
    }

    def find_class(self, module, name):
        if (module, name) not in self.NAMES:
            raise pickle.UnpicklingError(f"a data file must not refer to {module}.{name}")
        return self.NAMES[module, name]


def _pixels(array) -> np.ndarray:
    """Return the array of bytes that a file describes."""
    if type(array) is not _Array:
        raise TypeError("data is not an array")
    _, shape, dtype, fortran, raw = array.state
    if type(dtype) is not _Dtype or dtype.name not in ("u1", b"u1") or type(raw) is not bytes:
        raise TypeError("data is not an array of bytes")
    if type(shape) is not tuple or len(shape) != 2 or not all(type(n) is int for n in shape):
        raise TypeError("data has no two dimensions")
    if min(shape) < 0 or shape[0] * shape[1] != len(raw):
        raise ValueError(f"data has {len(raw)} bytes for the shape {shape}")
    order = "F" if fortran else "C"
    return np.array(np.frombuffer(raw, np.uint8).reshape(shape, order=order), order="C")


def _labels(labels) -> np.ndarray:
    if type(labels) is not list or not all(type(label) is int for label in labels):
        raise TypeError("labels is not a list of integers")
    return np.array(labels, dtype=np.int64)
