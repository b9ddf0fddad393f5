"""Which examples are held out: those given to `fit`, those split off, and evaluation sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.model_selection import train_test_split

from cwboost.ensemble.growing import HISTORY_NAMES
from cwboost.estimator.held_out.metrics import ERROR, LOGLOSS, Metric
from cwboost.estimator.held_out.scores import HeldOutScores
from cwboost.estimator.problem import Problem

__all__ = ["check_eval_sets", "followed_sets", "split_off"]


def check_eval_sets(eval_sets) -> dict[str, tuple]:
    """Check the argument `eval_sets` of `fit`; return (X, y, weight or None) by name."""
    if eval_sets is None:
        return {}
    wanted = "eval_sets must be a dict of (X, y) or (X, y, sample_weight) by name"
    if not isinstance(eval_sets, Mapping):
        raise TypeError(f"{wanted}, got {eval_sets!r}")
    found = {}
    for name, given in eval_sets.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"{wanted}, got the name {name!r}")
        if f"{name}_error" in HISTORY_NAMES:
            raise ValueError(
                f"eval_sets may not have the name {name!r}: history_ has a {name}_error already"
            )
        if not isinstance(given, Sequence) or len(given) not in (2, 3):
            raise TypeError(f"{wanted}, got {type(given).__name__} for {name!r}")
        found[name] = (*given, None)[:3]
    return found


def split_off(problem: Problem, classes, fraction: float, random_state):
    """Hold out a part of the training examples, stratified.

    Return the problem of those that stay, and (X, y, weight) of the others, whose weights are None
    if all are equal.
    """
    if (alone := classes[problem.counts == 1]).size:
        raise ValueError(
            "early_stopping holds out examples of every class, but of class "
            f"{alone[0]!s} there is only one; pass X_val and y_val"
        )
    n_samples = len(problem.y)
    n_held = math.ceil(fraction * n_samples)
    if min(n_held, n_samples - n_held) < len(classes):
        raise ValueError(
            f"validation_fraction must hold out and leave one example of each of {len(classes)} "
            f"classes; {fraction} of {n_samples} examples are {n_held}: change it, or pass X_val "
            "and y_val"
        )
    given = {"test_size": fraction, "stratify": problem.y, "random_state": random_state}
    kept, held = train_test_split(np.arange(n_samples), **given)
    kept.sort()
    weight = None if (problem.weight == problem.weight[0]).all() else problem.weight[held]
    return problem.take(kept), (problem.X(held), problem.y[held], weight)


def followed_sets(examples: Mapping, classes, watched: Metric | None, base) -> list[HeldOutScores]:
    """Return the scores that training follows.

    `examples` are (X, y, weight) by name. The history has the error and the watched metric of all,
    and the log loss of evaluation sets, which are all but "valid". Training starts from `base`.
    """
    sets = []
    for name, (X, y, weight) in examples.items():
        usual = [ERROR] if name == "valid" else [ERROR, LOGLOSS]
        # Each once, in this order.
        metrics = {metric.name: metric for metric in (*usual, watched) if metric is not None}
        own_base = None if base is None else base(X)
        given = weight, classes, name, tuple(metrics.values()), own_base
        sets.append(HeldOutScores(X, y, len(classes), None, *given))
    return sets
