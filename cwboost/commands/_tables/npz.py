"""Reading of NPZ files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from cwboost.commands._tables.options import Options, Table
from cwboost.estimator.input.columns import listed

__all__ = ["has_test_part", "read_npz"]


def read_npz(path: Path, options: Options) -> Table:
    """Read the arrays X and y, or those of the part that the options name.

    Raises
    ------
    ValueError
        If the file is damaged or lacks the features; the message names the file.
    """
    files = _files(path)
    names = ("X", "y") if "X" in files else (f"X_{options.part}", f"y_{options.part}")
    if names[0] not in files:
        raise ValueError(
            f"{path}: must have an array X or {names[0]}, has only [{listed(sorted(files))}]"
        )
    X, y = (_array(path, name) if name in files else None for name in names)
    notes = (
        [] if "X" in files else [f"arrays {' and '.join(name for name in names if name in files)}"]
    )
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(
            f"{path}: {names[0]} must have rows of examples and columns of features, got shape "
            f"{X.shape}"
        )
    if y is not None and y.shape not in ((len(X),), (len(X), 1)):
        raise ValueError(
            f"{path}: {names[1]} must have one label per row of {names[0]} ({len(X)}), got shape "
            f"{y.shape}"
        )
    for name, array, kinds, what in ((names[0], X, "biuf", ""), (names[1], y, "biufU", " or text")):
        if array is not None and array.dtype.kind not in kinds:
            raise ValueError(f"{path}: {name} must hold numbers{what}, got dtype {array.dtype}")
    if y is not None and y.dtype.kind == "f":
        if not np.isfinite(y).all():
            raise ValueError(f"{path}: {names[1]} must hold no NaN and no infinity")
        y = y.astype(np.float64)  # a model file holds no labels of 2 or 16 bytes
    if options.trained and X.shape[1] != options.trained.n_features:
        raise ValueError(
            f"{path}: expected {options.trained.n_features} features, got {X.shape[1]}"
        )
    return Table(X, None if y is None else y.ravel(), notes=notes)


def _array(path: Path, name: str) -> np.ndarray:
    try:
        with np.load(path, allow_pickle=False) as stored:
            array = stored[name]
        if array.dtype.kind == "U":
            array.tolist()  # SystemError for numbers that are no characters
        return array
    except MemoryError as error:
        raise MemoryError(f"{path}: array {name}: {error}") from error
    except Exception as error:  # zipfile and NumPy raise a dozen kinds for damaged files
        raise ValueError(
            f"{path}: array {name} cannot be read: {error}; save numbers and text, not objects"
        ) from error


def _files(path: Path) -> list[str]:
    """Return the names of the arrays; zipfile looks at the end of a file, NumPy at its start."""
    try:
        with zipfile.ZipFile(path), np.load(path, allow_pickle=False) as stored:
            return stored.files
    except Exception as error:
        if getattr(error, "filename", None) is not None:  # absent, or may not be read
            raise
        raise ValueError(f"{path}: is not an NPZ file, or is damaged: {error}") from error


def has_test_part(path: Path) -> bool:
    """Return True if an NPZ file holds X_train and, with labels, X_test."""
    files = set(_files(path))
    return "X" not in files and {"X_train", "X_test", "y_test"} <= files
