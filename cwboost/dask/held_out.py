"""Held-out examples on the workers: their scores come to the client after every round."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain

import numpy as np

from cwboost.calibration.metrics import Metric
from cwboost.calibration.scores import held_out_scores
from cwboost.dask.crew import Crew
from cwboost.dask.host import Setup
from cwboost.dask.input.chunks import joined_set
from cwboost.dask.master import PartitionedMaster, sum_in_order
from cwboost.fitted_model import FittedModel
from cwboost.input.examples import VALID
from cwboost.solvers.schedule import BoostingSettings
from cwboost.support.weights import size_of


class PartitionedSets:
    """Sets of held-out examples whose features stay on the workers, by their role."""

    def __init__(self, crew, classes, names, metric: Metric | None):
        self._crew = crew
        (parts,) = crew.ask(("labels", ()))
        self._role_of_part = [role for role, _, _ in parts]
        examples = {}
        for role, name in names.items():
            own = [(y, weight) for of, y, weight in parts if of == role]
            examples[name] = joined_set(role, own)
        n_scores = len(classes)
        self._sets = held_out_scores(examples, classes, n_scores=n_scores, metric=metric)
        self._roles = list(names)
        self._new: list = []
        self._offset = np.zeros(n_scores)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the history's arrays that `move` gives."""
        return tuple(name for one in self._sets for name in one.names)

    def add(self, learners) -> None:
        """Note new learners; their outputs are computed with the next move."""
        self._new.append(learners)

    def move(self, ids, score_index, differences, offset=None) -> dict[str, float]:
        """Follow changed coefficients in every set, in one exchange; return the metrics by name."""
        new, self._new = self._new, []
        if offset is not None:
            self._offset = self._offset + offset
        moved = np.asarray(ids), np.asarray(score_index), np.asarray(differences)
        keep = [("keep_outputs", (learners,)) for learners in new if len(learners)]
        *_, parts = self._crew.ask(*keep, ("follow", moved))
        for role, one in zip(self._roles, self._sets):
            own = [part for of, part in zip(self._role_of_part, parts) if of == role]
            one.class_scores = np.concatenate(own) + self._offset
        return {name: value for one in self._sets for name, value in one.measures().items()}

    def calibrated(self, model: FittedModel, fits_scale: bool) -> FittedModel:
        """Return the model calibrated on `X_val`, if it was given and is not lost."""
        valid = next((one for one in self._sets if one.name == VALID), None)
        if valid is None or self._crew.is_lost:
            return model
        role = self._roles[self._sets.index(valid)]
        (parts,) = self._crew.ask(("scores", (model.ensemble, role)))
        scores = np.concatenate(parts)
        return valid.left_out.calibrated(model, scores, fits_scale)


@contextmanager
def left_out_master(
    crew: Crew, setup: Setup, settings: BoostingSettings, left_out
) -> Iterator[tuple[PartitionedMaster, np.ndarray, np.ndarray]]:
    """Provide the master of a holdout run on bound partitions, which are as before afterwards.

    It starts from the base scores of `setup`, if there are any. `left_out` are places among all
    examples. Class indices and weights, without class weights, of those that are left out come with
    it.
    """
    from_zero = setup.base is None
    class_weight = setup.class_weight
    (parts,) = crew.ask(("leave_out", (left_out, from_zero, class_weight)))
    masses, sizes, y, weight = zip(*parts)
    masses = sum_in_order(masses)
    q = (len(masses) - 1) * float(masses.sum()) / settings.C
    size = size_of(chain.from_iterable(sizes))
    y, weight = map(np.concatenate, (y, weight))
    setup = replace(setup, masses=masses, q=q, size=size)
    try:
        yield PartitionedMaster(crew, setup, keeps_columns=not settings.stagewise), y, weight
    finally:
        crew.ask(("leave_out", ([], False, class_weight)))
        crew.forget()
