"""Reading of NPZ files."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np

from cwboost.commands._tables.table import Options, Table

__all__ = ["has_test_part", "read_npz"]


def read_npz(path: Path, options: Options) -> Table:
    """Read the arrays X and y, or those of the part that the options name.

    Raises
    ------
    ValueError
        If the file is damaged or lacks the features; the message names the file.
    """
    try:
        with zipfile.ZipFile(path):
            pass
        with np.load(path, allow_pickle=False) as stored:
            return _table(path, stored, options.part)
    except (zipfile.BadZipFile, zlib.error, EOFError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: is not an NPZ file, or is damaged: {error}") from error


def _table(path: Path, stored, part: str) -> Table:
    if "X" in stored.files:
        names, notes = ("X", "y"), []
    elif f"X_{part}" in stored.files:
        names = (f"X_{part}", f"y_{part}")
        notes = [f"arrays {' and '.join(name for name in names if name in stored.files)}"]
    else:
        raise ValueError(
            f"{path}: must have an array X or X_{part}, has only {sorted(stored.files)}"
        )
    X, y = (_array(path, stored, name) if name in stored.files else None for name in names)
    if X.ndim != 2:
        raise ValueError(f"{path}: {names[0]} must have two dimensions, got shape {X.shape}")
    if y is not None and y.shape not in ((len(X),), (len(X), 1)):
        raise ValueError(
            f"{path}: {names[1]} must have one label per row of {names[0]} ({len(X)}), got shape "
            f"{y.shape}"
        )
    return Table(X, None if y is None else y.ravel(), None, notes)


def _array(path: Path, stored, name: str) -> np.ndarray:
    try:
        return stored[name]
    except ValueError as error:
        raise ValueError(
            f"{path}: array {name} cannot be read: {error}; save numbers and strings, not objects"
        ) from error


def has_test_part(path: Path) -> bool:
    """Return True if an NPZ file holds X_train and, with labels, X_test."""
    with np.load(path, allow_pickle=False) as stored:
        return "X" not in stored.files and {"X_train", "X_test", "y_test"} <= set(stored.files)
