"""What every reader takes and returns, and how a column is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cwboost.estimator.input.columns import call as call_of_frame
from cwboost.estimator.input.columns import listed, quoted

__all__ = [
    "UNNAMED",
    "Options",
    "Table",
    "call",
    "dropped_places",
    "find_column",
    "joined",
    "repeated",
    "without",
]

UNNAMED = ("", "Unnamed: 0", "__index_level_0__")
"""Names that pandas gives to an index that has none, when it writes or reads a file."""


@dataclass(frozen=True)
class Options:
    """How to read a file.

    Parameters
    ----------
    label : str or None
        Name or number (from 0; a negative one counts from the end) of the label column.
    sep : str or None
        Separator of text fields; None finds it.
    header : bool or None
        Whether the first line of a text file holds names; None decides by what the file holds.
    encoding : str
        Of a text file; a byte-order mark of UTF-8 is skipped.
    decimal : {".", ","}
        Decimal mark of a text file.
    drop : sequence of str
        Columns to leave out, by name or number.
    drop_unlabelled : bool
        Leave out examples with an empty label; otherwise they are an error.
    part : {"train", "test"}
        The arrays to read from an NPZ file that has X_train and X_test instead of X.
    categories : sequence of int or None
        Places, among the features, of columns of categories, which stay text; None takes the
        columns of a text or Parquet file with a label that hold text.
    """

    label: str | None = None
    sep: str | None = None
    header: bool | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    drop: Sequence[str] = ()
    drop_unlabelled: bool = False
    part: str = "train"
    categories: Sequence[int] | None = None


@dataclass
class Table:
    """Features, and labels if the file has them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        float64 from text, the stored dtype from NPZ and Parquet; of objects if there are columns
        of categories, which hold str, None for a missing one.
    y : ndarray of shape (n_samples,) or None
        From text, int64 if every label is an integer as Python writes it, else str.
    names : list of str or None
        Names of the features, if the file has them.
    notes : list of str
        What the reader decided, for the user to read.
    categories : list of int
        Places of the columns of categories.
    """

    X: np.ndarray
    y: np.ndarray | None = None
    names: list[str] | None = None
    notes: list[str] = field(default_factory=list)
    categories: list[int] = field(default_factory=list)


def call(place: int, names: Sequence[str] | None) -> str:
    """Return how messages call a column: its name, or its number if it has none or an empty one."""
    return call_of_frame(place, names if names and names[place] else None)


def find_column(path, spec: str, names, n_columns: int, what: str) -> int:
    """Return the place of a column that the user gave by name or number.

    Raises
    ------
    ValueError
        If there is no such column; the message names the file, `what` and the known columns.
    """
    if names is not None and list(names).count(spec) == 1:
        return list(names).index(spec)
    try:
        place = int(spec)
    except ValueError:
        if names is not None and spec in names:
            places = [place for place, name in enumerate(names) if name == spec]
            raise ValueError(
                f"{path}: {what} must name one column, got {quoted(spec)}, the name of columns "
                f"{', '.join(map(str, places))}: give the number instead"
            ) from None
        known = f"its columns are [{listed(names)}]" if names else "it has no header line"
        raise ValueError(
            f"{path}: {what} must be one of its columns, got {quoted(spec)}; {known}"
        ) from None
    if not -n_columns <= place < n_columns:
        raise ValueError(
            f"{path}: {what} must be a column in {-n_columns}..{n_columns - 1} or a name, "
            f"got {place}"
        )
    return place % n_columns


def repeated(names: Sequence[str]) -> list[str]:
    """Return a word to the user if several of the features have one name, else nothing."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    return [f"several columns are called {listed(twice)}"] if twice else []


def dropped_places(path, options: Options, names, n_columns: int) -> set[int]:
    """Return the places of the columns that the user wants left out."""
    return {find_column(path, spec, names, n_columns, "--drop") for spec in options.drop}


def without(items: Sequence, places) -> list:
    """Return the items whose place is not among `places`."""
    return [item for place, item in enumerate(items) if place not in places]


def joined(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return columns side by side: of objects if one of them holds text."""
    if not any(column.dtype == object for column in columns):
        return np.column_stack(columns)
    X = np.empty((len(columns[0]), len(columns)), dtype=object)
    for place, column in enumerate(columns):
        X[:, place] = column
    return X
