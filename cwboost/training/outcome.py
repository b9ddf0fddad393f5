"""What a classifier becomes of a training: its fitted attributes."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cwboost.calibration.calibration import predict_prior
from cwboost.calibration.stopping import EarlyStopping
from cwboost.families.sealing.forms import check_forms
from cwboost.families.sealing.sample import Sample
from cwboost.families.tree_learners import TreeLearners
from cwboost.fitted_model import BaseScores, FittedModel
from cwboost.input.schema import InputSchema
from cwboost.recipe.parameters import Parameters
from cwboost.recipe.path_of_C import ended_at, kept_round
from cwboost.recipe.plan import Plan
from cwboost.target_statistics import TargetStatistics
from cwboost.training.resumption import training_state
from cwboost.training.runner import fitted_again


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelOutcome:
    """The outcome of a training without warm start.

    `columns` are some training examples as X has them, None if features are its columns.
    """

    training: Any
    schema: InputSchema
    classes: np.ndarray
    columns: Sample | None = None

    def attributes(self, stop_reason: str) -> dict[str, Any]:
        """Return the fitted attributes of the rounds that the model keeps, by name."""
        training, pricer = self.training, self.training.pricer
        ensemble = training.model.ensemble()
        # `TreeLearners` themselves are their flat form; subclasses and others may err.
        if ensemble.n_rounds and type(ensemble.learners) is not TreeLearners:
            check_forms(ensemble.learners, pricer.family, pricer.sample.X, ensemble.coef())
        seen = pricer.sample if self.columns is None else self.columns
        return self.schema.attributes() | {
            "classes_": self.classes,
            "model_": FittedModel(ensemble, self.classes, seen=seen),
            "n_iter_": ensemble.n_rounds,
            "history_": {name: np.array(a) for name, a in training.model.history.items()},
            # A copy, since parameters that are set from now on are those of the next fit.
            "family_": copy.deepcopy(pricer.family),
            "stop_reason_": stop_reason,
        }

    def release(self) -> None:
        """Free what only further rounds need; called before `attributes`, at the end."""

    def snapshot(self, estimator):
        """Raise TypeError: training cannot go on."""
        raise TypeError(f"{type(estimator).__name__} has no warm start, hence no checkpoints")


@dataclass(frozen=True, eq=False, kw_only=True)
class BoostingOutcome(ModelOutcome):
    """The outcome of a training of `CWBoostClassifier`.

    `examples` and `constraints` are those of `FittedModel`. `origin`, from `origin_of`, is None if
    nothing may go on exactly. `statistics` are those of the model.
    """

    parameters: Parameters
    plan: Plan
    base: BaseScores | None
    constraints: Mapping[str, np.ndarray]
    examples: int | None
    early_stopping: EarlyStopping | None
    origin: Mapping[str, Any] | None
    statistics: TargetStatistics | None

    @property
    def _keeps_state(self) -> bool:
        return self.origin is not None and self.parameters.warm_start

    def attributes(self, stop_reason: str) -> dict[str, Any]:
        training, plan = self.training, self.plan
        attributes = super().attributes(stop_reason)
        n_rounds, whole = attributes["n_iter_"], attributes["model_"].ensemble
        fits_scale = self.parameters.probability_scale is None
        most_columns = self.parameters.settings.most_columns
        best = n_rounds if self.early_stopping is None else self.early_stopping.kept_round
        history = {name: array[:best] for name, array in attributes["history_"].items()}
        if most_columns is not None and best:
            best = kept_round(history, most_columns)
            plan = ended_at(plan, history, best, most_columns)
            history = {name: array[:best] for name, array in history.items()}
        model = replace(
            attributes["model_"],
            base=self.base,
            scale=plan.scale,
            constraints=self.constraints,
            examples=self.examples,
            statistics=self.statistics,
        )
        model = model.truncate(best) if best < n_rounds else model
        if plan.curve is not None and fits_scale:
            model = plan.curve.calibrated(model, history["learning_rate"])
        if plan.path is not None:
            attributes["path_"] = plan.path.table()
            if fits_scale:
                model = plan.path.calibrated(model, history["C"])
        if best == 0:
            weights, C = training.master.class_weights, training.master.C
            model = predict_prior(model, weights, C, most_columns if n_rounds else None)
        # Shares of the classes need the scale of the loss.
        fits_scale = fits_scale and (best > 0 or self.base is not None)
        for scores in training.model.held_out:
            model = scores.calibrated(model, fits_scale)
        attributes |= {
            "model_": model,
            "best_iteration_": best,
            "learning_rate_": training.settings.learning_rate,
            "plan_": plan.without_calibrations(),
        }
        state = training_state(training, self.origin) if self._keeps_state and n_rounds else None
        if state is None:
            return attributes
        # The rounds after the best one are what an uninterrupted training would go on from.
        return attributes | {"_state": state | ({"ensemble": whole} if best < n_rounds else {})}

    def release(self) -> None:
        if not self._keeps_state:
            self.training.master.release()

    def snapshot(self, estimator):
        """Return a copy of the estimator with all rounds so far, from which it can go on."""
        whole, snapshot = replace(self, early_stopping=None), copy.copy(estimator)
        state = training_state(self.training, self.origin)
        attributes = whole.attributes("checkpoint") | {"_state": state}
        vars(snapshot).clear()
        vars(snapshot).update(fitted_again(estimator, attributes))
        return snapshot
