"""The fitted model: weak learners, and the coefficients that every round gave them.

Training appends to a `PathBuilder`; the `CoefficientPath` it yields says what each round changed,
so that any number of first rounds can be asked for scores. The same `Ensemble` serves class-wise
boosting (one non-zero coefficient a learner) and the rivals whose learners vote for several
classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from cwboost.families import WeakLearners

__all__ = ["CoefficientPath", "Ensemble", "PathBuilder"]

PATH_DTYPES = {
    "round_offsets": np.dtype(np.int64),
    "learners_offsets": np.dtype(np.int64),
    "column": np.dtype(np.int32),
    "score_index": np.dtype(np.int32),
    "value": np.dtype(np.float64),
}
LEARNERS_PREFIX = "learners."
CELLS_A_CHUNK = 2**22
LARGEST_COEF = 1e100  # no sum of such overflows; training never comes near


@dataclass(frozen=True)
class CoefficientPath:
    """What each round did to the coefficients.

    Round ``r`` (from 0) set ``coef[column[e], score_index[e]] = value[e]`` for every entry ``e``
    in ``round_offsets[r]:round_offsets[r + 1]``; what it does not name it left as it was, and
    every coefficient starts at 0. Entries of a round are sorted by column, then score.

    Parameters
    ----------
    round_offsets : ndarray of shape (n_rounds + 1,), dtype int64
    learners_offsets : ndarray of shape (n_rounds + 1,), dtype int64
        ``learners_offsets[r]`` learners were known after the first ``r`` rounds.
    column, score_index : ndarray of shape (n_entries,), dtype int32
    value : ndarray of shape (n_entries,), dtype float64
    staged : bool, default=True
        False where only the coefficients after the last round are kept (see `final`).
    """

    round_offsets: np.ndarray
    learners_offsets: np.ndarray
    column: np.ndarray
    score_index: np.ndarray
    value: np.ndarray
    staged: bool = True

    @property
    def n_rounds(self) -> int:
        return len(self.round_offsets) - 1

    @property
    def n_learners(self) -> int:
        return int(self.learners_offsets[-1])

    def check_rounds(self, n_rounds) -> int:
        """`n_rounds` as an int in ``0..self.n_rounds``, with None for all of them."""
        if n_rounds is None:
            return self.n_rounds
        if isinstance(n_rounds, bool) or not isinstance(n_rounds, (int, np.integer)):
            raise TypeError(f"n_rounds must be an integer or None, got {n_rounds!r}")
        if not 0 <= n_rounds <= self.n_rounds:
            raise ValueError(
                f"n_rounds must lie in 0..{self.n_rounds} (the rounds of this model), "
                f"got {n_rounds}"
            )
        if n_rounds < self.n_rounds:
            self._require_stages()
        return int(n_rounds)

    def _require_stages(self) -> None:
        if not self.staged:
            raise ValueError(
                "this model was saved without the coefficients of its earlier rounds; "
                "save it with staged=True to predict with fewer rounds"
            )

    def coef(self, n_scores: int, n_rounds=None) -> sparse.csr_array:
        """Coefficients after the first `n_rounds` rounds, without stored zeros.

        Returns
        -------
        csr_array of shape (learners known by then, n_scores), dtype float64
        """
        n_rounds = self.check_rounds(n_rounds)
        end = int(self.round_offsets[n_rounds])
        keys = self.column[:end].astype(np.int64) * n_scores + self.score_index[:end]
        # The first occurrence in reversed order is the last value given.
        keys, last = np.unique(keys[::-1], return_index=True)
        values = self.value[:end][::-1][last]
        keys, values = keys[values != 0], values[values != 0]
        n_learners = int(self.learners_offsets[n_rounds])
        row, col = np.divmod(keys, n_scores)
        indptr = np.searchsorted(row, np.arange(n_learners + 1))
        return sparse.csr_array(
            (values, col.astype(np.int32), indptr.astype(np.int32)), shape=(n_learners, n_scores)
        )

    def truncate(self, n_rounds: int) -> CoefficientPath:
        """The path of the first `n_rounds` rounds alone."""
        n_rounds = self.check_rounds(n_rounds)
        end = int(self.round_offsets[n_rounds])
        return CoefficientPath(
            self.round_offsets[: n_rounds + 1].copy(),
            self.learners_offsets[: n_rounds + 1].copy(),
            self.column[:end].copy(),
            self.score_index[:end].copy(),
            self.value[:end].copy(),
            self.staged,
        )

    def final(self, n_scores: int) -> CoefficientPath:
        """The same model without its history: only the last, non-zero value of a coefficient.

        The number of rounds stays; asking for fewer of them is an error from then on, except
        where no coefficient ever changed twice, when nothing is lost and nothing is dropped.
        """
        coef = self.coef(n_scores)
        if coef.nnz == len(self.value):
            return self
        offsets = np.zeros(self.n_rounds + 1, np.int64)
        offsets[-1] = coef.nnz
        column = np.repeat(np.arange(coef.shape[0], dtype=np.int32), np.diff(coef.indptr))
        return CoefficientPath(
            offsets, self.learners_offsets, column, coef.indices.astype(np.int32), coef.data, False
        )

    def changes(self, n_scores: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """What each round adds: columns, score indices and differences to the value before."""
        self._require_stages()
        keys = self.column.astype(np.int64) * n_scores + self.score_index
        order = np.argsort(keys, kind="stable")
        before = np.zeros(len(keys))
        again = keys[order[1:]] == keys[order[:-1]]
        before[order[1:][again]] = self.value[order[:-1][again]]
        difference = self.value - before
        for start, end in zip(self.round_offsets[:-1], self.round_offsets[1:]):
            part = slice(start, end)
            yield self.column[part], self.score_index[part], difference[part]

    def arrays(self) -> dict[str, np.ndarray]:
        """The five flat arrays by name."""
        return {name: getattr(self, name) for name in PATH_DTYPES}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], n_learners: int, n_scores: int, staged: bool = True
    ) -> CoefficientPath:
        """Rebuild a path from arrays that may be damaged or hostile.

        Raises
        ------
        ValueError
            Naming the array and what is wrong with it.
        """
        if set(arrays) != set(PATH_DTYPES):
            raise ValueError(
                f"a coefficient path has the arrays {sorted(PATH_DTYPES)}, got {sorted(arrays)}"
            )
        for name, dtype in PATH_DTYPES.items():
            if arrays[name].dtype != dtype or arrays[name].ndim != 1:
                raise ValueError(
                    f"{name} must be one-dimensional {dtype}, got {arrays[name].dtype} of shape "
                    f"{arrays[name].shape}"
                )
        path = cls(
            **{name: np.ascontiguousarray(arrays[name]) for name in PATH_DTYPES}, staged=staged
        )
        _check_offsets("round_offsets", path.round_offsets, len(path.column))
        _check_offsets("learners_offsets", path.learners_offsets, n_learners)
        if len(path.learners_offsets) != len(path.round_offsets):
            raise ValueError("learners_offsets and round_offsets must have the same length")
        if len(path.score_index) != len(path.column) or len(path.value) != len(path.column):
            raise ValueError("column, score_index and value must have the same length")
        path._check_entries(n_scores)
        return path

    def _check_entries(self, n_scores: int) -> None:
        """Check entries against the rounds: `from_arrays` has checked the offsets."""
        rounds = np.repeat(np.arange(self.n_rounds), np.diff(self.round_offsets))
        if np.any(self.column < 0) or np.any(self.column >= self.learners_offsets[rounds + 1]):
            raise ValueError("column names a learner that its round does not know")
        if np.any(self.score_index < 0) or np.any(self.score_index >= n_scores):
            raise ValueError(f"score_index must lie in 0..{n_scores - 1}")
        if not np.all(np.abs(self.value) <= LARGEST_COEF):
            raise ValueError(f"value must be finite and at most {LARGEST_COEF} in size")
        keys = self.column.astype(np.int64) * n_scores + self.score_index
        if np.any((np.diff(keys) <= 0) & (np.diff(rounds) == 0)):
            raise ValueError("the entries of a round must be sorted and distinct")


def _check_offsets(name: str, offsets: np.ndarray, total: int) -> None:
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != total:
        raise ValueError(f"{name} must start at 0 and end at {total}")
    # Compared, not subtracted: a difference of hostile numbers may wrap around.
    if np.any(offsets[1:] < offsets[:-1]):
        raise ValueError(f"{name} must not decrease")


class PathBuilder:
    """A `CoefficientPath` that grows by one round at a time, at a cost of what the round changes.

    Parameters
    ----------
    path : CoefficientPath, optional
        Where to go on from; without it the builder starts before the first round.
    """

    def __init__(self, path: CoefficientPath | None = None):
        self._entries = {name: np.empty(64, PATH_DTYPES[name]) for name in PATH_DTYPES}
        self._sizes = dict.fromkeys(PATH_DTYPES, 0)
        if path is None:
            self._extend("round_offsets", [0])
            self._extend("learners_offsets", [0])
        else:
            path._require_stages()
            for name, array in path.arrays().items():
                self._extend(name, array)

    @property
    def n_rounds(self) -> int:
        return self._sizes["round_offsets"] - 1

    def append(self, columns, score_index, values, n_learners: int) -> None:
        """Record a round.

        Parameters
        ----------
        columns : array-like of int, shape (n_changes,)
        score_index : array-like of int, shape (n_changes,)
        values : array-like of float, shape (n_changes,)
            The coefficients' new values; 0 takes a learner out.
        n_learners : int
            Learners known after this round; those of earlier rounds included.
        """
        columns, score_index = np.asarray(columns), np.asarray(score_index)
        values = np.asarray(values, dtype=np.float64)
        if not len(columns) == len(score_index) == len(values):
            raise ValueError(
                "columns, score_index and values must have the same length, got "
                f"{len(columns)}, {len(score_index)} and {len(values)}"
            )
        known = int(self._entries["learners_offsets"][self.n_rounds])
        if n_learners < known:
            raise ValueError(f"n_learners must be at least {known}, as before, got {n_learners}")
        order = np.lexsort((score_index, columns))
        columns, score_index, values = columns[order], score_index[order], values[order]
        if np.any((np.diff(columns) == 0) & (np.diff(score_index) == 0)):
            raise ValueError("a round may name a coefficient once")
        if len(columns) and not 0 <= columns[0] <= columns[-1] < n_learners:
            raise ValueError(f"columns must lie in 0..{n_learners - 1}")
        self._extend("column", columns)
        self._extend("score_index", score_index)
        self._extend("value", values)
        self._extend("round_offsets", [self._sizes["column"]])
        self._extend("learners_offsets", [n_learners])

    def _extend(self, name: str, values) -> None:
        size, new_size = self._sizes[name], self._sizes[name] + len(values)
        if new_size > len(self._entries[name]):
            grown = np.empty(max(new_size, 2 * size), PATH_DTYPES[name])
            grown[:size] = self._entries[name][:size]
            self._entries[name] = grown
        self._entries[name][size:new_size] = values
        self._sizes[name] = new_size

    def path(self) -> CoefficientPath:
        """The rounds so far, as arrays of their own."""
        return CoefficientPath(
            **{name: self._entries[name][: self._sizes[name]].copy() for name in PATH_DTYPES}
        )


@dataclass(eq=False)
class Ensemble:
    """Weak learners with the path of their coefficients.

    Parameters
    ----------
    learners : WeakLearners
        All learners, in the order of the path's columns.
    path : CoefficientPath
    n_scores : int
        Number of scores of an example: the classes, or the bits of a code.
    edges : ndarray of shape (n_learners,), dtype float64, optional
        The edge with which each learner was priced; what `feature_importances_` weighs by.
    offsets : ndarray of shape (n_rounds + 1, n_scores), dtype float64, optional
        What the first ``r`` rounds add to the scores of every example, in row ``r``; row 0 is
        zero. For boosters whose votes for -1 and +1 differ in size. None is zeros.
    """

    learners: WeakLearners
    path: CoefficientPath
    n_scores: int
    edges: np.ndarray | None = None
    offsets: np.ndarray | None = None
    _scorer: tuple | None = field(default=None, init=False, repr=False)

    def __post_init__(self):
        if len(self.learners) != self.path.n_learners:
            raise ValueError(
                f"path speaks of {self.path.n_learners} learners, got {len(self.learners)}"
            )
        if self.edges is not None and self.edges.shape != (len(self.learners),):
            raise ValueError(
                f"edges must have shape ({len(self.learners)},), got {self.edges.shape}"
            )
        shape = (self.n_rounds + 1, self.n_scores)
        if self.offsets is not None and self.offsets.shape != shape:
            raise ValueError(f"offsets must have shape {shape}, got {self.offsets.shape}")

    def __getstate__(self):
        # A compiled evaluator is rebuilt from the rest in no time and is not worth storing.
        return {**self.__dict__, "_scorer": None}

    @property
    def n_rounds(self) -> int:
        return self.path.n_rounds

    def coef(self, n_rounds=None) -> sparse.csr_array:
        """Coefficients after `n_rounds` rounds (None: all).

        Returns
        -------
        csr_array of shape (n_learners, n_scores), dtype float64
        """
        coef = self.path.coef(self.n_scores, n_rounds)
        missing = len(self.learners) - coef.shape[0]
        indptr = np.concatenate([coef.indptr, np.full(missing, coef.nnz, coef.indptr.dtype)])
        return sparse.csr_array(
            (coef.data, coef.indices, indptr), shape=(len(self.learners), self.n_scores)
        )

    def scores(self, X, n_rounds=None, n_threads: int = 1) -> np.ndarray:
        """Scores ``sum_j coef[j, s] h_j(x)`` and the offset of s.

        The same bits for any chunking or thread count.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        n_rounds : int, optional
            Use the first rounds only.
        n_threads : int, default=1

        Returns
        -------
        ndarray of shape (n_samples, n_scores), dtype float64
        """
        return self.scorer(n_rounds)(X, n_threads)

    def scorer(self, n_rounds=None) -> Callable[..., np.ndarray]:
        """What computes `scores`, prepared by the family; the last one asked for is kept."""
        n_rounds = self.path.check_rounds(n_rounds)
        cached = self._scorer
        if cached is None or cached[0] != n_rounds:
            coef = self.path.coef(self.n_scores, n_rounds)
            used = np.flatnonzero(np.diff(coef.indptr))
            scorer = self.learners.take(used).scorer(coef[used])
            if self.offsets is not None:
                scorer = _with_offset(scorer, self.offsets[n_rounds])
            cached = n_rounds, scorer
            self._scorer = cached
        return cached[1]

    def staged_scores(self, X) -> Iterator[np.ndarray]:
        """Scores after each round, each an array of its own as `scores` returns it.

        A round costs ``n_samples`` times the coefficients it changed. A learner's outputs are
        computed once; while later rounds need them they are kept at one bit an example. Equal to
        `scores` up to rounding, since coefficients enter as differences.
        """
        n_samples = X.shape[0]
        last_use = np.full(len(self.learners), -1)
        rounds = np.repeat(np.arange(self.n_rounds), np.diff(self.path.round_offsets))
        np.maximum.at(last_use, self.path.column, rounds)
        bits: dict[int, np.ndarray] = {}
        scores = np.zeros((n_samples, self.n_scores))
        for r, (columns, targets, steps) in enumerate(self.path.changes(self.n_scores)):
            distinct, row = np.unique(columns, return_inverse=True)
            new = [int(c) for c in distinct if int(c) not in bits]
            if new:
                bits.update(zip(new, _packed_outputs(self.learners.take(new), X)))
            if len(distinct):
                packed = np.stack([bits[int(c)] for c in distinct])
                step = sparse.csr_array(
                    (steps, (row, targets)), shape=(len(distinct), self.n_scores)
                )
                _add_outputs(scores, packed, step)
            for c in distinct[last_use[distinct] <= r]:
                del bits[int(c)]
            yield scores.copy() if self.offsets is None else scores + self.offsets[r + 1]

    def truncate(self, n_rounds: int) -> Ensemble:
        """The model of the first `n_rounds` rounds, without the learners that came later."""
        path = self.path.truncate(n_rounds)
        learners = self.learners.take(np.arange(path.n_learners))
        edges = None if self.edges is None else self.edges[: path.n_learners].copy()
        offsets = None if self.offsets is None else self.offsets[: path.n_rounds + 1].copy()
        return Ensemble(learners, path, self.n_scores, edges, offsets)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything `from_arrays` needs, as flat arrays."""
        arrays = self.path.arrays()
        if self.edges is not None:
            arrays["edges"] = self.edges
        if self.offsets is not None:
            arrays["offsets"] = self.offsets
        learners = self.learners.arrays()
        return arrays | {LEARNERS_PREFIX + name: array for name, array in learners.items()}

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, np.ndarray],
        learners_type: type[WeakLearners],
        n_features: int,
        n_scores: int,
        staged: bool = True,
    ) -> Ensemble:
        """Rebuild an ensemble; every array is checked, those of the learners by their family.

        Raises
        ------
        ValueError
            Naming the array and what is wrong with it.
        """
        own = {name: a for name, a in arrays.items() if not name.startswith(LEARNERS_PREFIX)}
        theirs = {name.removeprefix(LEARNERS_PREFIX): arrays[name] for name in arrays.keys() - own}
        learners = learners_type.from_arrays(theirs, n_features)
        edges = own.pop("edges", None)
        if edges is not None and (edges.dtype != np.float64 or not np.all(np.isfinite(edges))):
            raise ValueError("edges must be finite float64 numbers")
        offsets = own.pop("offsets", None)
        if offsets is not None and (
            offsets.dtype != np.float64 or not np.all(np.isfinite(offsets))
        ):
            raise ValueError("offsets must be finite float64 numbers")
        path = CoefficientPath.from_arrays(own, len(learners), n_scores, staged)
        return cls(learners, path, n_scores, edges, offsets)


def _with_offset(scorer, offset: np.ndarray):
    """`scorer` with the same row added to every example's scores."""

    def shifted(X, n_threads: int = 1) -> np.ndarray:
        return scorer(X, n_threads) + offset

    return shifted


def _packed_outputs(learners: WeakLearners, X) -> np.ndarray:
    """Outputs as packed bits (see `pack_outputs`), computed a chunk of examples at a time."""
    n_samples = X.shape[0]
    packed = np.empty((len(learners), -(-n_samples // 8)), np.uint8)
    rows = max(8, CELLS_A_CHUNK // len(learners) // 8 * 8)
    for start in range(0, n_samples, rows):
        positive = learners.outputs(X[start : start + rows]) > 0
        part = np.packbits(positive.T, axis=1, bitorder="little")
        packed[:, start // 8 : start // 8 + part.shape[1]] = part
    return packed


def _add_outputs(scores: np.ndarray, packed: np.ndarray, step: sparse.csr_array) -> None:
    """``scores += outputs @ step``, unpacking a chunk of examples at a time."""
    n_samples = len(scores)
    rows = max(8, CELLS_A_CHUNK // len(packed) // 8 * 8)
    for start in range(0, n_samples, rows):
        part = packed[:, start // 8 : (start + rows) // 8]
        count = min(rows, n_samples - start)
        positive = np.unpackbits(part, axis=1, count=count, bitorder="little")
        scores[start : start + count] += (step.T @ (2.0 * positive - 1.0)).T
