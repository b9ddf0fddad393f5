"""Scores of held-out examples, followed round by round."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cwboost.calibration.calibration import LeftOut
from cwboost.calibration.metrics import ERROR, LOGLOSS, Metric
from cwboost.ensemble.moving_scores import MovingScores
from cwboost.families.contract import WeakLearners
from cwboost.fitted_model import FittedModel
from cwboost.input.examples import VALID, HeldOut
from cwboost.support.lazy import made_once


@dataclass(eq=False)
class HeldOutScores:
    """Scores of a growing ensemble on examples that it is not trained on.

    `y`, `masses` and `groups` are those of `HeldOut`. `decode` maps scores of the ensemble,
    `n_scores` per example, to those of the classes; without it they are the same. `weight` counts
    in every metric, `classes` are the labels, for metrics that are scorers, and `base` the scores
    that boosting starts from. Learners compare the `features`, which are X if they are None.
    `class_scores`, (n_samples, n_classes), float64, are the current scores of the classes.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    masses: np.ndarray | None
    groups: np.ndarray | None
    n_scores: int
    decode: Callable | None = None
    classes: np.ndarray | None = None
    name: str = VALID
    metrics: Sequence[Metric] = (ERROR,)
    base: np.ndarray | None = None
    features: Any = None

    def __post_init__(self):
        self._moving = MovingScores(len(self.y), self.n_scores)
        self._n_learners = 0
        self.class_scores = None

    @made_once
    def left_out(self) -> LeftOut:
        """What measures a model on these examples."""
        return LeftOut.of(self)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the history's arrays that `move` gives."""
        return tuple(f"{self.name}_{metric.name}" for metric in self.metrics)

    def add(self, learners: WeakLearners) -> None:
        """Compute the outputs of new learners and keep them."""
        ids = np.arange(self._n_learners, self._n_learners + len(learners))
        self._moving.keep(ids, learners, self.X if self.features is None else self.features)
        self._n_learners += len(learners)

    def move(self, ids, score_index, differences, offset=None) -> dict[str, float]:
        """Follow changed coefficients, learner ``ids[e]`` for ``score_index[e]``.

        `offset` is added to every example's scores. Return the metrics by name.
        """
        self._moving.move(np.asarray(ids), score_index, differences)
        if offset is not None:
            self._moving.shift(offset)
        scores = np.ascontiguousarray(self._moving.scores)
        if self.base is not None:
            scores = scores + self.base
        self.class_scores = scores if self.decode is None else self.decode(scores)
        return self.measures()

    def measures(self) -> dict[str, float]:
        """Return the metrics of the current scores by name."""
        return {name: metric.of(self) for name, metric in zip(self.names, self.metrics)}

    def calibrated(self, model: FittedModel, fits_scale: bool) -> FittedModel:
        """Return the model calibrated on these examples, unless they are an evaluation set."""
        if self.name != VALID:
            return model
        scores = model.scores(self.X)
        return self.left_out.calibrated(model, scores, fits_scale)


def held_out_scores(
    held_out: Mapping[str, HeldOut],
    classes,
    *,
    n_scores: int,
    decode: Callable | None = None,
    metric: Metric | None = None,
    base: Callable | None = None,
    features: Callable | None = None,
) -> list[HeldOutScores]:
    """Return the scores of held-out sets, which start from ``base(X)``, if given.

    Learners compare ``features(X)``, or X.

    The history has the error and the `metric` of all, and the log loss of evaluation sets,
    which are all but "valid".
    """
    sets = []
    for name, examples in held_out.items():
        usual = [ERROR] if name == VALID else [ERROR, LOGLOSS]
        # Each once, in this order.
        metrics = {each.name: each for each in (*usual, metric) if each is not None}
        sets.append(
            HeldOutScores(
                *examples,
                n_scores=n_scores,
                decode=decode,
                classes=classes,
                name=name,
                metrics=tuple(metrics.values()),
                base=None if base is None else base(examples.X),
                features=None if features is None else features(examples.X),
            )
        )
    return sets
