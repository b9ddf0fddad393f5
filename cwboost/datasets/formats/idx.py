"""The IDX files of MNIST: a big-endian header of type and sizes, then the bytes."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from cwboost.datasets.formats import _files

__all__ = ["read_idx", "read_mnist"]

_UNSIGNED_BYTE = 8


def read_mnist(folder: Path):
    """Read ``train-images-idx3-ubyte`` and the other three files, with or without ``.gz``."""
    names = {
        f"{array}_{part}": f"{prefix}-{kind}"
        for part, prefix in (("train", "train"), ("test", "t10k"))
        for array, kind in (("X", "images-idx3-ubyte"), ("y", "labels-idx1-ubyte"))
    }
    spellings = {
        key: (name, f"{name}.gz", name.replace("-idx", ".idx")) for key, name in names.items()
    }
    if _files.locate(folder, *(s for group in spellings.values() for s in group)) is None:
        return None
    arrays = {key: read_idx(_files.find_one(folder, *group)) for key, group in spellings.items()}
    for part in ("train", "test"):
        arrays[f"X_{part}"] = arrays[f"X_{part}"].reshape(len(arrays[f"X_{part}"]), -1)
        arrays[f"y_{part}"] = arrays[f"y_{part}"].astype(np.int64)
    return arrays


def read_idx(path: Path) -> np.ndarray:
    """Read one IDX file of unsigned bytes.

    Raises
    ------
    ValueError
        For another element type, or a file whose length contradicts its header.
    """
    try:
        with _files.open_packed(path) as stream:
            content = stream.read()
    except (EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != _UNSIGNED_BYTE:
        raise ValueError(f"{path} is not an IDX file of unsigned bytes")
    n_axes = content[3]
    start = 4 + 4 * n_axes
    if len(content) < start:
        raise ValueError(f"{path} ends inside its header")
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
    expected = int(np.prod(shape, dtype=np.int64))
    if len(content) - start != expected:
        raise ValueError(
            f"{path}: {expected} bytes expected for shape {shape}, got {len(content) - start}"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)
