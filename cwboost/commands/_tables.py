"""Reading of examples from CSV and NPZ files, for the command line."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np

__all__ = ["Table", "read_table"]

MISSING = {"", "na", "nan", "?"}


class Table:
    """Features, and labels if the file has them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        float64 from CSV, the stored dtype from NPZ.
    y : ndarray of shape (n_samples,) or None
        From CSV, int64 if every label is an integer, else str; the stored dtype from NPZ.
    names : list of str or None
        Names of the features, if a CSV file has a header line.
    """

    def __init__(self, X: np.ndarray, y: np.ndarray | None, names: list[str] | None = None):
        self.X, self.y, self.names = X, y, names


def read_table(path, label: str | None) -> Table:
    """Read a file of examples.

    Parameters
    ----------
    path : path-like
        ``.csv`` or ``.csv.gz``: comma-separated numbers, one example per line, with or without a
        header line; an empty field, ``NA``, ``NaN`` or ``?`` is a missing value. ``.npz``: arrays
        ``X`` and, for labels, ``y``.
    label : str or None
        Label column of a CSV file: its name, or its number (a negative number counts from the
        end); None if there is none. An NPZ file has its labels in ``y``.

    Raises
    ------
    ValueError
        For a malformed file; the message names the file, the line and the error.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    if path.suffix == ".npz":
        return _read_npz(path)
    if path.suffixes[-1:] == [".csv"] or path.suffixes[-2:] == [".csv", ".gz"]:
        return _read_csv(path, label)
    raise ValueError(f"{path}: expected a name that ends in .csv, .csv.gz or .npz")


def _read_npz(path: Path) -> Table:
    try:
        stored = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"{path}: is not an NPZ file") from error
    with stored:
        if "X" not in stored.files:
            raise ValueError(f"{path}: must have an array X, has only {sorted(stored.files)}")
        return Table(stored["X"], stored["y"] if "y" in stored.files else None)


def _read_csv(path: Path, label: str | None) -> Table:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", newline="", encoding="utf-8-sig") as file:
        lines = csv.reader(file)
        rows = [(lines.line_num, row) for row in lines if row]
    if not rows:
        raise ValueError(f"{path}: is empty")
    n_columns = len(rows[0][1])
    for number, row in rows:
        if len(row) != n_columns:
            raise ValueError(
                f"{path}, line {number}: expected {n_columns} fields as in line 1, got {len(row)}"
            )
    names = None
    place = _label_place(label, n_columns)
    if not all(_is_number(f) for i, f in enumerate(rows[0][1]) if i != place):
        names = [name.strip() for name in rows.pop(0)[1]]
        if not rows:
            raise ValueError(f"{path}: has a header line but no examples")
    if label is not None and place is None:
        if names is None or names.count(label) != 1:
            known = f"its columns are {names}" if names else "it has no header line"
            raise ValueError(f"{path}: label must be one of its columns, got {label!r}; {known}")
        place = names.index(label)
    labels = None
    if place is not None:
        labels = _labels([row.pop(place).strip() for _, row in rows])
        names = names and names[:place] + names[place + 1 :]
    X = np.array([[_number(field, path, line) for field in row] for line, row in rows])
    return Table(X.reshape(len(rows), -1), labels, names)


def _label_place(label, n_columns):
    """Return the index of a label column given by number; None if given by name or absent."""
    try:
        place = int(label)
    except (TypeError, ValueError):
        return None
    if not -n_columns <= place < n_columns:
        raise ValueError(
            f"label must be a column in {-n_columns}..{n_columns - 1} or a name, got {place}"
        )
    return place % n_columns


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return field.strip().lower() in MISSING
    return True


def _number(field: str, path: Path, line: int) -> float:
    try:
        return float(field)
    except ValueError:
        if field.strip().lower() in MISSING:
            return np.nan
        raise ValueError(f"{path}, line {line}: {field!r} is not a number") from None


def _labels(labels: list[str]) -> np.ndarray:
    try:
        return np.array([int(label) for label in labels], dtype=np.int64)
    except ValueError:
        return np.array(labels)
