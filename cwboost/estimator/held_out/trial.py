"""Whether scores of similarity are worth their time: a pilot that has none.

Where classes differ in small regions of single features, likeness in all features says little, and
columns of scores only keep trees from the features that matter. A pilot without scores and a first
regression on few landmarks, both on examples that they leave out, tell before the regression proper
is made. The pilot goes on to serve the training if there are no scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cwboost.estimator.held_out.calibration import mean_and_error
from cwboost.estimator.held_out.pilot import Pilot, Pilots
from cwboost.families.contract import WeakLearnerFamily

__all__ = ["Trial"]

EXCESS, SURE, LEAST_SUM = 0.05, 0.5, 6.0
"""Scores are not worth it if the regression's mean log loss is higher than the pilot's by more than
the first, as a share of the pilot's, and the second, in standard errors of the difference. The sum
must be higher by the third: where a pilot is right on nearly all of a few examples, how low its
loss is says little."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A pilot without scores of similarity.

    Parameters
    ----------
    family : WeakLearnerFamily
        What is trained if there are no scores.
    pilots : Pilots
        Of the training matrix without scores.
    pilot : Pilot
    state : dict
        Of the generator after binding.
    """

    family: WeakLearnerFamily
    pilots: Pilots
    pilot: Pilot
    state: dict

    def allows(self, rows, losses) -> bool:
        """Return False if a regression is clearly worse than the pilot.

        Parameters
        ----------
        rows : ndarray of shape (n,), int
            Indices of the examples of the regression, ascending.
        losses : ndarray of shape (n,), dtype float64
            Their log losses, left out by the regression.
        """
        pilot = self.pilot
        _, own, theirs = np.intersect1d(
            pilot.left_out, rows, assume_unique=True, return_indices=True
        )
        weight, usual_losses = pilot.weight[own], pilot.log_losses[own]
        mean, error = mean_and_error(losses[theirs] - usual_losses, weight)
        usual, _ = mean_and_error(usual_losses, weight)
        return mean <= max(EXCESS * usual + SURE * error, LEAST_SUM / len(own))
