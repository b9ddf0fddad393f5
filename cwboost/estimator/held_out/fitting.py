"""What `CWBoostClassifier` does with held-out examples: stop by them, learn its probabilities."""

from __future__ import annotations

from numbers import Real

from cwboost.estimator.defaults import chosen
from cwboost.estimator.held_out.calibration import LOSS_SCALE
from cwboost.estimator.held_out.choice import MOST_EXAMPLES, chosen_pricer
from cwboost.estimator.held_out.pilot import FEWEST_ROUNDS, Pilots
from cwboost.estimator.held_out.sets import check_eval_sets, followed_sets, split_off
from cwboost.estimator.held_out.stopping import EarlyStopping, patience_for, watched_metric
from cwboost.estimator.parameters import check_number, check_scale, check_weight
from cwboost.estimator.problem import Problem

__all__ = ["FitsWithHeldOut"]


class FitsWithHeldOut:
    """Mixin of a classifier before `cwboost.estimator.base.BoostingClassifier`."""

    def _check_held_out_parameters(self) -> None:
        check_number("validation_fraction", self.validation_fraction, Real, 0.0, low_open=True)
        check_scale("probability_scale", self.probability_scale)
        watched_metric(self.early_stopping)
        patience_for(self.n_iter_no_change, chosen(self).learning_rate)

    def _held_out(self, problem: Problem, family, given, eval_sets):
        """Return the training examples, the held-out ones or None, and the evaluation sets."""
        X_val, y_val, weight = given
        held_out = self._check_validation(X_val, y_val, family)
        if held_out is not None:
            held_out = *held_out, check_weight(weight, len(held_out[1]), "sample_weight_val")
        elif weight is not None:
            raise ValueError("sample_weight_val needs X_val and y_val")
        sets = {
            name: self._check_held_out(
                *one, family, [f"eval_sets[{name!r}][{k}]" for k in range(3)]
            )
            for name, one in check_eval_sets(eval_sets).items()
        }
        if held_out is None and self.early_stopping:
            fraction, seed = self.validation_fraction, self.random_state
            problem, held_out = split_off(problem, self.classes_, fraction, seed)
        return problem, held_out, sets

    def _followed_sets(self, held_out, sets):
        """Return the scores of the examples that training follows, None if there are none."""
        held_out, *others = [
            None if one is None else (self._expanded(one[0]), *one[1:])
            for one in (held_out, *sets.values())
        ]
        watched = watched_metric(self.early_stopping)
        return followed_sets(held_out, dict(zip(sets, others)), self.classes_, watched)

    def _stopping(self, state) -> EarlyStopping | None:
        """Return the early stopping that is asked for, continued from `state` if there is one."""
        watched = watched_metric(self.early_stopping)
        if watched is None:
            return None
        patience = patience_for(self.n_iter_no_change, chosen(self).learning_rate)
        stopping = EarlyStopping(watched, f"valid_{watched.name}", patience)
        if state is not None:
            stopping.restore(state)
        return stopping

    def _scale(self, ensemble, followed) -> float:
        """Return the scale of the probabilities, that of the loss if a pilot is to find it."""
        if self.probability_scale != "auto":
            return float(self.probability_scale)
        scale = None if followed is None else followed.scale(ensemble)
        return LOSS_SCALE if scale is None else scale

    def _chosen_pricer(self, problem: Problem, family, settings, rng, pilots: Pilots):
        """Return the pricer of the family, or of an alternative that a pilot prefers."""

        def bind(one):
            return self._bind(problem, one, len(self.classes_), rng)

        if len(problem.y) > MOST_EXAMPLES or self.n_estimators < FEWEST_ROUNDS:
            return bind(family)
        return chosen_pricer(family, bind, pilots, settings, chosen(self).C, rng)

    def _run_pilot(self, training, pilots: Pilots | None) -> None:
        """Learn the scale of the probabilities from a pilot, if nothing else tells it."""
        followed = training.model.held_out
        has_held_out = followed is not None and followed.has_valid
        is_long = training.n_rounds >= FEWEST_ROUNDS
        if self.probability_scale == "auto" and is_long and not has_held_out:
            self.probability_scale_ = self._pilot_scale(training, pilots)

    def _pilot_scale(self, training, pilots: Pilots) -> float:
        return pilots.scale(training, chosen(self).C)
