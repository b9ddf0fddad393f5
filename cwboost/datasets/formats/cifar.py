"""CIFAR-10, the Python version: six pickled dictionaries, read without executing their content."""

from __future__ import annotations

import pickle
from pathlib import Path

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
        with path.open("rb") as stream:
            batch = _NumbersOnly(stream, encoding="bytes").load()
        X, y = batch[b"data"], np.asarray(batch[b"labels"], dtype=np.int64)
    except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a batch of CIFAR-10: {error}") from error
    if not isinstance(X, np.ndarray) or X.dtype != np.uint8 or X.shape != (len(y), 3072):
        raise ValueError(f"{path}: data must be uint8 of shape ({len(y)}, 3072)")
    return X, y


class _NumbersOnly(pickle.Unpickler):
    """Unpickler of arrays and plain containers that refuses every other name.

    A pickle can call any importable function; a data file does not need that.
    """

    def find_class(self, module, name):
        if (module, name) in (
            ("numpy.core.multiarray", "_reconstruct"),
            ("numpy._core.multiarray", "_reconstruct"),
        ):
            return np._core.multiarray._reconstruct
        if (module, name) in (("numpy", "ndarray"), ("numpy", "dtype")):
            return getattr(np, name)
        if (module, name) == ("_codecs", "encode"):
            return _encode_latin1
        raise pickle.UnpicklingError(f"a data file must not refer to {module}.{name}")


def _encode_latin1(text, encoding):
    """Return the bytes that Python 3 pickles as text under protocol 2."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"unexpected encoding {encoding!r}")
    return text.encode("latin1")
