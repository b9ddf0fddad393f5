"""Scores of held-out examples, followed round by round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cwboost.ensemble.moving_scores import MovingScores
from cwboost.estimator.held_out.calibration import calibrated
from cwboost.estimator.held_out.metrics import ERROR, Metric
from cwboost.families.contract import WeakLearners
from cwboost.fitted_model import FittedModel

__all__ = ["HeldOutScores", "HeldOutSets"]


class HeldOutScores:
    """Scores of a growing ensemble on examples that it is not trained on.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), int
        Class index of each example.
    n_scores : int
        Number of scores of the ensemble: that of the classes, unless `decode` is given.
    decode : callable, default=None
        Maps scores of the ensemble to scores of the classes, both with one row per example.
    weight : ndarray of shape (n_samples,), float64, default=None
        Weights of the examples in every metric; None for equal ones.
    classes : ndarray of shape (n_classes,), default=None
        Labels of the classes, for metrics that are scorers.
    name : str, default="valid"
    metrics : sequence of Metric, default=(ERROR,)
    base : ndarray of shape (n_samples, n_scores), float64, default=None
        Base scores of the examples; None for zeros.

    Attributes
    ----------
    class_scores : ndarray of shape (n_samples, n_classes), float64
        Current scores of the classes.
    """

    def __init__(
        self,
        X,
        y,
        n_scores: int,
        decode=None,
        *,
        weight=None,
        classes=None,
        name: str = "valid",
        metrics: Sequence[Metric] = (ERROR,),
        base=None,
    ):
        self.X, self.y, self.weight, self.classes = X, y, weight, classes
        self._decode = decode
        self.name, self._metrics = name, tuple(metrics)
        self._moving = MovingScores(len(y), n_scores)
        self._base = base
        self._n_learners = 0
        self.class_scores = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the history's arrays that `move` gives."""
        return tuple(f"{self.name}_{metric.name}" for metric in self._metrics)

    def add(self, learners: WeakLearners) -> None:
        """Compute the outputs of new learners and keep them."""
        ids = np.arange(self._n_learners, self._n_learners + len(learners))
        self._moving.keep(ids, learners, self.X)
        self._n_learners += len(learners)

    def move(self, ids, score_index, differences, offset=None) -> dict[str, float]:
        """Follow changed coefficients, learner ``ids[e]`` for ``score_index[e]``.

        `offset` is added to every example's scores. Return the metrics by name.
        """
        self._moving.move(np.asarray(ids), score_index, differences)
        if offset is not None:
            self._moving.shift(offset)
        scores = np.ascontiguousarray(self._moving.scores)
        if self._base is not None:
            scores = scores + self._base
        self.class_scores = scores if self._decode is None else self._decode(scores)
        return self.measures()

    def measures(self) -> dict[str, float]:
        """Return the metrics of the current scores by name."""
        return {name: metric.of(self) for name, metric in zip(self.names, self._metrics)}


class HeldOutSets:
    """Several sets of held-out examples, followed together."""

    def __init__(self, sets: Sequence[HeldOutScores]):
        self.sets = tuple(sets)

    @property
    def valid(self) -> HeldOutScores | None:
        """The held-out examples that are no evaluation set; None if there are none."""
        return next((one for one in self.sets if one.name == "valid"), None)

    def calibrated(self, model: FittedModel, fits_scale: bool) -> FittedModel:
        """Return the model calibrated on "valid", which must be there."""
        one = self.valid
        return calibrated(model, model.scores(one.X), one.y, one.weight, fits_scale)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the history's arrays that `move` gives."""
        return tuple(name for one in self.sets for name in one.names)

    def add(self, learners: WeakLearners) -> None:
        """Take up new learners in every set."""
        for one in self.sets:
            one.add(learners)

    def move(self, ids, score_index, differences, offset=None) -> dict[str, float]:
        """Follow changed coefficients in every set; return the metrics by name."""
        found = {}
        for one in self.sets:
            found |= one.move(ids, score_index, differences, offset)
        return found
