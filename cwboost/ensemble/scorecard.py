"""Scorecards: models of one or two features per leaf as tables of points."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from cwboost.families.flat_forms import ThresholdTrees
from cwboost.kernels import log, softmax

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Box:
    """A leaf: its tree, its output per score, and the comparisons that lead to it."""

    tree: int
    output: np.ndarray
    comparisons: tuple[tuple[int, float, bool, bool], ...]
    """Feature, threshold, whether the leaf is on the right, whether missing values are."""


def boxes_of(trees: ThresholdTrees) -> Iterator[Box]:
    """Yield the leaves of trees that compare features."""
    for t, start in enumerate(trees.offsets[:-1].tolist()):
        waiting: list[tuple[int, tuple]] = [(start, ())]
        while waiting:
            node, path = waiting.pop()
            feature = int(trees.feature[node])
            if feature < 0:
                yield Box(t, np.atleast_1d(trees.output[node]).astype(np.float64), path)
                continue
            left, threshold = start + int(trees.left[node]), float(trees.threshold[node])
            missing_right = bool(trees.missing[node] > 0)
            for side in (0, 1):
                step = (feature, threshold, side == 1, missing_right)
                waiting.append((left + side, (*path, step)))


@dataclass(frozen=True, eq=False)
class Axis:
    """The parts of one column that a table tells apart: intervals or categories, then the gap.

    `names` are those of the parts; "1 to 2" is above 1 and up to 2. A value of a column of numbers
    is in the part of the first of `ends`, ascending, that it is not above; the codes of categories,
    of which `ends` is None, are parts themselves. The last part is that of missing values.
    """

    column: int
    names: tuple[str, ...]
    ends: np.ndarray | None

    def places(self, values) -> np.ndarray:
        """Return the part of each value."""
        missing = ~np.isfinite(values) if self.ends is None else np.isnan(values)
        known = np.where(missing, 0.0, values)
        places = known.astype(np.intp) if self.ends is None else np.searchsorted(self.ends, known)
        return np.where(missing, len(self.names) - 1, places)


@dataclass(frozen=True, eq=False)
class Table:
    """What one or two columns add to the scores: points, (parts of each axis, n_points)."""

    axes: tuple[Axis, ...]
    points: np.ndarray

    @property
    def importance(self) -> float:
        """The largest range of the points of a class."""
        return float(np.ptp(self.points.reshape(-1, self.points.shape[-1]), axis=0).max())


@dataclass(frozen=True, eq=False)
class Scorecard:
    """A model as tables of points, of which an example gets one row each; see `scorecard`.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    names : sequence of str
        Names of the columns.
    constant : ndarray of shape (n_points,)
        Points of everybody: one number per class, of two classes only those of the second.
    tables : tuple of Table
        By decreasing range of their points.
    unit : float
        What a point adds to the logarithm of the odds.

    Notes
    -----
    The probabilities are the softmax of ``unit`` times the sum of an example's points; of two
    classes the points of the first are 0.
    """

    classes: np.ndarray
    names: Sequence[str]
    constant: np.ndarray
    tables: tuple[Table, ...]
    unit: float
    encode: Callable[[Any], Any]

    @property
    def meaning(self) -> str:
        """What a point means, in a sentence."""
        per = f"{log(2.0) / self.unit:.3g} points double"
        if len(self.constant) == 1:
            return f"{per} the odds of {self.classes[-1]!s}"
        return f"{per} the odds of a class against any other"

    def points(self, X) -> np.ndarray:
        """Return the sum of the points of every row of X, (n_samples, n_points)."""
        X = self.encode(X)
        total = np.tile(self.constant, (X.shape[0], 1))
        for table in self.tables:
            columns = (X[:, [axis.column]] for axis in table.axes)
            dense = (c.toarray() if sparse.issparse(c) else c for c in columns)
            places = [axis.places(c.ravel()) for axis, c in zip(table.axes, dense)]
            total += table.points[tuple(places)]
        return total

    def predict_proba(self, X) -> np.ndarray:
        """Return the probabilities of the classes, (n_samples, n_classes), from the points."""
        points = self.points(X)
        if points.shape[1] == 1:
            points = np.hstack([np.zeros_like(points), points])
        return softmax(self.unit * points)

    def rounded(self, points_to_double: float = 20.0) -> Scorecard:
        """Return a scorecard of whole points.

        Parameters
        ----------
        points_to_double : float, default=20.0
            Points that double the odds: more of them cost less by rounding.
        """
        if not 0.0 < points_to_double < np.inf:
            raise ValueError(
                f"points_to_double must be a positive number, got {points_to_double!r}"
            )
        unit = log(2.0) / points_to_double
        tables = [_whole(table, self.unit / unit) for table in self.tables]
        constant = _rounded(self.constant * (self.unit / unit))
        kept = tuple(table for table in tables if table.points.any())
        return replace(self, constant=constant, tables=kept, unit=unit)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per row: feature, part, those of a second feature, and the points.

        Categories of equal points are one row, and missing values are in that of the first interval
        of the same points.
        """
        labels = [str(c) for c in self.classes[-len(self.constant) :]]
        rows = [dict.fromkeys(_COLUMNS) | {"feature": "constant"}]
        rows[0] |= dict(zip(labels, self.constant.tolist()))
        for table in self.tables:
            for parts, points in _joined(table):
                row: dict[str, Any] = dict.fromkeys(_COLUMNS)
                for axis, part, (what, where) in zip(table.axes, parts, _PAIRS):
                    row |= {what: self.names[axis.column], where: part}
                rows.append(row | dict(zip(labels, points.tolist())))
        return rows

    def to_frame(self) -> pandas.DataFrame:
        """Return `rows` as a frame of pandas."""
        import pandas as pd

        return pd.DataFrame(self.rows()).dropna(axis=1, how="all")

    def __str__(self) -> str:
        rows = [[_text(value) for value in row.values()] for row in self.rows()]
        head = ["feature", "is", "and", "is", *map(str, self.classes[-len(self.constant) :])]
        rows = [head, *rows]
        kept = [k for k in range(len(head)) if any(row[k] for row in rows[1:])]
        widths = {k: max(len(row[k]) for row in rows) for k in kept}
        lines = [
            "  ".join(
                row[k].ljust(widths[k]) if k < len(_COLUMNS) else row[k].rjust(widths[k])
                for k in kept
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, f"{self.meaning}."])

    def _repr_html_(self) -> str:
        rows = self.rows()
        kept = [name for name in rows[0] if any(row[name] is not None for row in rows)]
        head = "".join(f"<th>{html.escape(name.removesuffix('_2'))}</th>" for name in kept)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_text(row[name]))}</td>" for name in kept) + "</tr>"
            for row in rows
        )
        caption = f"<caption>{html.escape(self.meaning)}</caption>"
        return f"<table>{caption}<tr>{head}</tr>{body}</table>"


_PAIRS = ("feature", "is"), ("feature_2", "is_2")
_COLUMNS = ("feature", "is", "feature_2", "is_2")


def _text(value) -> str:
    """Return a value of a row as text: numbers short, None empty."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def scorecard_of(
    trees: ThresholdTrees,
    coef: sparse.csr_array,
    *,
    offset: np.ndarray,
    scale: float,
    classes: np.ndarray,
    names: Sequence[str],
    categories: Mapping[int, np.ndarray],
    column_of: np.ndarray,
    compared: Callable[[np.ndarray], np.ndarray],
    encode: Callable[[Any], Any],
) -> Scorecard:
    """Return the scorecard of trees whose leaves depend on one or two columns each.

    `offset`, (n_scores,), are constants, `column_of` the column of each feature, and
    ``compared(X)`` the features of rows of codes. Raises ValueError for a leaf of more columns.
    """
    votes, constant = coef.toarray(), scale * offset
    groups: dict[tuple[int, ...], list[Box]] = {}
    for box in boxes_of(trees):
        columns = tuple(sorted({int(column_of[step[0]]) for step in box.comparisons}))
        if len(columns) > 2:
            shown = ", ".join(names[c] for c in columns)
            raise ValueError(
                "a scorecard must have at most two features per row, but a leaf compares "
                f"{shown}: train stumps, TreeFamily(max_depth=2) or with "
                "interaction_cst='pairwise'"
            )
        groups.setdefault(columns, []).append(box)
    tables = []
    for columns, boxes in groups.items():
        if not columns:
            constant = constant + scale * sum(_points(box, votes) for box in boxes)
            continue
        axes = [_axis(c, boxes, column_of, names, categories) for c in columns]
        features = [_features(axis, len(names), compared) for axis in axes]
        points = np.zeros((*(len(axis.names) for axis in axes), votes.shape[1]))
        for box in boxes:
            inside = [
                _inside(box, column_of == axis.column, rows) for axis, rows in zip(axes, features)
            ]
            points[np.ix_(*map(np.flatnonzero, inside))] += scale * _points(box, votes)
        tables.append(Table(tuple(axes), points))
    if len(classes) == 2:
        constant = constant[1:] - constant[:1]
        tables = [replace(t, points=t.points[..., 1:] - t.points[..., :1]) for t in tables]
    tables = sorted(tables, key=lambda table: -table.importance)
    return Scorecard(classes, names, constant, tuple(tables), 1.0, encode)


def _points(box: Box, votes: np.ndarray) -> np.ndarray:
    """Return what a leaf adds to the scores; graded leaves have outputs for the last of them."""
    values, n = votes[box.tree].copy(), len(box.output)
    if n == 1:
        return values * box.output[0]
    values[-n:] *= box.output
    return values


def _rounded(points) -> np.ndarray:
    """Return whole numbers, zeros without a sign."""
    return np.rint(points) + 0.0


def _whole(table: Table, factor: float) -> Table:
    """Return a table times a factor in whole points, without ends between equal intervals."""
    points, axes = _rounded(table.points * factor), []
    for k, axis in enumerate(table.axes):
        if axis.ends is not None:
            along = np.moveaxis(points, k, 0)
            differs = (along[1:-1] != along[:-2]).reshape(len(axis.ends), -1).any(axis=1)
            kept = np.flatnonzero(differs)
            places = [*kept, len(axis.ends), len(axis.ends) + 1]
            points = np.moveaxis(along[places], 0, k)
            axis = _intervals(axis.column, axis.ends[kept])
        axes.append(axis)
    return Table(tuple(axes), points)


def _axis(column: int, boxes, column_of, names, categories) -> Axis:
    """Return the parts of a column that the comparisons of some leaves tell apart."""
    if column in categories:
        return Axis(column, (*map(str, categories[column]), "missing"), None)
    steps = {s[1] for box in boxes for s in box.comparisons if column_of[s[0]] == column}
    return _intervals(column, np.array(sorted(t for t in steps if np.isfinite(t))))


def _intervals(column: int, ends: np.ndarray) -> Axis:
    """Return the axis of the intervals between some ends, and of missing values."""
    if not len(ends):
        return Axis(column, ("present", "missing"), ends)
    text = [f"{end:.6g}" for end in ends]
    middle = [f"{low} to {high}" for low, high in pairwise(text)]
    return Axis(column, (f"<= {text[0]}", *middle, f"> {text[-1]}", "missing"), ends)


def _features(axis: Axis, n_columns: int, compared) -> np.ndarray:
    """Return the features of one row per part of a column, the others zero."""
    ends = np.arange(len(axis.names) - 1.0) if axis.ends is None else axis.ends
    if axis.ends is not None:
        ends = np.append(ends, ends[-1] + abs(ends[-1]) + 1.0 if len(ends) else 0.0)
    rows = np.zeros((len(axis.names), n_columns))
    rows[:, axis.column] = np.append(ends, np.nan)
    return compared(rows)


def _inside(box: Box, of_column: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return which parts of a column lead to a leaf."""
    inside = np.ones(len(rows), dtype=bool)
    for feature, threshold, is_right, missing_right in box.comparisons:
        if of_column[feature]:
            values = rows[:, feature]
            right = np.where(np.isnan(values), missing_right, values > threshold)
            inside &= right == is_right
    return inside


def _joined(table: Table) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """Yield the parts of a table and their points; parts that `_groups` joins are one row."""
    axes = [_groups(axis, np.moveaxis(table.points, k, 0)) for k, axis in enumerate(table.axes)]
    for parts in product(*axes):
        yield tuple(name for name, _ in parts), table.points[tuple(first for _, first in parts)]


def _groups(axis: Axis, points: np.ndarray) -> list[tuple[str, int]]:
    """Return the names of parts that differ in points, and the first of each."""
    keys: list[Any] = [part.tobytes() for part in points]
    if axis.ends is not None:
        # Equal intervals are not neighbours and stay apart; gaps join the first of equal points.
        keys = [*range(len(keys) - 1), keys.index(keys[-1])]
    places: dict[Any, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    return [(", ".join(axis.names[k] for k in equal), equal[0]) for equal in places.values()]
