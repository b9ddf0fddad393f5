"""A batch of fitted trees."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import cwboost
from cwboost.kernels import CategorySets, TreeEvaluator, rows_for_trees

__all__ = ["TreeLearners"]

OF_NODES = ("feature", "threshold", "left", "missing", "output", "gain")
NAMES = ("offsets", *OF_NODES)
SETS = {"set_start", "set_bits"}


class TreeLearners(cwboost.WeakLearners):
    """Fitted binary trees with leaves -1 and +1, or graded ones, as flat arrays.

    Tree ``t`` has the nodes ``offsets[t]:offsets[t + 1]``, its root first; children come after
    their parent, the right one directly after the left. At an inner node an example goes right if
    ``x[feature] > threshold``, or if ``x[feature]`` is NaN and ``missing`` is +1.

    Parameters
    ----------
    offsets : ndarray of shape (n_trees + 1,), dtype int64
    feature : ndarray of shape (n_nodes,), dtype int32
        -1 in a leaf.
    threshold : ndarray of shape (n_nodes,), dtype float64
        Never NaN; +inf keeps every value left, so that only NaN may go right. 0 in a leaf.
    left : ndarray of shape (n_nodes,), dtype int32
        The left child's place among the nodes of its tree; -1 in a leaf.
    missing : ndarray of shape (n_nodes,), dtype int8
        +1 or -1; 0 in a leaf.
    output : ndarray of shape (n_nodes,), dtype int8
        Output of a leaf, -1 or +1, of graded trees -127 to 127; 0 in an inner node.
    gain : ndarray of shape (n_nodes,), dtype float32
        What a comparison gained in edge, less what chance gives, as a fraction of the edge; 0 in a
        leaf.
    n_features : int
    category_sets : CategorySets of length n_nodes, default=None
        Sets of the nodes that test categories: their codes go right, and the threshold is 0.
    """

    def __init__(
        self,
        offsets,
        feature,
        threshold,
        left,
        missing,
        output,
        gain,
        n_features: int,
        category_sets: CategorySets | None = None,
    ):
        self.offsets = offsets
        self.feature = feature
        self.threshold = threshold
        self.left = left
        self.missing = missing
        self.output = output
        self.gain = gain
        self.n_features = n_features
        has_sets = category_sets is not None and len(category_sets.bits) > 0
        self.category_sets = category_sets if has_sets else None
        self._evaluator = None

    def __getstate__(self):
        # The evaluator is rebuilt from the arrays and is not worth storing.
        return {**self.__dict__, "_evaluator": None}

    def __len__(self):
        return len(self.offsets) - 1

    @property
    def is_graded(self):
        return self.flat_form().is_graded

    def graded(self, outputs):
        leaf = self.feature < 0
        return self._with_outputs(np.where(leaf, outputs, 0).astype(np.int8))

    def outputs_of_cells(self, cells):
        """Return the outputs of the cells of each tree, (n_trees, n_rows)."""
        return self.output[self.offsets[:-1, None] + cells]

    def signs(self):
        if not self.is_graded:
            return self
        signs = np.where(self.feature < 0, np.where(self.output < 0, -1, 1), 0)
        return _merged(self._with_outputs(signs.astype(np.int8)))

    def _with_outputs(self, outputs):
        return self.of_nodes(self.arrays() | {"output": outputs}, n_features=self.n_features)

    def outputs(self, X):
        return self._evaluate().outputs(self._check(X))

    def scorer(self, coef):
        coef = sparse.csr_array(coef, dtype=np.float64)
        if coef.shape[0] != len(self):
            raise ValueError(f"coef: expected {len(self)} rows, got shape {coef.shape}")
        evaluator = self._evaluate()

        def scorer(X, n_threads: int = 1):
            return evaluator.scores(self._check(X), coef, n_threads)

        return scorer

    def flat_form(self):
        return cwboost.ThresholdTrees.from_nodes(self.arrays())

    def arrays(self):
        arrays = {name: getattr(self, name) for name in NAMES}
        if self.category_sets is not None:
            sets = self.category_sets
            arrays |= {"set_start": sets.start, "set_bits": sets.bits}
        return arrays

    @classmethod
    def of_nodes(cls, nodes, n_features: int):
        """Return learners from arrays by name, those of the category sets among them if any."""
        own = dict(nodes)
        sets = CategorySets(own.pop("set_start"), own.pop("set_bits")) if set(own) >= SETS else None
        return cls(**own, n_features=n_features, category_sets=sets)

    @classmethod
    def from_arrays(cls, arrays, n_features):
        if set(arrays) not in (set(NAMES), set(NAMES) | SETS):
            raise ValueError(
                f"trees have the arrays {sorted(NAMES)}, and may have {sorted(SETS)}, got "
                f"{sorted(arrays)}"
            )
        cwboost.ThresholdTrees.from_nodes(arrays).check(n_features)
        own = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        return cls.of_nodes(own, n_features)

    def take(self, indices):
        indices = np.asarray(indices, dtype=np.int64)
        sizes = np.diff(self.offsets)[indices]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        nodes = np.arange(offsets[-1]) + np.repeat(self.offsets[indices] - offsets[:-1], sizes)
        parts = {name: getattr(self, name)[nodes] for name in OF_NODES}
        sets = None if self.category_sets is None else self.category_sets.take(nodes)
        return TreeLearners(offsets, **parts, n_features=self.n_features, category_sets=sets)

    @classmethod
    def concatenate(cls, batches):
        if len(batches) == 1:
            return batches[0]
        if len({batch.n_features for batch in batches}) != 1:
            raise ValueError("batches: expected trees on the same number of features")
        sizes = np.concatenate([np.diff(batch.offsets) for batch in batches])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        parts = {
            name: np.concatenate([getattr(batch, name) for batch in batches]) for name in OF_NODES
        }
        sets = None
        if any(batch.category_sets is not None for batch in batches):
            sets = CategorySets.concatenate(
                [batch.category_sets or CategorySets.none(len(batch.feature)) for batch in batches]
            )
        return cls(offsets, **parts, n_features=batches[0].n_features, category_sets=sets)

    def _evaluate(self):
        if self._evaluator is None:
            self._evaluator = TreeEvaluator(**self.flat_form().nodes(), n_features=self.n_features)
        return self._evaluator

    def _check(self, X):
        """Check X and return it in a form that the evaluator reads."""
        if X.shape[1] != self.n_features:
            raise ValueError(f"X: expected {self.n_features} features, got {X.shape[1]}")
        return rows_for_trees(X)


def _merged(learners: TreeLearners) -> TreeLearners:
    """Return trees in which subtrees whose leaves have one output are leaves."""
    root = np.repeat(learners.offsets[:-1], np.diff(learners.offsets))
    child, output = root + learners.left, learners.output.copy()
    inner = np.flatnonzero(learners.feature >= 0)
    while True:
        own = output[child[inner]]
        equal = (own != 0) & (own == output[child[inner] + 1])
        if not equal.any():
            break
        output[inner[equal]] = own[equal]
        inner = inner[~equal]
    # The nodes that a root leads to, one level at a time.
    reached, level = np.zeros(len(output), dtype=bool), learners.offsets[:-1]
    while len(level):
        reached[level] = True
        level = child[level[output[level] == 0]]
        level = np.concatenate([level, level + 1])
    kept = np.flatnonzero(reached)
    new = np.cumsum(reached) - 1
    is_leaf = output[kept] != 0
    offsets = np.append(new[learners.offsets[:-1]], len(kept))
    parts = {name: getattr(learners, name)[kept] for name in OF_NODES}
    for name in ("feature", "threshold", "left", "missing", "gain"):
        parts[name][is_leaf] = -1 if name in ("feature", "left") else 0
    parts["left"][~is_leaf] = (new[child[kept]] - new[root[kept]])[~is_leaf]
    parts["output"] = output[kept]
    sets = learners.category_sets
    if sets is not None:
        joined = CategorySets.concatenate([sets, CategorySets.none(1)])
        sets = joined.take(np.where(is_leaf, len(sets), kept))
    return TreeLearners(offsets, **parts, n_features=learners.n_features, category_sets=sets)
