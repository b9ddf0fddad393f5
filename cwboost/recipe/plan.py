"""What a fit decides before its first round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from html import escape
from math import isfinite

import numpy as np

from cwboost.calibration.metrics import Metric
from cwboost.conformity import Conformity
from cwboost.families.contract import WeakLearnerFamily
from cwboost.fitted_model import FittedModel
from cwboost.kernels import log


@dataclass(frozen=True, eq=False)
class Calibration:
    """What a holdout run measures of a model of some length, the sum of its learning rates.

    `scale` is the most likely factor of the scores in the softmax; `conformity` makes that of the
    examples left out, at this scale: one length of all needs it.
    """

    length: float
    scale: float
    conformity: Callable[[], Conformity]


@dataclass(frozen=True, eq=False)
class HoldoutCurve:
    """What a holdout run found at some points.

    `length`, ascending, says how far the run was: the sum of the learning rates of its rounds.
    `loss` is the log loss of the examples left out there, at the best `scale`, the factor of the
    scores in the softmax. `kept` is the point that the training is to reach. There are
    `calibrations` at this and some other points, ascending, but none after `fit`. `seconds` is the
    time of one round of one training, and `is_cut` is True if a time limit ended the run.
    """

    length: np.ndarray
    loss: np.ndarray
    scale: np.ndarray
    kept: int
    calibrations: tuple[Calibration, ...] = field(repr=False)
    seconds: float
    is_cut: bool

    @property
    def kept_length(self) -> float:
        """Length that the training is to reach."""
        return float(self.length[self.kept])

    @property
    def kept_loss(self) -> float:
        """Log loss at the point that the training is to reach."""
        return float(self.loss[self.kept])

    def at(self, lengths) -> list[Calibration]:
        """Return the calibration that is nearest to each of some lengths."""
        own = np.array([one.length for one in self.calibrations])
        places = np.searchsorted((own[1:] + own[:-1]) / 2, lengths)
        return [self.calibrations[place] for place in places]

    def calibrated(self, model: FittedModel, rates) -> FittedModel:
        """Return a model, of rounds of these learning rates, with what was measured at its length.

        Every stage has the scale that was measured at its own.
        """
        found = self.at(np.cumsum(rates) if len(rates) else [0.0])
        scales = np.array([one.scale for one in found[: len(rates)]])
        last = found[-1]
        return replace(model, scale=last.scale, conformity=last.conformity(), stage_scales=scales)


@dataclass(frozen=True, eq=False)
class PathPoint:
    """What a holdout run along a path of C measures at one value.

    `n_nonzero` is the number of coefficients and `gap` the proven distance from the optimum over
    the family as a share of the objective, NaN without a proof: means over the trainings of the
    run. `error` and `log_loss`, with its standard error, are those of the rows left out, at the
    most likely `scale` of the scores; `conformity` is theirs at this scale.
    """

    C: float
    n_nonzero: float
    gap: float
    error: float
    log_loss: float
    log_loss_se: float
    scale: float
    conformity: Conformity = field(repr=False)


@dataclass(frozen=True, eq=False)
class HoldoutPath:
    """The points of a holdout run along a path of C, ascending, of which `kept` is the choice."""

    points: tuple[PathPoint, ...]
    kept: int

    def table(self) -> dict[str, np.ndarray]:
        """Return one array per measure, (n_points,)."""
        names = [one.name for one in fields(PathPoint) if one.name != "conformity"]
        return {name: np.array([getattr(one, name) for one in self.points]) for name in names}

    def calibrated(self, model: FittedModel, Cs) -> FittedModel:
        """Return a model, of rounds at these values of C, with what was measured at its value.

        Every stage has the scale that was measured at its own value, or is interpolated.
        """
        known = np.array([one.C for one in self.points])
        scales = np.interp(log(Cs), log(known), [one.scale for one in self.points])
        last = self.points[np.abs(log(known / Cs[-1])).argmin() if len(Cs) else self.kept]
        scale = scales[-1] if len(scales) else last.scale
        return replace(model, scale=scale, conformity=last.conformity, stage_scales=scales)


@dataclass(frozen=True, eq=False)
class Plan:
    """What a fit decided before its first round, and why: `reasons` by the name of what it was.

    The training examples are worth `size` of equal weight. Training ends after `n_rounds` of
    learners of the `family` at the latest. It goes through the values `Cs` of C, ascending, of
    which the last is that of the model; `path` has the points of the holdout run that chose it, if
    there was one. It starts from the init model of the name `init`, None for zero, compares
    categories by the `encoding`, and stops early by the `metric`, if there is one. `scale` is the
    factor of the scores in the softmax of the probabilities, unless held-out examples fit it.
    `curves` are the holdout runs of all candidates, by `name`, of which the `leader` was taken.
    """

    family: WeakLearnerFamily
    size: float
    n_rounds: int
    learning_rate: float
    scale: float
    init: str | None = None
    encoding: str = "rank"
    metric: Metric | None = None
    curves: Mapping[str, HoldoutCurve] = field(default_factory=dict, repr=False)
    leader: str | None = None
    Cs: tuple[float, ...] = ()
    path: HoldoutPath | None = field(default=None, repr=False)
    reasons: Mapping[str, str] = field(default_factory=dict)

    def sentences(self) -> list[str]:
        """Return what was decided, a sentence with its reason per decision."""
        rounds = f"{self.n_rounds} rounds"
        if self.learning_rate != 1.0:
            rounds += f" of learning rate {self.learning_rate:.3g}"
        if self.metric is not None:
            rounds += f", fewer if it stops early by {self.metric.name}"
        decided = {
            "init": f"Boosting starts {self.start}",
            "encoding": f"Categories are compared {self.compared}",
            "family": f"Weak learners are {self.learners}",
            "C": f"C is {self.Cs[-1]:.4g}" if self.Cs else "",
            "rounds_per_C": f"Training goes through {len(self.Cs)} values of C",
            "place": "Where training runs",
            "n_rounds": f"Training takes at most {rounds}",
            "scale": f"Probabilities are the softmax of {self.scale:.3g} times the scores",
        }
        reasons = self.reasons
        return [f"{what}: {reasons[name]}." for name, what in decided.items() if name in reasons]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def _repr_html_(self) -> str:
        """Return the sentences as a list, and the holdout runs as a table."""
        sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.sentences())
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{curve.loss[0]:.3g}</td><td>{curve.kept_loss:.3g}</td>"
            f"<td>{curve.kept_length / self.learning_rate:.0f}</td></tr>"
            for name, curve in self.curves.items()
        )
        heads = "holdout run", "first log loss", "log loss kept", "after rounds of the training"
        head = "".join(f"<th>{title}</th>" for title in heads)
        return f"<ul>{sentences}</ul>" + (f"<table><tr>{head}</tr>{rows}</table>" if rows else "")

    @property
    def start(self) -> str:
        """How boosting starts, in words."""
        return "without an init model" if self.init is None else f"from the {self.init} model"

    @property
    def compared(self) -> str:
        """By what weak learners compare categories, in words."""
        return "by rank of frequency" if self.encoding == "rank" else "by target statistics"

    @property
    def learners(self) -> str:
        """The weak learners, in words."""
        return self.family.in_words(self.size)

    @property
    def curve(self) -> HoldoutCurve | None:
        """The holdout run of the candidate that was taken; None if there was none."""
        return None if self.leader is None else self.curves[self.leader]

    def name(self, family: WeakLearnerFamily) -> str:
        """Return the name of the candidate: its start, and what is not rank and `family`."""
        parts = [self.init or "zero"]
        if self.encoding != "rank":
            parts.append("target statistics")
        if self.family.get_params() != family.get_params():
            parts.append(self.learners)
        return ", ".join(parts)

    def without_calibrations(self) -> Plan:
        """Return what is worth keeping after a fit."""
        curves = {name: replace(one, calibrations=()) for name, one in self.curves.items()}
        return replace(self, curves=curves, path=None)

    def lower_than(self, what: str, loss: float, other: Plan, other_loss: float) -> str:
        """Return why this plan is taken and not another, which differs in `what`."""
        ways = {"init": other.start, "encoding": other.compared}
        other_way = ways.get(what, f"with {other.learners}")
        if not isfinite(other_loss):
            return f"a holdout run {other_way} found no weak learner"
        reason = f"holdout log loss {loss:.3g}, against {other_loss:.3g} {other_way}"
        return reason if loss <= other_loss else f"{reason}, which is not 1% lower"

    def because(self, name: str, reason: str, **changes) -> Plan:
        """Return the plan with `changes`, and the reason for what `name` decides."""
        return replace(self, **changes, reasons={**self.reasons, name: reason})
