"""What every reader takes and returns, and how a column is named and found."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from cwboost.estimator.input.columns import call as call_of_frame
from cwboost.estimator.input.columns import listed, quoted

__all__ = ["Options", "Table", "Trained", "call", "find_column", "place_of"]


@dataclass(frozen=True)
class Trained:
    """The features that a file must have, since a model was or will be trained on them.

    Parameters
    ----------
    n_features : int
    names : sequence of str or None
        Their names, by which the columns of a file are picked; None goes by place.
    categories : collection of int
        Places of the features whose categories are text.
    """

    n_features: int
    names: Sequence[str] | None = None
    categories: Collection[int] = ()


@dataclass(frozen=True)
class Options:
    """How to read a file.

    Parameters
    ----------
    label : str or None
        Name or number (from 0; a negative one counts from the end) of the label column. None is
        the column that the model does not know, or the last, if `needs_labels`, else no column.
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
        Leave out examples with an empty label; otherwise they are an error if `needs_labels`.
    part : {"train", "test"}
        The arrays to read from an NPZ file that has X_train and X_test instead of X.
    trained : Trained or None
        The features to read; None reads all columns, those of text as categories.
    needs_labels : bool
        Whether a file or an example without a label is an error.
    """

    label: str | None = None
    sep: str | None = None
    header: bool | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    drop: Sequence[str] = ()
    drop_unlabelled: bool = False
    part: str = "train"
    trained: Trained | None = None
    needs_labels: bool = False


@dataclass
class Table:
    """Features, and labels if the file has them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        float64 from text, the stored dtype from NPZ and Parquet; of objects if there are columns
        of categories, which hold str, None for a missing one.
    y : ndarray of shape (n_labelled,) or None
        From text, int64 if every label is an integer as Python writes it, else str.
    labelled : ndarray of bool of shape (n_samples,) or None
        The examples that have a label; None for all.
    names : list of str or None
        Names of the features, if the file has them and they differ.
    notes : list of str
        What the reader decided, for the user to read.
    categories : list of int
        Places of the columns of categories.
    """

    X: np.ndarray
    y: np.ndarray | None = None
    labelled: np.ndarray | None = None
    names: list[str] | None = None
    notes: list[str] = field(default_factory=list)
    categories: list[int] = field(default_factory=list)


def call(place: int, names: Sequence[str] | None) -> str:
    """Return how messages call a column: its name, or its number if it has none or an empty one."""
    return call_of_frame(place, names if names and names[place] else None)


def place_of(spec: str) -> int | None:
    """Return the number that a user gave for a column, None for a name."""
    return int(spec) if re.fullmatch(r"[+-]?[0-9]{1,9}", spec.strip()) else None


def find_column(path, spec: str, names, n_columns: int, what: str) -> int:
    """Return the place of a column that the user gave by name or number.

    Raises
    ------
    ValueError
        If there is no such column; the message names the file, `what` and the known columns.
    """
    places = [place for place, name in enumerate(names or ()) if name == spec]
    if len(places) == 1:
        return places[0]
    place = place_of(spec)
    if place is None and places:
        raise ValueError(
            f"{path}: {what} must name one column, got {quoted(spec)}, the name of columns "
            f"{', '.join(map(str, places))}: give the number instead"
        )
    if place is None:
        known = f"its columns are [{listed(names)}]" if names else "it has no header line"
        raise ValueError(f"{path}: {what} must be one of its columns, got {quoted(spec)}; {known}")
    if not -n_columns <= place < n_columns:
        raise ValueError(
            f"{path}: {what} must be a column in {-n_columns}..{n_columns - 1} or a name, "
            f"got {place}"
        )
    return place % n_columns
