"""Holdout runs: trainings in which some examples have next to no weight, and are followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cwboost.training.column_generation import ColumnGeneration


@dataclass(eq=False)
class HoldoutRun:
    """Trainings of the same length, and the scores of the examples that each leaves out.

    ``scores()`` returns those of all of them, (n_left_out, n_classes), of class indices `y` and
    weights `weight`.
    """

    trainings: Sequence[ColumnGeneration]
    scores: Callable[[], np.ndarray]
    y: np.ndarray
    weight: np.ndarray

    @property
    def n_rounds(self) -> int:
        """Finished rounds: of the shortest training, which may have none."""
        return min(training.n_rounds for training in self.trainings)

    def round(self) -> bool:
        """Do a round of every training; return False if one of them is over."""
        going_on = [training.round() for training in self.trainings]
        if not all(going_on):
            return False
        for training in self.trainings:
            training.model.forget_learners()
        return True
