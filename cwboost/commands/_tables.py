"""Examples from CSV and NPZ files, for the command line."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np

__all__ = ["Table", "read_table"]

MISSING = {"", "na", "nan", "?"}


class Table:
    """Features and, where there are any, labels.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        float64 from CSV, the stored dtype from NPZ.
    y : ndarray of shape (n_samples,) or None
        int64 where every label is a whole number, else str; the stored dtype from NPZ.
    names : list of str or None
        Names of the features, from a CSV file that has a line of them.
    """

    def __init__(self, X: np.ndarray, y: np.ndarray | None, names: list[str] | None = None):
        self.X, self.y, self.names = X, y, names


def read_table(path, label: str | None) -> Table:
    """Read a file of examples.

    Parameters
    ----------
    path : path-like
        ``.csv`` or ``.csv.gz``: comma-separated numbers, one example a line, with or without a
        line of names; an empty field, ``NA``, ``NaN`` or ``?`` is a missing value. ``.npz``: arrays
        ``X`` and, for labels, ``y``.
    label : str or None
        Column of a CSV file that holds the labels: its name, or its number, negative ones from
        the end. None: there is none. An NPZ file has its labels in ``y``.

    Raises
    ------
    ValueError
        Naming the file, the line and what is wrong with it.
    OSError
        Where the file cannot be read.
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
        raise ValueError(f"{path}: is no NPZ file") from error
    with stored:
        if "X" not in stored.files:
            raise ValueError(f"{path}: has no array X, only {sorted(stored.files)}")
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
            raise ValueError(f"{path}, line {number}: {len(row)} fields, line 1 has {n_columns}")
    names = None
    place = _label_place(label, n_columns)
    if not all(_is_number(f) for i, f in enumerate(rows[0][1]) if i != place):
        names = [name.strip() for name in rows.pop(0)[1]]
        if not rows:
            raise ValueError(f"{path}: has a line of names and no examples")
    if label is not None and place is None:
        if names is None or names.count(label) != 1:
            known = f"its columns are {names}" if names else "it has no line of names"
            raise ValueError(f"{path}: no column is called {label!r}; {known}")
        place = names.index(label)
    labels = None
    if place is not None:
        labels = _labels([row.pop(place).strip() for _, row in rows])
        names = names and names[:place] + names[place + 1 :]
    X = np.array([[_number(field, path, line) for field in row] for line, row in rows])
    return Table(X.reshape(len(rows), -1), labels, names)


def _label_place(label, n_columns):
    """The column that a number names; None where the label is given by name or not at all."""
    try:
        place = int(label)
    except (TypeError, ValueError):
        return None
    if not -n_columns <= place < n_columns:
        raise ValueError(f"label: there is no column {place} among {n_columns}")
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
