"""Sets of held-out examples whose scores follow the rounds."""

from __future__ import annotations

from collections.abc import Mapping

from cwboost.estimator.examples import VALID, HeldOut
from cwboost.estimator.held_out.metrics import ERROR, LOGLOSS, Metric
from cwboost.estimator.held_out.scores import HeldOutScores

__all__ = ["followed_sets"]


def followed_sets(
    held_out: Mapping[str, HeldOut], classes, watched: Metric | None, base
) -> list[HeldOutScores]:
    """Return the scores of held-out sets, which start from `base` or from zero.

    The history has the error and the watched metric of all, and the log loss of evaluation sets,
    which are all but "valid".
    """
    found = []
    for name, (X, y, weight) in held_out.items():
        usual = [ERROR] if name == VALID else [ERROR, LOGLOSS]
        # Each once, in this order.
        metrics = {metric.name: metric for metric in (*usual, watched) if metric is not None}
        found.append(
            HeldOutScores(
                X=X,
                y=y,
                n_scores=len(classes),
                weight=weight,
                classes=classes,
                name=name,
                metrics=tuple(metrics.values()),
                base=None if base is None else base(X),
            )
        )
    return found
