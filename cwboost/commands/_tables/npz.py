"""Reading of NPZ files."""

from __future__ import annotations

import lzma
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np

from cwboost.commands._tables.table import Options, Table
from cwboost.estimator.input.columns import listed

__all__ = ["has_test_part", "read_npz"]

DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, struct.error, tokenize.TokenError),
    *(ArithmeticError, AttributeError, LookupError, RuntimeError, SyntaxError, SystemError),
    TypeError,
)
"""What zipfile and NumPy raise for damaged files, besides ValueError."""


def read_npz(path: Path, options: Options) -> Table:
    """Read the arrays X and y, or those of the part that the options name.

    Raises
    ------
    ValueError
        If the file is damaged or lacks the features; the message names the file.
    """
    try:
        with _opened(path) as stored:
            return _table(path, stored, options.part)
    except DAMAGE as error:
        raise _damaged(path, error) from error
    except OSError as error:
        if error.filename is not None:
            raise
        raise _damaged(path, error) from error  # a damaged archive leads to places outside it


def _opened(path: Path):
    """Open an archive whose end or whose start may be damaged, which zipfile and NumPy look at."""
    with zipfile.ZipFile(path):
        pass
    try:
        return np.load(path, allow_pickle=False)
    except ValueError as error:  # NumPy takes such a file for a pickle
        raise _damaged(path, "its first bytes are not those of one") from error


def _damaged(path: Path, error: BaseException | str) -> ValueError:
    return ValueError(f"{path}: is not an NPZ file, or is damaged: {error}")


def _table(path: Path, stored, part: str) -> Table:
    if "X" in stored.files:
        names, notes = ("X", "y"), []
    elif f"X_{part}" in stored.files:
        names = (f"X_{part}", f"y_{part}")
        notes = [f"arrays {' and '.join(name for name in names if name in stored.files)}"]
    else:
        raise ValueError(
            f"{path}: must have an array X or X_{part}, has only [{listed(sorted(stored.files))}]"
        )
    X, y = (_array(path, stored, name) if name in stored.files else None for name in names)
    if X.ndim != 2:
        raise ValueError(f"{path}: {names[0]} must have two dimensions, got shape {X.shape}")
    if 0 in X.shape:
        raise ValueError(f"{path}: {names[0]} must have examples and features, got shape {X.shape}")
    if y is not None and y.shape not in ((len(X),), (len(X), 1)):
        raise ValueError(
            f"{path}: {names[1]} must have one label per row of {names[0]} ({len(X)}), got shape "
            f"{y.shape}"
        )
    for array, name, kinds, what in (
        (X, names[0], "biuf", ""),
        (y, names[1], "biufU", " or strings"),
    ):
        if array is not None and array.dtype.kind not in kinds:
            raise ValueError(f"{path}: {name} must hold numbers{what}, got dtype {array.dtype}")
    if y is not None and y.dtype.kind == "f":
        if not np.isfinite(y).all():
            raise ValueError(f"{path}: {names[1]} must hold no NaN and no infinity")
        y = y.astype(np.float64)  # a model file holds no labels of 2 or 16 bytes
    return Table(X, None if y is None else y.ravel(), notes=notes)


def _array(path: Path, stored, name: str) -> np.ndarray:
    try:
        array = stored[name]
        if array.dtype.kind == "U":
            array.tolist()  # SystemError for numbers that are no characters
        return array
    except MemoryError as error:
        raise MemoryError(f"{path}: array {name}: {error}") from error
    except ValueError as error:
        raise ValueError(
            f"{path}: array {name} cannot be read: {error}; save numbers and strings, not objects"
        ) from error


def has_test_part(path: Path) -> bool:
    """Return True if an NPZ file holds X_train and, with labels, X_test."""
    with _opened(path) as stored:
        return "X" not in stored.files and {"X_train", "X_test", "y_test"} <= set(stored.files)
