"""Exact search for trees of depth 2 over coarse bins."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from cwboost._kernels.trees.binning import group_values
from cwboost._kernels.trees.pairs import MOST_LANES, best_roots
from cwboost.kernels.binned_matrix import BinnedMatrix
from cwboost.kernels.threads import usable_threads
from cwboost.kernels.weight_scales import weight_scales


@dataclass(frozen=True)
class _Split:
    """A split of a feature: the codes that go left, and on which side missing values go."""

    feature: int
    bin: int  # the last one that goes left
    missing_left: bool
    left: float  # the sum of the weights on either side
    right: float


class DepthTwoSearch:
    """The best tree of depth 2 for each target: features, bins and sides of missing values.

    Parameters
    ----------
    binned : BinnedMatrix
        Its bins are merged to coarse ones, of about equal counts.
    max_bins : int
        Largest number of coarse bins, 2 to 256, including that of missing values.
    sets : ndarray of shape (n_sets, n_features), dtype bool, default=None
        Root and child lie in one of these sets of features; None for one set of all.
    n_threads : int, default=1
        Does not change the bits of results.

    Notes
    -----
    See ``_kernels/trees/pairs.h`` for the search. It is exact for up to `MOST_FEATURES` features
    that vary; of more, the pairs of the `FEW_FEATURES` that divide the rows best alone. Leaves of
    no weight are +1; two leaves of one sign are one.
    """

    MOST_FEATURES, FEW_FEATURES = 64, 24
    """Features of which all pairs are searched; and of how many, if there are more: time grows with
    the square, and so many lose nothing."""

    def __init__(self, binned: BinnedMatrix, max_bins: int, sets=None, n_threads: int = 1):
        self._bins, self._n_threads = binned.bins, usable_threads(n_threads)
        self._features = binned.bins.usable
        coarse = [_coarse(binned, f, max_bins) for f in self._features.tolist()]
        self._codes = np.array([codes for codes, _ in coarse], dtype=np.uint8)
        self._codes = self._codes.reshape(len(coarse), binned.n_rows)
        self._last_fine = [last for _, last in coarse]
        self._n_bins = np.array([len(last) for last in self._last_fine], dtype=np.int64)
        self._n_codes = self._n_bins + binned.bins.has_nan[self._features]
        in_set = None if sets is None else sets[:, self._features]
        self._allowed = (
            None if in_set is None else (in_set[:, :, None] & in_set[:, None]).any(axis=0)
        )

    def search(self, weights) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """Return the best trees.

        Parameters
        ----------
        weights : ndarray of shape (n_targets, n_rows), dtype float64

        Returns
        -------
        nodes : dict of ndarray
            As from `TreeGrower.grow`.
        packed : ndarray of shape (n_targets, ceil(n_rows / 8)), dtype uint8
            Outputs on the rows.
        edges : ndarray of shape (n_targets,), dtype float64
        """
        scales = weight_scales(np.abs(weights).sum(axis=1))
        whole = np.rint(weights * scales[:, None])
        trees, outputs, edges = _Nodes(), [], []
        for start in range(0, len(whole), MOST_LANES):
            lanes = whole[start : start + MOST_LANES]
            for target, root in zip(lanes, self._roots(lanes)):
                output, edge = self._grow(target, root, trees)
                outputs.append(output)
                edges.append(edge)
        packed = np.packbits(np.array(outputs) > 0, axis=1, bitorder="little")
        return trees.arrays(), packed, np.array(edges) / scales

    def _roots(self, weights) -> list[tuple[int, int, int, int] | None]:
        """Return root, split and the children on both sides of each target; None for a leaf."""
        if not len(self._features):
            return [None] * len(weights)
        n_lanes = 1 << (len(weights) - 1).bit_length()
        rows = np.zeros((weights.shape[1], n_lanes))
        rows[:, : len(weights)] = weights.T
        every = np.arange(len(self._features), dtype=np.int32)
        if len(every) > self.MOST_FEATURES:
            alone, _, _ = self._best(rows, np.stack([every, every], axis=1))
            best = np.array([totals.max(axis=0) for totals in alone])[:, : len(weights)]
            strength = (best / np.maximum(best.max(axis=0), 1.0)).max(axis=1)
            few = np.argsort(-strength, kind="stable")[: self.FEW_FEATURES]
            every = np.sort(few).astype(np.int32)
        pairs = np.array(list(combinations_with_replacement(every, 2)), dtype=np.int32)
        if self._allowed is not None:
            pairs = pairs[self._allowed[pairs[:, 0], pairs[:, 1]]]
        totals, children, n_splits = self._best(rows, pairs)
        place = np.concatenate(totals).argmax(axis=0)
        starts = np.cumsum(n_splits) - n_splits
        roots = []
        for lane in range(len(weights)):
            f = int(np.searchsorted(starts, place[lane], side="right")) - 1
            s = int(place[lane] - starts[f])
            roots.append((f, s, *children[f][:, s, lane].tolist()))
        return roots

    def _best(self, rows, pairs):
        """Return per feature the edges of all roots, (n_splits, n_lanes), and their children."""
        edges, children = best_roots(
            self._codes, self._n_bins, self._n_codes, rows, pairs, self._n_threads
        )
        has_missing = self._n_codes > self._n_bins
        n_splits, n_lanes = self._n_bins * (1 + has_missing), rows.shape[1]
        ends = np.cumsum(2 * n_splits * n_lanes)[:-1]
        totals = []
        for own, n, n_bins, missing in zip(
            np.split(edges, ends), n_splits, self._n_bins, has_missing
        ):
            total = own.reshape(2, n, n_lanes).sum(axis=0)
            # These leave one side empty.
            total[-1 if missing else n_bins - 1] = -np.inf
            totals.append(total)
        children = [
            own.reshape(2, n, n_lanes) for own, n in zip(np.split(children, ends), n_splits)
        ]
        return totals, children, n_splits

    def _grow(self, weights, root, trees: _Nodes) -> tuple[np.ndarray, float]:
        """Add the tree of a root to `trees`; return its outputs on the rows and its edge."""
        if root is None:
            total = weights.sum()
            trees.begin()
            trees.leaf(0, total)
            return np.full(len(weights), 1 if total >= 0 else -1, dtype=np.int8), abs(total)
        f, s, *children = root
        n_bins = int(self._n_bins[f])
        every = np.ones(len(weights), dtype=bool)
        split = self._split_at(weights, every, f, s % n_bins, s >= n_bins)
        goes_left = self._goes_left(split)
        trees.begin()
        places = trees.compare(0, *self._comparison(split, weights, every))
        outputs, edge = np.empty(len(weights), dtype=np.int8), 0.0
        for place, rows, child in zip(places, (goes_left, ~goes_left), children):
            sums = self._add_child(trees, place, weights, rows, int(child), outputs)
            edge += sum(map(abs, sums))
        return outputs, edge

    def _add_child(self, trees, place: int, weights, rows, child: int, outputs) -> list[float]:
        """Add the best stump of a feature on some rows; return the sums of its leaves."""
        split = self._best_split(weights, rows, child)
        if split is None or (split.left >= 0) == (split.right >= 0):
            total = float(weights[rows].sum())
            trees.leaf(place, total)
            outputs[rows] = 1 if total >= 0 else -1
            return [total]
        goes_left, sums = self._goes_left(split), [split.left, split.right]
        for at, total, side in zip(
            trees.compare(place, *self._comparison(split, weights, rows)),
            sums,
            (goes_left, ~goes_left),
        ):
            trees.leaf(at, total)
            outputs[rows & side] = 1 if total >= 0 else -1
        return sums

    def _sums(self, weights, rows, f: int) -> np.ndarray:
        """Return the sum of the weights per code of a feature, over some rows."""
        return np.bincount(self._codes[f][rows], weights[rows], minlength=self._n_codes[f])

    def _best_split(self, weights, rows, f: int) -> _Split | None:
        """Return the best split of a feature on some rows, None if it has none."""
        n_bins = int(self._n_bins[f])
        sums = self._sums(weights, rows, f)
        below, total = sums[:n_bins].cumsum(), sums.sum()
        lefts = [below[: n_bins - 1]]
        if len(sums) > n_bins:
            lefts = [below, below[: n_bins - 1] + sums[n_bins]]
        left = np.concatenate(lefts)
        if not len(left):
            return None
        at = int(np.argmax(np.abs(left) + np.abs(total - left)))
        missing_left = at >= len(lefts[0])
        b = at - len(lefts[0]) if missing_left else at
        return _Split(f, b, missing_left, float(left[at]), float(total - left[at]))

    def _split_at(self, weights, rows, f: int, b: int, missing_left: bool) -> _Split:
        sums = self._sums(weights, rows, f)
        left = sums[: b + 1].sum() + (sums[self._n_bins[f] :].sum() if missing_left else 0.0)
        return _Split(f, b, missing_left, float(left), float(sums.sum() - left))

    def _goes_left(self, split: _Split) -> np.ndarray:
        codes = self._codes[split.feature]
        left = codes <= split.bin
        return left | (codes == self._n_bins[split.feature]) if split.missing_left else left

    def _comparison(self, split: _Split, weights, rows) -> tuple[int, float, int]:
        """Return feature, threshold and side of missing values of a split, for `ThresholdTrees`.

        If none of the rows is missing, missing values go to the heavier side.
        """
        f, n_bins = split.feature, int(self._n_bins[split.feature])
        feature, threshold = int(self._features[f]), np.inf
        if split.bin < n_bins - 1:
            last = np.array([self._last_fine[f][split.bin]])
            threshold = float(self._bins.thresholds(np.array([feature]), last)[0])
        side = -1 if split.missing_left else 1
        if not (self._codes[f][rows] == n_bins).any():
            masses = self._sums(np.abs(weights), rows, f)
            side = -1 if 2 * masses[: split.bin + 1].sum() >= masses.sum() else 1
        return feature, threshold, side


def _coarse(binned: BinnedMatrix, f: int, max_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the coarse codes of a feature, and the last bin of `binned` in each of them."""
    codes, n_bins = binned.column(f), int(binned.bins.n_bins[f])
    counts = np.bincount(codes, minlength=n_bins + 1)[:n_bins].astype(np.int64)
    most = max(1, max_bins - int(binned.bins.has_nan[f]))
    _, last = group_values(np.arange(n_bins, dtype=np.float64), counts, most)
    last = last.astype(np.int64)
    place = np.searchsorted(last, np.arange(n_bins + 1)).astype(np.uint8)
    return place[codes], last


class _Nodes:
    """Nodes of trees, as `ThresholdTrees` has them."""

    def __init__(self):
        self._offsets: list[int] = []
        self._nodes: list[list] = []

    def begin(self) -> None:
        """Begin a tree with its root."""
        self._offsets.append(len(self._nodes))
        self._nodes.append([])

    def leaf(self, place: int, total: float) -> None:
        """Make a node of the present tree a leaf with the sign of a sum."""
        self._nodes[self._offsets[-1] + place] = [-1, 0.0, -1, 0, 1 if total >= 0 else -1]

    def compare(self, place: int, feature: int, threshold: float, missing: int) -> tuple[int, int]:
        """Make a node of the present tree compare a feature; return the places of its children."""
        left = len(self._nodes) - self._offsets[-1]
        self._nodes[self._offsets[-1] + place] = [feature, threshold, left, missing, 0]
        self._nodes += [[], []]
        return left, left + 1

    def arrays(self) -> dict[str, np.ndarray]:
        dtypes = {
            "feature": np.int32,
            "threshold": np.float64,
            "left": np.int32,
            "missing": np.int8,
            "output": np.int8,
        }
        columns = zip(*self._nodes)
        arrays = {
            name: np.array(column, dtype=dtype)
            for (name, dtype), column in zip(dtypes.items(), columns)
        }
        offsets = np.array([*self._offsets, len(self._nodes)], dtype=np.int64)
        return {"offsets": offsets, **arrays}
