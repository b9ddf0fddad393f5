"""The layouts of a batch of trees: one for values of features, one for their codes."""

from __future__ import annotations

import numpy as np

from cwboost._kernels.prediction.coded_nodes import CodedNodes, laid_out_for_codes
from cwboost._kernels.prediction.tree_nodes import FlatNodes, laid_out, laid_out_graded
from cwboost.support.lazy import made_once

__all__ = ["TreeLayouts"]

MAX_NODES_BY_SET = 255
"""A tree with more inner nodes than this is walked, since a row meets few of them."""

MAX_GRADED = 64
"""A graded tree with more inner nodes than this is walked by codes."""

ROWS_WORTH_CODES, TREES_WORTH_CODES = 64, 64
"""Fewer rows do not repay the search for codes, nor do fewer trees or no more than features."""

ROWS_PER_NODE = 8
"""Rows per node of a tree that repay the layout for codes if there is one for values."""


class TreeLayouts:
    """The layouts of a batch of trees, each made for the first rows that need it.

    Threads that share a model may both make one; either serves. Python exchanges an attribute
    whole, which holds for no field of an extension type unless one thread runs at a time.

    Parameters
    ----------
    trees : tuple of ndarray
        offsets, feature, threshold, left, missing and output, as for `TreeEvaluator`.
    places : ndarray of shape (n_features + 1,), dtype int32
        The column, among those in use, of each feature; -1 in the last entry.
    sets : ndarray of int
        The inner nodes that test categories.
    max_reached : int
        Trees of more inner nodes than this are walked by codes.

    Attributes
    ----------
    is_graded : bool
        True if a leaf has another output than -1 and +1.
    """

    def __init__(self, trees, places: np.ndarray, sets: np.ndarray, max_reached: int):
        self._trees, self._places = trees, places
        self._sets = sets
        self.is_graded = bool((np.abs(trees[-1][trees[1] < 0]) != 1).any())
        self._max_reached = min(max_reached, MAX_GRADED) if self.is_graded else max_reached
        n_trees, n_used = len(trees[0]) - 1, int(places.max()) + 1
        self._suits_codes = not len(sets) and n_trees >= max(TREES_WORTH_CODES, n_used)
        self._n_rows = 0  # of all calls that would have used codes

    def for_rows(self, n_rows: int) -> FlatNodes | CodedNodes:
        """Return the nodes for codes if these are worth their search, else those for values."""
        if not self._suits_codes or n_rows < ROWS_WORTH_CODES:
            return self._flat
        self._n_rows += n_rows
        made = self.__dict__
        # Nodes for values, if there are any, serve until others repay their making.
        if "_coded" not in made and "_flat" in made:
            n_trees = len(self._trees[0]) - 1
            if self._n_rows * n_trees < ROWS_PER_NODE * len(self._flat.nodes):
                return self._flat
        return self._coded or self._flat

    @made_once
    def _flat(self) -> FlatNodes:
        if self.is_graded:
            return laid_out_graded(*self._columns(), self._sets)
        return laid_out(*self._columns(), self._sets, MAX_NODES_BY_SET)

    @made_once
    def _coded(self) -> CodedNodes | None:
        return laid_out_for_codes(*self._columns(), self._max_reached, self.is_graded)

    def _columns(self):
        """Return the arrays with columns for features."""
        offsets, feature, *others = self._trees
        return offsets, self._places[feature], *others
