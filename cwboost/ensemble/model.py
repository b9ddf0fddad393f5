"""The fitted model: weak learners, and the coefficients that every round gave them.

Training appends to a `PathBuilder`; the `CoefficientPath` it yields has what each round changed,
so that scores are available for any number of first rounds. The same `Ensemble` serves class-wise
boosting (one non-zero coefficient per learner) and the baselines, whose learners vote for several
classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from cwboost.ensemble.moving_scores import MovingScores
from cwboost.ensemble.path import CoefficientPath
from cwboost.families.contract import WeakLearners

LEARNERS_PREFIX = "learners."


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
        The edge with which each learner was priced, as a share of all weight before the first
        round; of a tree in whose leaves all classes step, the sum of theirs.
    offsets : ndarray of shape (n_rounds + 1, n_scores), dtype float64, optional
        What the first ``r`` rounds add to the scores of every example, in row ``r``. For boosters
        whose votes for -1 and +1 differ in size, with zeros in row 0, and for a model without
        rounds, whose one row holds the scores of the class prior. None is zeros.
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
                f"learners must be the {self.path.n_learners} of the path, got {len(self.learners)}"
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
        """Return the coefficients after `n_rounds` rounds (None: all).

        Returns
        -------
        csr_array of shape (n_learners, n_scores), dtype float64
        """
        coef = self.path.coef(self.n_scores, n_rounds)
        coef.resize((len(self.learners), self.n_scores))
        return coef

    def used(self, n_rounds=None) -> tuple[np.ndarray, WeakLearners, sparse.csr_array]:
        """Return the learners that have a coefficient: indices, batch and coefficients."""
        coef = self.path.coef(self.n_scores, n_rounds)
        used = np.flatnonzero(np.diff(coef.indptr))
        if len(used) == len(self.learners):
            return used, self.learners, coef
        return used, self.learners.take(used), coef[used]

    def offset(self, n_rounds=None) -> np.ndarray:
        """Return what the first rounds add to the scores of every example, shape (n_scores,)."""
        n_rounds = self.path.check_rounds(n_rounds)
        return np.zeros(self.n_scores) if self.offsets is None else self.offsets[n_rounds]

    def scores(self, X, n_rounds=None, n_threads: int = 1) -> np.ndarray:
        """Return the scores ``sum_j coef[j, s] h_j(x)`` plus the offset of s.

        The bits are the same for any chunks of rows and any number of threads.

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
        """Return the function, prepared by the family, that computes `scores`; cache the last."""
        n_rounds = self.path.check_rounds(n_rounds)
        cached = self._scorer
        if cached is None or cached[0] != n_rounds:
            _, learners, coef = self.used(n_rounds)
            scorer = learners.scorer(coef)
            if self.offsets is not None:
                scorer = _with_offset(scorer, self.offsets[n_rounds])
            cached = n_rounds, scorer
            self._scorer = cached
        return cached[1]

    def staged_scores(self, X) -> Iterator[np.ndarray]:
        """Yield the scores after each round, each in a new array as returned by `scores`.

        A round costs ``n_samples`` times the number of changed coefficients. A learner's outputs
        are computed once and kept as one bit per example while later rounds need them. The scores
        equal `scores` up to rounding, since coefficients enter as differences.
        """
        last_use = np.full(len(self.learners), -1)
        rounds = np.repeat(np.arange(self.n_rounds), np.diff(self.path.round_offsets))
        np.maximum.at(last_use, self.path.column, rounds)
        moving = MovingScores(X.shape[0], self.n_scores)
        for r, (columns, targets, steps) in enumerate(self.path.changes(self.n_scores)):
            distinct = np.unique(columns)
            new = distinct[~moving.is_kept(distinct)]
            moving.keep(new, self.learners.take(new), X)
            moving.move(columns, targets, steps)
            moving.drop(distinct[last_use[distinct] <= r])
            scores = moving.scores.copy()
            yield scores if self.offsets is None else scores + self.offsets[r + 1]

    def class_wise(self) -> Ensemble:
        """Return the model with the signs of graded learners, one learner per output.

        Itself, if no learner is graded. Output c of learner j becomes learner
        ``j * n_outputs + c`` and keeps its coefficients, as if its outputs had been -1 and +1. It
        has no edge: that of learner j is the sum over the classes.
        """
        if not self.learners.is_graded:
            return self
        learners, path = self.learners.signs(), self.path
        k = len(learners) // len(self.learners)
        column = (path.column * k + path.score_index % k).astype(np.int32)
        path = replace(path, column=column, learners_offsets=path.learners_offsets * k)
        return Ensemble(learners, path, self.n_scores, offsets=self.offsets)

    def truncate(self, n_rounds: int) -> Ensemble:
        """Return the model of the first `n_rounds` rounds, without the later learners."""
        path = self.path.truncate(n_rounds)
        learners = self.learners.take(np.arange(path.n_learners))
        edges = None if self.edges is None else self.edges[: path.n_learners].copy()
        offsets = None if self.offsets is None else self.offsets[: path.n_rounds + 1].copy()
        return Ensemble(learners, path, self.n_scores, edges, offsets)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything that `from_arrays` needs, as flat arrays."""
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
        of_ensemble = {
            name: a for name, a in arrays.items() if not name.startswith(LEARNERS_PREFIX)
        }
        of_learners = {
            name.removeprefix(LEARNERS_PREFIX): arrays[name] for name in arrays.keys() - of_ensemble
        }
        learners = learners_type.from_arrays(of_learners, n_features)
        optional = {name: of_ensemble.pop(name, None) for name in ("edges", "offsets")}
        for name, array in optional.items():
            if array is not None and not (array.dtype == np.float64 and np.isfinite(array).all()):
                raise ValueError(f"{name} must be finite float64 numbers")
        path = CoefficientPath.from_arrays(of_ensemble, len(learners), n_scores, staged)
        _check_outputs(learners, path, n_scores)
        return cls(learners, path, n_scores, **optional)


def _check_outputs(learners: WeakLearners, path: CoefficientPath, n_scores: int) -> None:
    """Check that graded learners have an output for every score, or for the second of two."""
    trees = learners.flat_form() if learners.is_graded else None
    if trees is None:
        return
    if trees.n_outputs not in ({1, 2} if n_scores == 2 else {n_scores}):
        raise ValueError(f"output must have {n_scores} numbers per node, got {trees.n_outputs}")
    if (path.score_index < n_scores - trees.n_outputs).any():
        raise ValueError("score_index must be that of a score with an output, got 0")


def _with_offset(scorer, offset: np.ndarray):
    """Return `scorer` with the same row added to every example's scores."""

    def shifted(X, n_threads: int = 1) -> np.ndarray:
        return scorer(X, n_threads) + offset

    return shifted
