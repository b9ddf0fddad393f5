"""Helpers of the readers: find files, open them compressed or not, report errors."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np

from cwboost.datasets.formats.compress import uncompress

__all__ = ["find_one", "locate", "open_packed", "read_table"]


def locate(folder: Path, *names: str) -> Path | None:
    """Return the path of the first of `names` that exists in `folder`, or None."""
    return next((folder / name for name in names if (folder / name).exists()), None)


def find_one(folder: Path, *names: str) -> Path:
    """Return the path as `locate` does, but raise a ValueError if none of `names` exists.

    For the second and further files of a set.
    """
    found = locate(folder, *names)
    if found is None:
        raise ValueError(f"{folder} has a part of the data set, but lacks {' or '.join(names)}")
    return found


def open_packed(path: Path):
    """Open a file for reading bytes; decompress it if its name ends in .gz or .Z."""
    if path.suffix == ".Z":
        return io.BytesIO(uncompress(path.read_bytes()))
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def read_table(path: Path, *, delimiter=None, dtype=np.float64, columns: int | None = None):
    """Read a text table of numbers; every row must have `columns` of them."""
    try:
        with open_packed(path) as stream, io.TextIOWrapper(stream, "ascii") as text:
            lines = [line for line in text if line.strip()]
        if not lines:
            raise ValueError("it is empty")
        table = np.loadtxt(lines, delimiter=delimiter, dtype=dtype, ndmin=2)
    except (ValueError, UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is not the expected table of numbers: {error}") from error
    if columns is not None and table.shape[1] != columns:
        raise ValueError(f"{path}: {columns} columns expected, got {table.shape[1]}")
    return table
