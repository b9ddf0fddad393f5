"""The model while training adds to it: the same for column generation and for its rivals."""

from collections.abc import Mapping, Sequence

import numpy as np

from cwboost.ensemble.model import Ensemble
from cwboost.ensemble.path import PathBuilder
from cwboost.families.contract import WeakLearners

HISTORY_NAMES = (
    "learning_rate",
    "objective",
    "dual_bound",
    "gap",
    "max_violation",
    "n_nonzero",
    "pricing_seconds",
    "solver_seconds",
    "train_error",
    "valid_error",
)
"""What every round of training is recorded by."""


class GrowingEnsemble:
    """Weak learners, the path of their coefficients, held-out scores and history.

    A round joins the model in one step, the last of `end_round`. An interrupt at any moment
    therefore leaves the model of the rounds that were finished. The scores are those of the
    classes, or of the bits of a code; every one of `held_out` (`HeldOutScores`) follows the
    rounds, and the history has its metrics. `extra_names` are names of history arrays besides
    `HISTORY_NAMES`.
    """

    def __init__(self, n_scores: int, held_out: Sequence = (), extra_names: Sequence[str] = ()):
        self.n_scores = n_scores
        self.held_out = held_out
        self.n_learners = 0
        measured = [name for scores in held_out for name in scores.names]
        names = (*HISTORY_NAMES, *extra_names, *measured)
        self._history_names = tuple(dict.fromkeys(names))
        self._batches: list[WeakLearners] = []
        self._edges: list[np.ndarray] = []
        self._path = PathBuilder()
        self._offsets: list[np.ndarray] = []
        self._entries: list[Mapping] = []

    @property
    def n_rounds(self) -> int:
        """Number of finished rounds."""
        return self._path.n_rounds

    @property
    def history(self) -> dict[str, list[float]]:
        """One list per name, with one entry per finished round; NaN if a round has no value."""
        entries = self._entries[: self.n_rounds]
        return {name: [e.get(name, np.nan) for e in entries] for name in self._history_names}

    @property
    def latest(self) -> dict[str, float]:
        """The history's entry of the last finished round."""
        entry = self._entries[self.n_rounds - 1]
        return {name: entry.get(name, np.nan) for name in self._history_names}

    def amend_latest(self, **values) -> None:
        """Replace values in the history's entry of the last finished round."""
        self._entries[self.n_rounds - 1] = {**self._entries[self.n_rounds - 1], **values}

    def add_learners(self, learners: WeakLearners, edges) -> np.ndarray:
        """Add weak learners, all with coefficient zero, and the edges at which they were priced.

        Return their indices among all learners of the model.
        """
        ids = np.arange(self.n_learners, self.n_learners + len(learners))
        self._batches.append(learners)
        self._edges.append(np.asarray(edges, dtype=np.float64))
        self.n_learners += len(learners)
        for scores in self.held_out:
            scores.add(learners)
        return ids

    def forget_learners(self) -> None:
        """Let all weak learners go; their numbers stay taken."""
        self._batches.clear()

    def end_round(self, ids, score_index, values, before, entry, offset=None) -> None:
        """Add a round to the model.

        The round changes the coefficient of learner ``ids[e]`` for score ``score_index[e]`` to
        ``values[e]`` from ``before[e]``, NaN if a learner is new. `entry` has its values of the
        history, and `offset`, (n_scores,), is what it adds to the scores of every example.
        """
        moves = np.where(np.isnan(before), values, values - before)
        for scores in self.held_out:
            entry = {**entry, **scores.move(ids, score_index, moves, offset)}
        if offset is not None or self._offsets:
            before = self._offsets[self.n_rounds - 1] if self.n_rounds else 0.0
            self._offsets[self.n_rounds :] = [before + (0.0 if offset is None else offset)]
        self._entries[self.n_rounds :] = [entry]
        self._path.append(ids, score_index, values, self.n_learners)

    def ensemble(self) -> Ensemble:
        """Return the model of the finished rounds."""
        path = self._path.path()
        # Learners of a training without rounds may be of another form than those that follow.
        batches = [batch for batch in self._batches if len(batch)] or self._batches[:1]
        learners = type(batches[0]).concatenate(batches)
        edges = np.concatenate(self._edges)
        self._batches, self._edges = [learners], [edges]
        if len(learners) > path.n_learners:
            learners, edges = learners.take(np.arange(path.n_learners)), edges[: path.n_learners]
        offsets = None
        if self._offsets:
            offsets = np.array([np.zeros(self.n_scores), *self._offsets[: path.n_rounds]])
        return Ensemble(learners, path, self.n_scores, edges, offsets)

    def resume(self, ensemble: Ensemble, history: Mapping) -> None:
        """Go on from a fitted model; `history` has one array per name.

        The present held-out examples are measured after each of its rounds.
        """
        self._path = PathBuilder(ensemble.path)
        self._entries = [
            dict(zip(history, entry)) for entry in zip(*(map(float, a) for a in history.values()))
        ]
        self.add_learners(ensemble.learners, ensemble.edges)
        shifts = [None] * ensemble.n_rounds
        if ensemble.offsets is not None:
            self._offsets = list(ensemble.offsets[1:])
            shifts = list(np.diff(ensemble.offsets, axis=0))
        for scores in self.held_out:
            # Round by round, as when it was trained, so that the scores have the same bits.
            rounds = zip(self._entries, ensemble.path.changes(self.n_scores), shifts)
            for entry, changes, shift in rounds:
                entry |= scores.move(*changes, shift)
