"""Learners that are trees of comparisons, kept in their flat form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from cwboost.families.contract import WeakLearners, coef_of
from cwboost.families.flat_forms import DTYPES, ThresholdTrees
from cwboost.families.joined_trees import join_trees
from cwboost.kernels import TreeScores
from cwboost.support.types import Matrix

if TYPE_CHECKING:
    from typing_extensions import Self

NAMES = {*DTYPES}


class TreeLearners(WeakLearners):
    """A batch of trees that compare features; their cells are their nodes.

    Parameters
    ----------
    trees : ThresholdTrees
        Without directions.
    n_features : int
        Number of features of the matrices that the learners are for.
    """

    def __init__(self, trees: ThresholdTrees, n_features: int) -> None:
        self.trees = trees
        self.n_features = n_features
        self._evaluator: TreeScores | None = None

    def __getstate__(self):
        # What evaluates the trees is rebuilt from them and is not worth storing.
        return {**self.__dict__, "_evaluator": None}

    def __len__(self) -> int:
        return len(self.trees)

    @property
    def is_graded(self) -> bool:  # type: ignore[override]
        return self.trees.is_graded

    @property
    def cell_counts(self) -> np.ndarray:
        """Number of nodes of each tree, shape (n_trees,), int64."""
        return np.diff(self.trees.offsets)

    def graded(self, outputs: np.ndarray, cover: np.ndarray | None = None) -> Self:
        outputs = np.array(outputs, order="C")
        outputs[self.trees.feature >= 0] = 0
        cover = self.trees.cover if cover is None else cover
        return self._of(replace(self.trees, output=outputs, cover=cover))

    def signs(self) -> Self:
        if not self.is_graded:
            return self
        output, n_outputs = self.trees.output, self.trees.n_outputs
        each = join_trees([self.trees], np.repeat(np.arange(len(self)), n_outputs))
        parts = [
            output.reshape(len(output), n_outputs)[a:b].ravel("F")
            for a, b in pairwise(self.trees.offsets.tolist())
        ]
        signs = np.where(np.concatenate([output[:0].ravel(), *parts]) < 0, -1, 1).astype(np.int8)
        return self._of(_merged(self._of(each).graded(signs).trees))

    def outputs(self, X: Matrix) -> np.ndarray:
        return self._evaluated(X).outputs(X)

    def cells(self, X: Matrix) -> np.ndarray:
        return self._evaluated(X).cells(X)

    def _evaluated(self, X: Matrix) -> TreeScores:
        if X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} features, got {X.shape[1]}")
        if self._evaluator is None:
            self._evaluator = TreeScores(self.trees.nodes())
        return self._evaluator

    def scorer(self, coef: sparse.csr_array) -> TreeScores:
        return TreeScores(self.trees.nodes(), coef_of(self, coef))

    def flat_form(self) -> ThresholdTrees:
        return self.trees

    def arrays(self) -> dict[str, np.ndarray]:
        return self.trees.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int) -> Self:
        if arrays.keys() - {"cover"} != NAMES:
            raise ValueError(
                f"arrays of trees must be {sorted(NAMES)}, optionally with 'cover', got "
                f"{sorted(arrays)}"
            )
        ThresholdTrees(**arrays).check(n_features)
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        return cls(ThresholdTrees(**contiguous), n_features)

    def take(self, indices: np.ndarray) -> Self:
        return self._of(join_trees([self.trees], indices))

    @classmethod
    def concatenate(cls, batches: Sequence[Self]) -> Self:
        if len(batches) == 1:
            return batches[0]
        if len({(batch.n_features, batch.trees.output.shape[1:]) for batch in batches}) != 1:
            raise ValueError("batches must have the same numbers of features and of outputs")
        return batches[0]._of(join_trees([batch.trees for batch in batches]))

    def _of(self, trees: ThresholdTrees) -> Self:
        return type(self)(trees, self.n_features)


def _merged(trees: ThresholdTrees) -> ThresholdTrees:
    """Return trees in which subtrees whose leaves have one output are leaves."""
    root = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    child, output = root + trees.left, trees.output.copy()
    inner = np.flatnonzero(trees.feature >= 0)
    while True:
        own = output[child[inner]]
        equal = (own != 0) & (own == output[child[inner] + 1])
        if not equal.any():
            break
        output[inner[equal]] = own[equal]
        inner = inner[~equal]
    # The nodes that a root leads to, one level at a time.
    reached, level = np.zeros(len(output), dtype=bool), trees.offsets[:-1]
    while len(level):
        reached[level] = True
        level = child[level[output[level] == 0]]
        level = np.concatenate([level, level + 1])
    kept = np.flatnonzero(reached)
    new = np.cumsum(reached) - 1
    is_leaf = output[kept] != 0
    parts = {name: getattr(trees, name)[kept] for name in ("feature", "threshold", "missing")}
    for name, array in parts.items():
        array[is_leaf] = -1 if name == "feature" else 0
    if trees.cover is not None:
        parts["cover"] = np.where(is_leaf, trees.node_cover()[kept], 0).astype(np.float32)
    left = np.where(is_leaf, -1, new[child[kept]] - new[root[kept]]).astype(np.int32)
    offsets = np.append(new[trees.offsets[:-1]], len(kept))
    return ThresholdTrees(offsets, left=left, output=output[kept], **parts)
