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
    weights `weight`. `unseen` are the shares of the classes of which none is left out, 0 of others,
    and `size`, if it is given, is the number of independent ones, such as groups.
    """

    trainings: Sequence[ColumnGeneration]
    scores: Callable[[], np.ndarray]
    y: np.ndarray
    weight: np.ndarray
    unseen: np.ndarray | None = None
    size: float | None = None

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


def in_shares(y, weight, masses) -> tuple[np.ndarray, np.ndarray]:
    """Return weights of drawn examples that give each class its share of the `masses` of all.

    With them come the shares of the classes of which none was drawn, 0 of others.
    """
    drawn = np.bincount(y, weight, minlength=len(masses))
    factor = np.divide(masses, drawn, out=np.zeros(len(masses)), where=drawn > 0)
    return weight * factor[y], np.where(drawn > 0, 0.0, masses / masses.sum())
