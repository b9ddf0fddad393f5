"""Reading of NPZ files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from cwboost.commands._tables.options import Options, Table
from cwboost.estimator.input.columns import listed

__all__ = ["has_test_part", "read_npz"]


def read_npz(path: Path, options: Options) -> Table:
    """Read the arrays X and y, or those of the part that the options name."""
    names, notes = ("X", "y"), []
    files, arrays = _load(path, names)
    if "X" not in files:
        names = f"X_{options.part}", f"y_{options.part}"
        files, arrays = _load(path, names)
        notes = [f"arrays {' and '.join(arrays)}"]
    if names[0] not in arrays:
        known = listed(sorted(files))
        raise ValueError(f"{path}: must have an array X or {names[0]}, has only [{known}]")
    X, y = map(arrays.get, names)
    if y is None and options.needs_labels:
        raise ValueError(f"{path}: must have an array {names[1]} of labels")
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
    if options.trained and X.shape[1] != options.trained.n_features:
        expected = options.trained.n_features
        raise ValueError(f"{path}: expected {expected} features, got {X.shape[1]}")
    return Table(X, None if y is None else y.ravel(), notes=notes)


def _load(path: Path, names=()) -> tuple[list[str], dict[str, np.ndarray]]:
    """Return the names of all arrays, and those of `names` that the file has."""
    try:
        # zipfile looks at the end of a file, NumPy at its start.
        with zipfile.ZipFile(path), np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in names if name in stored.files}
            for array in arrays.values():
                if array.dtype.kind == "U":
                    array.tolist()  # SystemError for numbers that are no characters
            return stored.files, arrays
    except MemoryError as error:
        raise MemoryError(f"{path}: {error}") from error
    except Exception as error:  # zipfile and NumPy raise a dozen kinds for damaged files
        if getattr(error, "filename", None) is not None:  # absent, or may not be read
            raise
        message = f"{path}: is not an NPZ file of numbers and text, or is damaged: {error}"
        raise ValueError(message) from error


def has_test_part(path: Path) -> bool:
    """Return True if an NPZ file holds X_train and, with labels, X_test."""
    files = set(_load(path)[0])
    return "X" not in files and {"X_train", "X_test", "y_test"} <= files
