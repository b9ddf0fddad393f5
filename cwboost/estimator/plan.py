"""What a fit decides before its first round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from cwboost.conformity import Conformity
from cwboost.estimator.held_out.metrics import Metric

__all__ = ["HoldoutCurve", "Plan"]


@dataclass(frozen=True, eq=False)
class HoldoutCurve:
    """What a holdout run found.

    Parameters
    ----------
    rounds : ndarray of shape (n_points,), int64
        Numbers of rounds, ascending, of the holdout run.
    loss : ndarray of shape (n_points,), float64
        Log loss of the examples left out after these rounds, at the best scale.
    scale : ndarray of shape (n_points,), float64
        That scale: the factor of the scores in the softmax.
    ratio : float
        Rounds of the holdout run per round of the training: its steps are longer.
    kept : int
        The point that the training is to reach.
    conformity : Conformity
        Calibration scores of the examples left out at this point.
    """

    rounds: np.ndarray
    loss: np.ndarray
    scale: np.ndarray
    ratio: float
    kept: int
    conformity: Conformity

    @property
    def kept_rounds(self) -> int:
        """Rounds of the holdout run that the training is to match."""
        return int(self.rounds[self.kept])

    @property
    def kept_loss(self) -> float:
        """Log loss at the point that the training is to reach."""
        return float(self.loss[self.kept])

    @property
    def kept_scale(self) -> float:
        """Scale of the probabilities there."""
        return float(self.scale[self.kept])


@dataclass(frozen=True, eq=False)
class Plan:
    """What a fit decided before its first round, and why.

    Parameters
    ----------
    n_rounds : int
        Training ends after these rounds at the latest.
    learning_rate : float
    scale : float
        Factor of the scores in the softmax of the probabilities, unless held-out examples fit it.
    init : str or None, default=None
        Name of the init model that boosting starts from; None for zero.
    watched : Metric or None, default=None
        The measure by which early stopping stops.
    curve : HoldoutCurve or None, default=None
        The holdout run that decided; None if there was none.
    conformity : Conformity or None, default=None
        Calibration scores at this scale, for prediction sets.
    reasons : dict of str, default={}
        Why, by the name of what was decided.
    """

    n_rounds: int
    learning_rate: float
    scale: float
    init: str | None = None
    watched: Metric | None = None
    curve: HoldoutCurve | None = field(default=None, repr=False)
    conformity: Conformity | None = field(default=None, repr=False)
    reasons: Mapping[str, str] = field(default_factory=dict)

    def because(self, name: str, reason: str, **changes) -> Plan:
        """Return the plan with `changes`, and the reason for what `name` decides."""
        return replace(self, **changes, reasons={**self.reasons, name: reason})
