"""Held-out examples on the workers: their scores come to the client after every round."""

from __future__ import annotations

import numpy as np

from cwboost.automatic import constants as at
from cwboost.automatic import recipe
from cwboost.dask.master import PartitionedMaster, sum_in_order
from cwboost.dask.training import PartitionedPricer, PartitionedTraining
from cwboost.estimator.held_out.calibration import calibrated
from cwboost.estimator.held_out.metrics import Metric
from cwboost.estimator.held_out.sets import followed_sets
from cwboost.fitted_model import FittedModel

__all__ = ["VALID", "PartitionedSets", "holdout_run"]

VALID = "held-out"
"""The role of the partitions of `X_val`."""


class PartitionedSets:
    """Sets of held-out examples whose features stay on the workers, by their role."""

    def __init__(self, crew, classes, names, watched: Metric | None):
        self._crew = crew
        (parts,) = crew.ask(("labels", ()))
        self._role_of_part = [role for role, _, _ in parts]
        examples = {}
        for role, name in names.items():
            own = [(y, weight) for of, y, weight in parts if of == role]
            examples[name] = None, *_joined(role, own)
        self._sets = followed_sets(examples, classes, watched, None)
        self._roles = list(names)
        self._n_learners = 0
        self._new: list = []

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the history's arrays that `move` gives."""
        return tuple(name for one in self._sets for name in one.names)

    def add(self, learners) -> None:
        """Note new learners; their outputs are computed with the next move."""
        ids = np.arange(self._n_learners, self._n_learners + len(learners))
        self._n_learners += len(learners)
        self._new.append((learners, ids))

    def move(self, ids, score_index, differences, offset=None) -> dict[str, float]:
        """Follow changed coefficients in every set, in one exchange; return the metrics by name."""
        new, self._new = self._new, []
        moved = np.asarray(ids), np.asarray(score_index), np.asarray(differences)
        keep = [("keep_outputs", batch) for batch in new if len(batch[1])]
        *_, parts = self._crew.ask(*keep, ("follow", moved))
        for role, one in zip(self._roles, self._sets):
            own = [part for of, part in zip(self._role_of_part, parts) if of == role]
            one.class_scores = np.concatenate(own)
        return {name: value for one in self._sets for name, value in one.measures().items()}

    def calibrated(self, model: FittedModel, fits_scale: bool) -> FittedModel:
        """Return the model calibrated on `X_val`, if it was given."""
        if VALID not in self._roles:
            return model
        (parts,) = self._crew.ask(("scores", (model.ensemble, VALID)))
        valid = self._sets[self._roles.index(VALID)]
        return calibrated(model, np.concatenate(parts), valid.y, valid.weight, fits_scale)


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


def holdout_run(training, settings, rng, drawn, from_zero, n_rounds, chooses):
    """Train on most of the examples and follow the others, the same as on one machine.

    See `cwboost.automatic.recipe.holdout_run`; small data are split once only, by the first array
    of `drawn`. The `training` is before its first round; the partitions are as before afterwards.
    """
    crew, pricer = training.master.crew, training.pricer
    shorter, settings = recipe.settings_of_run(settings)
    (parts,) = crew.ask(("leave_out", (drawn[0], at.NEGLIGIBLE, from_zero)))
    masses, y, weight = zip(*parts)
    masses = sum_in_order(masses)
    q = (len(masses) - 1) * float(masses.sum()) / settings.C
    has_base = training.master.has_base and not from_zero
    master = PartitionedMaster(crew, masses, pricer.n_samples, q, has_base=has_base)
    own = PartitionedPricer(master, pricer.family, rng)
    run = PartitionedTraining(own, master, settings, rng)

    def scores() -> np.ndarray:
        (parts,) = master.ask(("left_out", ()))
        return np.concatenate(parts)

    examples = np.concatenate(y), np.concatenate(weight)
    found = recipe.follow([run], scores, *examples, n_rounds, shorter, chooses)
    crew.ask(("leave_out", ([], 1.0, False)))
    crew.forget()
    return found
