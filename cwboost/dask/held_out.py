"""Held-out examples on the workers: their scores come to the client after every round."""

from __future__ import annotations

import numpy as np

from cwboost.estimator.held_out.calibration import fit_scale
from cwboost.estimator.held_out.metrics import ERROR
from cwboost.estimator.held_out.scores import HeldOutScores, HeldOutSets

__all__ = ["PartitionedHeldOut", "PartitionedSets"]


class PartitionedHeldOut(HeldOutScores):
    """Scores of examples that are divided into partitions, whose features stay on the workers.

    Parameters
    ----------
    crew : Crew
    classes : ndarray of shape (n_classes,)
    watched : Metric or None
        The metric of early stopping.
    """

    def __init__(self, crew, classes, watched):
        self._crew = crew
        (labels,) = crew.ask(("labels", ()))
        metrics = {metric.name: metric for metric in (ERROR, watched) if metric is not None}
        super().__init__(
            None,
            np.concatenate(labels),
            len(classes),
            classes=classes,
            metrics=tuple(metrics.values()),
        )
        self._new: list = []

    def add(self, learners) -> None:
        """Note new learners; their outputs are computed with the next move."""
        ids = np.arange(self._n_learners, self._n_learners + len(learners))
        self._n_learners += len(learners)
        self._new.append((learners, ids))

    def follow(self, ids, score_index, differences, offset=None) -> None:
        """Follow changed coefficients; see the base."""
        new, self._new = self._new, []
        moved = np.asarray(ids), np.asarray(score_index), np.asarray(differences)
        keep = [("keep_outputs", batch) for batch in new if len(batch[1])]
        *_, self._scores = self._crew.ask(*keep, ("follow", moved))

    def move(self, ids, score_index, differences, offset=None) -> dict[str, float]:
        """Follow changed coefficients and return the metrics by name; see the base."""
        self.follow(ids, score_index, differences)
        self.class_scores = np.concatenate(self._scores)
        return {name: metric.of(self) for name, metric in zip(self.names, self._metrics)}

    def scale_of(self, ensemble) -> float:
        """Return the scale of the probabilities of `ensemble`, fitted on these examples."""
        (parts,) = self._crew.ask(("scores", (ensemble,)))
        return fit_scale(np.concatenate(parts), self.y, self.weight)


class PartitionedSets(HeldOutSets):
    """The one set of held-out examples that `DaskCWBoostClassifier` follows."""

    def scale(self, ensemble) -> float:
        return self.sets[0].scale_of(ensemble)
