"""The coefficient path: the changes of the coefficients in each round of training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cwboost.families.arrays import check_arrays

PATH_ARRAYS = {
    "round_offsets": ("int64", ("n_offsets",)),
    "learners_offsets": ("int64", ("n_offsets",)),
    "column": ("int32", ("n_entries",)),
    "score_index": ("int32", ("n_entries",)),
    "value": ("float64", ("n_entries",)),
}
LARGEST_COEF = 1e100  # no sum of such overflows; training never comes near


@dataclass(frozen=True)
class CoefficientPath:
    """The changes of the coefficients in each round.

    Round ``r`` (from 0) set ``coef[column[e], score_index[e]] = value[e]`` for every entry ``e``
    in ``round_offsets[r]:round_offsets[r + 1]`` and left the others unchanged. Every coefficient
    starts at 0. Entries of a round are sorted by column, then score.

    Parameters
    ----------
    round_offsets : ndarray of shape (n_rounds + 1,), dtype int64
    learners_offsets : ndarray of shape (n_rounds + 1,), dtype int64
        ``learners_offsets[r]`` learners were known after the first ``r`` rounds.
    column, score_index : ndarray of shape (n_entries,), dtype int32
    value : ndarray of shape (n_entries,), dtype float64
    staged : bool, default=True
        False if only the coefficients after the last round are kept (see `final`).
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

    def check_rounds(self, n_rounds, name: str = "n_rounds") -> int:
        """Return `n_rounds` as an int in ``0..self.n_rounds``; None means all of them.

        An error calls it `name`.
        """
        if n_rounds is None:
            return self.n_rounds
        if isinstance(n_rounds, bool) or not isinstance(n_rounds, (int, np.integer)):
            raise TypeError(f"{name} must be an integer or None, got {n_rounds!r}")
        if not 0 <= n_rounds <= self.n_rounds:
            raise ValueError(
                f"{name} must lie in 0..{self.n_rounds} (the rounds of this model), got {n_rounds}"
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
        """Return the coefficients after the first `n_rounds` rounds, without stored zeros.

        The rows are those of the learners known by then.
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
        """Return the path of the first `n_rounds` rounds."""
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
        """Return the path with only the last, non-zero value of each coefficient.

        The number of rounds is unchanged, but the result raises an error if asked for fewer rounds.
        """
        coef = self.coef(n_scores)
        offsets = np.zeros(self.n_rounds + 1, np.int64)
        offsets[-1] = coef.nnz
        column = np.repeat(np.arange(coef.shape[0], dtype=np.int32), np.diff(coef.indptr))
        return CoefficientPath(
            offsets, self.learners_offsets, column, coef.indices.astype(np.int32), coef.data, False
        )

    def changes(self, n_scores: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield columns, score indices and differences of the values per round."""
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
        """Return the five flat arrays by name."""
        return {name: getattr(self, name) for name in PATH_ARRAYS}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], n_learners: int, n_scores: int, staged: bool = True
    ) -> CoefficientPath:
        """Rebuild a path from arrays that may be damaged or hostile; an error names the array."""
        path = cls(*map(np.ascontiguousarray, check_arrays(arrays, PATH_ARRAYS)), staged=staged)
        _check_offsets("round_offsets", path.round_offsets, len(path.column))
        _check_offsets("learners_offsets", path.learners_offsets, n_learners)
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
    """A `CoefficientPath` that grows round by round; it may continue another `path`.

    A round joins the path in one step, so that an interrupt leaves a path of whole rounds.
    """

    def __init__(self, path: CoefficientPath | None = None):
        if path is None:
            no_rounds = np.zeros(1, np.int64)
            no_entries = [np.zeros(0, dtype) for dtype in (np.int32, np.int32, np.float64)]
            path = CoefficientPath(no_rounds, no_rounds, *no_entries)
        path._require_stages()
        self._start = path
        self._rounds: list[tuple] = []

    @property
    def n_rounds(self) -> int:
        return self._start.n_rounds + len(self._rounds)

    def append(self, columns, score_index, values, n_learners: int) -> None:
        """Record a round: new values of distinct coefficients, 0 to remove a learner.

        `n_learners` are known after this round, those of earlier rounds included. The arrays are
        kept as they are, so that none of them may change.
        """
        self._rounds.append((columns, score_index, values, n_learners))

    def path(self) -> CoefficientPath:
        """Return the path of the rounds so far."""
        start = self._start
        rounds = [(start.column, start.score_index, start.value, start.n_learners), *self._rounds]
        *entries, known = zip(*rounds)
        ends = np.cumsum([len(values) for values in entries[2]])
        round_offsets = np.append(start.round_offsets, ends[1:])
        learners_offsets = np.append(start.learners_offsets, known[1:]).astype(np.int64)
        column, score_index, value = map(np.concatenate, entries)
        column, score_index = column.astype(np.int32), score_index.astype(np.int32)
        n_scores = int(score_index.max(initial=0)) + 1
        keys = np.repeat(np.arange(self.n_rounds), np.diff(round_offsets)) * known[-1] + column
        order = np.argsort(keys * n_scores + score_index)
        parts = column[order], score_index[order], value[order]
        return CoefficientPath(round_offsets, learners_offsets, *parts)
