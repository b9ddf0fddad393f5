"""Holdout runs: trainings in which some examples have next to no weight, and are followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cwboost.calibration.calibration import LeftOut
from cwboost.input.examples import Examples

if TYPE_CHECKING:
    from cwboost.training.column_generation import ColumnGeneration


@dataclass(eq=False)
class HoldoutRun:
    """Trainings of the same length, and the scores of the examples that each leaves out.

    ``scores()`` returns those of all of them, (n_left_out, n_classes).
    """

    trainings: Sequence[ColumnGeneration]
    scores: Callable[[], np.ndarray]
    left_out: LeftOut

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


def left_out_of(examples: Examples, rows, is_given: bool) -> LeftOut:
    """Return the examples of some rows, left out of training, as what measures a model.

    Drawn ones stand for all. Given ones, with `is_given`, stand for themselves: who names them may
    know of shares that change, such as those of the future.
    """
    y, weight, groups = examples.y[rows], examples.row_weight[rows], examples.groups
    masses = np.bincount(examples.y, examples.row_weight)
    groups = None if groups is None else groups[rows]
    drawn = LeftOut.in_shares(y, weight, masses, groups)
    return LeftOut.weighed(y, weight, None, drawn.unseen, groups) if is_given else drawn
