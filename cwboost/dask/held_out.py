"""Held-out examples on the workers: their scores come to the client after every round."""

from __future__ import annotations

import numpy as np

from cwboost.dask.master import PartitionedMaster, sum_in_order
from cwboost.dask.training import PartitionedPricer, PartitionedTraining, PartitionSampler
from cwboost.ensemble.model import Ensemble
from cwboost.estimator.held_out import pilot
from cwboost.estimator.held_out.calibration import fit_scale
from cwboost.estimator.held_out.metrics import ERROR, LOGLOSS, Metric
from cwboost.estimator.held_out.scores import HeldOutScores, HeldOutSets

__all__ = ["VALID", "PartitionedSets", "pilot_scale", "role_of_set"]

VALID = "held-out"
"""The role of the partitions of `X_val`."""

MOST_LEFT_OUT = 20_000
"""Largest number of examples whose scores a pilot sends to the client."""


def role_of_set(name: str) -> str:
    """Return the role of the partitions of an evaluation set."""
    return f"eval_sets[{name!r}]"


class PartitionedSets(HeldOutSets):
    """Sets of held-out examples whose features stay on the workers.

    Parameters
    ----------
    crew : Crew
    classes : ndarray of shape (n_classes,)
    names : dict of str
        The name of each set in the history, by its role.
    watched : Metric or None
        The metric of early stopping.

    Raises
    ------
    ValueError
        If a set has no examples, or no weight.
    """

    def __init__(self, crew, classes, names, watched: Metric | None):
        self._crew = crew
        (parts,) = crew.ask(("labels", ()))
        self._role_of_part = [role for role, _, _ in parts]
        sets = []
        for role, name in names.items():
            own = [(y, weight) for of, y, weight in parts if of == role]
            y, weight = _joined(role, own)
            usual = [ERROR] if role == VALID else [ERROR, LOGLOSS]
            metrics = {metric.name: metric for metric in (*usual, watched) if metric is not None}
            options = {"weight": weight, "classes": classes, "name": name}
            metrics = tuple(metrics.values())
            sets.append(HeldOutScores(None, y, len(classes), metrics=metrics, **options))
        super().__init__(sets)
        self._roles = list(names)
        self._n_learners = 0
        self._new: list = []

    def add(self, learners) -> None:
        """Note new learners; their outputs are computed with the next move."""
        ids = np.arange(self._n_learners, self._n_learners + len(learners))
        self._n_learners += len(learners)
        self._new.append((learners, ids))

    def follow(self, ids, score_index, differences, offset=None) -> None:
        """Follow changed coefficients in every set, in one exchange; see the base."""
        new, self._new = self._new, []
        moved = np.asarray(ids), np.asarray(score_index), np.asarray(differences)
        keep = [("keep_outputs", batch) for batch in new if len(batch[1])]
        *_, parts = self._crew.ask(*keep, ("follow", moved))
        for role, one in zip(self._roles, self.sets):
            own = [part for of, part in zip(self._role_of_part, parts) if of == role]
            one.class_scores = np.concatenate(own)

    def move(self, ids, score_index, differences, offset=None) -> dict[str, float]:
        """Follow changed coefficients in every set; return the metrics by name."""
        self.follow(ids, score_index, differences)
        return {name: value for one in self.sets for name, value in one.measures().items()}

    def scale(self, ensemble: Ensemble) -> float | None:
        """Return the scale of the probabilities, fitted on `X_val`; None if there is none."""
        if not self.has_valid:
            return None
        (parts,) = self._crew.ask(("scores", (ensemble, VALID)))
        valid = self.sets[self._roles.index(VALID)]
        return fit_scale(np.concatenate(parts), valid.y, valid.weight)


def _joined(role, parts):
    """Return classes and weights of the examples of a set."""
    if not parts:
        raise ValueError(f"the {role} data have no rows: all partitions are empty")
    y = np.concatenate([y for y, _ in parts])
    if parts[0][1] is None:
        return y, None
    weight = np.concatenate([weight for _, weight in parts])
    if not weight.sum() > 0:
        raise ValueError(f"the weights of the {role} data leave no example: all are zero")
    return y, weight


def pilot_scale(training: PartitionedTraining, C: float) -> float:
    """Return the scale of the probabilities of a trained model, from a pilot.

    See `cwboost.estimator.held_out.pilot`. Each partition leaves out a fifth of its examples of
    each class. The partitions have the state of the pilot afterwards.

    Parameters
    ----------
    training : PartitionedTraining
        Finished.
    C : float
    """
    rng, crew = training.rng, training.master.crew
    (parts,) = training.master.ask(("spread", ()))
    variances, weights = sum_in_order(parts)
    loss = training.master.mean_loss
    crew.forget()
    n_samples = training.pricer.n_samples
    plan = pilot.plan_of_pilot(training.settings, C, training.n_rounds, n_samples)
    short = _pilot(training, plan.settings, C, int(rng.integers(2**63)))
    while short.n_rounds < plan.n_rounds and short.round():
        pass
    (parts,) = short.master.ask(("left_out", (max(1, MOST_LEFT_OUT // len(parts)),)))
    scores, y, weight = (np.concatenate(part) for part in zip(*parts))
    if not len(y):
        return pilot.LOSS_SCALE
    own = fit_scale(scores, y, weight, pilot.PRIOR)
    losses = short.master.mean_loss, loss
    return pilot.scale_of_model(own, losses, variances / weights, n_samples)


def _pilot(training, settings, C, seed) -> PartitionedTraining:
    """Return a training on the same partitions, without a share of their examples."""
    crew, pricer = training.master.crew, training.pricer
    leave_out = pilot.SHARE_LEFT_OUT, pilot.NEGLIGIBLE, seed
    (masses,) = crew.ask(("leave_out", leave_out))
    keeps = training.master.keeps_columns
    master = PartitionedMaster(crew, sum_in_order(masses), C, keeps_columns=keeps)
    own = PartitionedPricer(master, pricer.plan, pricer.family, pricer.n_samples, training.rng)
    sampler = PartitionSampler(settings.subsample, some_left_out=True)
    return PartitionedTraining(own, master, settings, training.rng, sampler=sampler)
