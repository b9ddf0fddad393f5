"""Reading of NPZ files."""

import zipfile
from pathlib import Path

import numpy as np

from cwboost.commands._tables.options import Options, Table
from cwboost.input.columns import listed


def read_npz(path: Path, options: Options) -> Table:
    """Read the arrays X and y, or those of the part that the options name."""
    names, notes = ("X", "y"), []
    files, arrays = _load(path, names)
    if "X" not in files:
        names = f"X_{options.part}", f"y_{options.part}"
        files, arrays = _load(path, names)
        notes = [f"arrays {' and '.join(arrays)}"]
    for name in ("drop", "dates", "groups", "time", "drop_unlabelled"):
        if getattr(options, name):
            argument = name.replace("_", "-")
            raise ValueError(f"{path} must be a table of named columns for --{argument}")
    X, y = map(arrays.get, names)
    trained, wrong = options.trained, None
    if X is None or (y is None and options.needs_labels):
        wrong = f"arrays {' and '.join(names)}, got [{listed(sorted(files))}]"
    elif X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "biuf":
        wrong = f"a matrix {names[0]} of numbers, got shape {X.shape} and dtype {X.dtype}"
    elif trained and X.shape[1] != trained.n_features:
        wrong = f"{trained.n_features} features, got {X.shape[1]}"
    elif y is not None and (y.dtype.kind not in "biufU" or y.shape not in ((len(X),), (len(X), 1))):
        wrong = (
            f"a number or text in {names[1]} per row of {names[0]} ({len(X)}), got shape {y.shape} "
            f"and dtype {y.dtype}"
        )
    if wrong:
        raise ValueError(f"{path} must have {wrong}")
    return Table(X, None if y is None else y.ravel(), notes=notes)


def _load(path: Path, names=()) -> tuple[list[str], dict[str, np.ndarray]]:
    """Return the names of all arrays, and those of `names` that the file has."""
    try:
        # zipfile looks at the end of a file, NumPy at its start.
        with zipfile.ZipFile(path), np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in names if name in stored.files}
            for array in arrays.values():
                if array.dtype.kind == "U":
                    array.tolist()  # SystemError for numbers that are not characters
            return stored.files, arrays
    except MemoryError as error:
        raise MemoryError(f"{path}: {error}") from error
    except Exception as error:  # zipfile and NumPy raise a dozen kinds for damaged files
        if getattr(error, "filename", None) is not None:  # absent, or may not be read
            raise
        raise ValueError(f"{path} must be an NPZ file of numbers and text, got {error}") from error


def has_test_part(path: Path) -> bool:
    """Return True if an NPZ file holds X_train and, with labels, X_test."""
    files = set(_load(path)[0])
    return "X" not in files and {"X_train", "X_test", "y_test"} <= files
