"""What the readers of files take and return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Trained:
    """The features that a file must have, since a model was or will be trained on them."""

    n_features: int
    names: Sequence[str] | None = None  # None picks columns by place
    categories: Mapping[int, np.ndarray] = field(default_factory=dict)  # those of text, by place
    classes: Sequence = ()  # as text


@dataclass(frozen=True)
class Options:
    """How to read a file; columns are given by name or by number, a negative one from the end."""

    label: str | None = None  # None: the column unknown to the model, or the last, if needed
    sep: str | None = None  # None: the first of tab, semicolon, bar and comma in the first line
    header: bool | None = None  # None decides by the first line
    encoding: str = "utf-8"
    decimal: str = "."
    drop: Sequence[str] = ()  # columns to leave out
    dates: Sequence[str] = ()  # columns of dates, which become numbers
    groups: str | None = None  # column that says which examples belong together
    time: str | None = None  # column by which the examples are put in order
    drop_unlabelled: bool = False  # leave out examples with an empty label
    part: str = "train"  # or "test", of an NPZ file with X_train and X_test
    trained: Trained | None = None  # None reads all columns, those of text as categories
    needs_labels: bool = False  # whether a file or an example without a label is an error


@dataclass
class Table:
    """Features, and labels if the file has them."""

    X: object  # a frame, whose columns are numbered if the file gives no names; an array from NPZ
    y: np.ndarray | None = None  # those that there are; integers as Python writes them, or text
    labelled: np.ndarray | None = None  # which examples have a label; None for all
    groups: np.ndarray | None = None  # of the labelled examples
    notes: list[str] = field(default_factory=list)  # what the reader decided, for the user to read

    def take(self, places) -> Table:
        """Return some of the examples, all of which have a label."""
        groups = None if self.groups is None else self.groups[places]
        return Table(self.X.take(places, axis=0), self.y[places], None, groups, self.notes)

    @property
    def names(self) -> list[str] | None:
        """Names of the features, None if they have none."""
        columns = list(getattr(self.X, "columns", ()))
        return columns if columns and isinstance(columns[0], str) else None

    @property
    def categories(self) -> dict[int, np.ndarray]:
        """The categories of the columns that have some, by place."""
        dtypes = getattr(self.X, "dtypes", ())
        places = [place for place, dtype in enumerate(dtypes) if dtype == "category"]
        return {place: self.X.iloc[:, place].cat.categories.to_numpy() for place in places}
