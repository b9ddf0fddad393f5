"""The nodes of a batch of trees, laid out for rows of values or for rows of codes (see trees.h)."""

from dataclasses import dataclass

import numpy as np

from cwboost.support.lazy import made_once

BLOCK = 64
"""Rows of a block, as in trees.h."""

PER_COLUMN = 255
"""Thresholds per column of codes."""

NODE = np.dtype(
    [
        ("threshold", np.float64),
        ("feature", np.int32),
        ("left", np.int32),
        ("missing_right", np.int64),
    ]
)
"""A node that compares a value: ``cwb_node`` of trees.h."""

CODED_NODE = np.dtype([("at", np.uint32), ("next", np.uint32)])
"""A node that compares a code: ``cwb_coded_node`` of trees.h."""

CODING = np.dtype(
    [
        ("table", np.int64),
        ("steps", np.int32),
        ("feature", np.int32),
        ("low", np.int32),
        ("high", np.int32),
    ]
)
"""The codes of a feature among some of its thresholds: ``cwb_coding`` of trees.h."""

ROWS_WORTH_CODES, TREES_WORTH_CODES = 64, 64
"""Fewer rows do not repay the search for codes, nor do fewer trees or no more than features."""

ROWS_PER_NODE = 8
"""Rows per node of a tree that repay the layout for codes if there is one for values."""


def padded(rows: np.ndarray) -> np.ndarray:
    """Return rows with zeros behind each, so that their length is one or a multiple of eight."""
    n, length = rows.shape
    if length == 1 or length % 8 == 0:
        return np.ascontiguousarray(rows)
    wider = np.zeros((n, -(-length // 8) * 8), rows.dtype)
    wider[:, :length] = rows
    return wider


@dataclass(frozen=True)
class TreeNodes:
    """Nodes that compare values or, if there are `codings`, codes in `n_columns` columns."""

    nodes: np.ndarray
    codings: np.ndarray | None = None
    thresholds: np.ndarray | None = None
    n_columns: int = 0


class TreeLayouts:
    """The layouts of a batch of trees, each made for the first rows that need it.

    Threads that share a model may both make one; either serves. Python exchanges an attribute
    whole, which holds for no field of an extension type unless one thread runs at a time.

    `trees` are offsets, feature, threshold, left, missing and output, as for `TreeEvaluator`, but
    features are the columns of a block of values. `place` is that of each node in its tree.
    """

    def __init__(self, trees, place: np.ndarray):
        self._trees, self._place = trees, place
        offsets, feature, *_ = trees
        n_trees, n_used = len(offsets) - 1, int(feature.max(initial=-1)) + 1
        self._suits_codes = n_trees >= max(TREES_WORTH_CODES, n_used)
        self._n_rows = 0  # of all calls that would have used codes

    def for_rows(self, n_rows: int) -> TreeNodes:
        """Return the nodes for codes if these are worth their search, else those for values."""
        if not self._suits_codes or n_rows < ROWS_WORTH_CODES:
            return self._on_values
        self._n_rows += n_rows
        made = self.__dict__
        # Nodes for values, if there are any, serve until others repay their making.
        if "_on_codes" not in made and "_on_values" in made:
            n_trees = len(self._trees[0]) - 1
            if self._n_rows * n_trees < ROWS_PER_NODE * len(self._on_values.nodes):
                return self._on_values
        return self._on_codes or self._on_values

    @made_once
    def _on_values(self) -> TreeNodes:
        _, feature, threshold, left, missing, _ = self._trees
        inner = np.flatnonzero(feature >= 0)
        nodes = np.zeros(len(feature), NODE)
        # A leaf leads every row to itself.
        nodes["threshold"], nodes["left"] = np.inf, self._place
        nodes["threshold"][inner], nodes["left"][inner] = threshold[inner], left[inner]
        nodes["feature"][inner] = feature[inner]
        nodes["missing_right"][inner] = missing[inner] > 0
        return TreeNodes(nodes)

    @made_once
    def _on_codes(self) -> TreeNodes | None:
        """The nodes that compare codes; None if a tree or the model is too large."""
        offsets, feature, threshold, left, missing, output = self._trees
        inner = np.flatnonzero(feature >= 0)
        codings, thresholds, column, code, n_columns = _codings(
            feature[inner], threshold[inner], missing[inner] > 0
        )
        too_large = np.diff(offsets).max() >= 1 << 24 or n_columns * BLOCK >= 1 << 32
        if n_columns == 0 or too_large:
            return None
        nodes = np.empty(len(feature), CODED_NODE)
        # Leaves of graded trees may have any.
        nodes["at"] = output > 0 if output.ndim == 1 else 0
        nodes["next"] = self._place << 8
        nodes["at"][inner] = column * BLOCK
        nodes["next"][inner] = left[inner].astype(np.uint32) << 8 | PER_COLUMN - code
        return TreeNodes(nodes, codings, thresholds, n_columns)


def _codings(feature, threshold, missing_right):
    """Return codings, their thresholds, column and code of every inner node, number of columns."""
    n_features = int(feature.max(initial=-1)) + 1
    order = np.argsort(feature.astype(np.min_scalar_type(n_features)), kind="stable")
    ends = np.cumsum(np.bincount(feature, minlength=n_features))
    column, code = np.empty(len(feature), np.uint32), np.empty(len(feature), np.uint32)
    codings, tables, n_table, n_columns = [], [np.zeros(0)], 0, 0
    for f, nodes in enumerate(np.split(order, ends[:-1])):
        distinct = np.unique(threshold[nodes])
        rank = np.searchsorted(distinct, threshold[nodes])
        chunk, code[nodes] = np.divmod(rank, PER_COLUMN)
        side = 2 * chunk + missing_right[nodes]
        first, n_chunks = 0, -(-len(distinct) // PER_COLUMN)
        used = np.bincount(side, minlength=2 * n_chunks) > 0
        of_side = np.where(used, n_columns + np.cumsum(used) - 1, -1)
        column[nodes] = of_side[side]
        n_columns += int(used.sum())
        for low, high in of_side.reshape(-1, 2).tolist():
            part = distinct[first : first + PER_COLUMN]
            steps = len(part).bit_length()
            codings.append((n_table, steps, f, low, high))
            tables += [part, np.full((1 << steps) - 1 - len(part), np.inf)]
            n_table, first = n_table + (1 << steps) - 1, first + PER_COLUMN
    return np.array(codings, CODING), np.concatenate(tables), column, code, n_columns
