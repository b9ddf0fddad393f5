"""What `CWBoostClassifier` does with held-out examples: stop by them, learn its probabilities."""

from __future__ import annotations

from math import ceil
from numbers import Real

from cwboost.estimator.defaults import chosen
from cwboost.estimator.held_out.calibration import (
    LOSS_SCALE,
    fit_scale,
    log_loss_of_best_scale,
)
from cwboost.estimator.held_out.choice import (
    MOST_EXAMPLES,
    ROUNDS,
    chosen_pricer,
    deciding_plan,
    preferred_pricer,
)
from cwboost.estimator.held_out.pilot import FEWEST_ROUNDS, Pilot, Pilots
from cwboost.estimator.held_out.sets import check_eval_sets, followed_sets, split_off
from cwboost.estimator.held_out.stopping import EarlyStopping, patience_for, watched_metric
from cwboost.estimator.held_out.trial import Trial
from cwboost.estimator.held_out.votes import Decision, decide, scores_in, with_votes
from cwboost.estimator.parameters import check_number, check_scale, check_weight
from cwboost.estimator.problem import Problem
from cwboost.families.composed.automatic import AutoFamily
from cwboost.similarity.fitting import FEWEST_WEIGHED

__all__ = ["FitsWithHeldOut"]

ENOUGH, ENOUGH_WITHOUT_VOTES = 15.0, 20.0
"""Sums of the learning rates of the rounds after which training ends if similarity votes or there
are very many examples, and if similarity is nearly as good as the pilot."""

VERY_MANY = 2**16
"""Number of examples beyond which fewer rounds are enough, since each tree has so many leaves."""


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

    def _trial(self, problem: Problem, family, settings, rng) -> Trial | None:
        """Run a pilot without scores of similarity; return None if they are wanted anyway."""
        is_small = len(problem.y) < FEWEST_WEIGHED or self.n_estimators < FEWEST_ROUNDS
        if is_small or self.similarity is True:
            return None
        pilots = Pilots(problem, self._n_threads(), rng)
        alone = family.without_similarity(len(problem.y))
        pricer = self._bind(problem, alone, len(self.classes_), rng)
        bound, rng.bit_generator.state = rng.bit_generator.state, pilots.first_state
        pilot = pilots.run(pricer, deciding_plan(settings, chosen(self).C, len(problem.y)))
        return None if pilot is None else Trial(alone, pilots, pilot, bound)

    def _chosen_pricer(self, problem: Problem, family, settings, rng, pilots: Pilots, trial):
        """Return the pricer of the family, or of an alternative that a pilot prefers.

        With a `trial`, of the family that it was a pilot of.
        """

        def bind(one):
            return self._bind(problem, one, len(self.classes_), rng)

        is_large = len(problem.y) > MOST_EXAMPLES
        if trial is not None:
            rng.bit_generator.state = trial.state
            pilots.keep(trial.pilot)
            if is_large:
                return trial.pilot.pricer
            return preferred_pricer(trial.pilot, trial.family, bind, pilots, rng)
        if is_large or self.n_estimators < FEWEST_ROUNDS:
            return bind(family)

        def is_enough(own):
            return self._may_vote(family) and self._decision_by(own, pilots).votes

        return chosen_pricer(family, bind, pilots, settings, chosen(self).C, rng, is_enough)

    def _decided(self, training, pilots: Pilots) -> Decision | None:
        """Decide by a pilot whether similarity votes; return None if it cannot."""
        if not self._may_vote(training.pricer.family) or self.n_estimators < FEWEST_ROUNDS:
            return None
        plan = deciding_plan(training.settings, chosen(self).C, len(pilots.problem.y))
        pilot = pilots.run(training.pricer, plan)
        return None if pilot is None else self._decision_by(pilot, pilots)

    def _may_vote(self, family) -> bool:
        return type(family) is AutoFamily and self._similarity() is not None

    def _decision_by(self, pilot: Pilot, pilots: Pilots) -> Decision:
        """Return what a pilot says of votes, decided once."""
        if pilots.decision is None or pilots.decision.pilot is not pilot:
            pilots.decision = decide(pilot, pilots.problem, self._similarity().n_scores)
        return pilots.decision

    def _enough(self, training, decision: Decision | None) -> int | None:
        """Return the number of rounds of the default that are enough; None if all count.

        Whoever asks for more than the default number of rounds gets them.
        """
        is_default = type(training.pricer.family) is AutoFamily and self.n_estimators <= ROUNDS
        if not is_default or self.similarity is True or self.correction == "total":
            return None
        votes = decision is not None and decision.votes
        if votes or training.pricer.n_samples > VERY_MANY:
            return ceil(ENOUGH / chosen(self).learning_rate)
        if decision is not None and decision.is_close:
            return ceil(ENOUGH_WITHOUT_VOTES / chosen(self).learning_rate)
        return None

    def _learn_scale(self, training, pilots: Pilots | None, decision: Decision | None) -> None:
        """Learn the scale of the probabilities, and let similarity vote if that helps.

        From held-out examples, if there are any, or from a pilot.
        """
        followed, is_auto = training.model.held_out, self.probability_scale == "auto"
        if followed is not None and followed.has_valid:
            if decision is not None:
                self._vote_by_held_out(decision, followed)
        elif training.n_rounds >= FEWEST_ROUNDS and (is_auto or decision is not None):
            scale = self._pilot_scale(training, pilots, decision)
            if is_auto:
                self.probability_scale_ = scale
            if decision is not None and decision.votes:
                self._vote(decision.scale / scale)
                if is_auto:
                    self.probability_scale_ = scale / 2

    def _pilot_scale(self, training, pilots: Pilots, decision: Decision | None) -> float:
        pilot = None if decision is None else decision.pilot
        return pilots.scale(training, chosen(self).C, pilot)

    def _vote_by_held_out(self, decision: Decision, followed) -> None:
        """Let similarity vote if that lowers the log loss of the held-out examples."""
        X, y, weight = followed.valid.X, followed.valid.y, followed.valid.weight
        scores = self.ensemble_.scores(X)
        factor = decision.scale / fit_scale(scores, y, weight)
        both = scores + factor * scores_in(X, self._similarity().n_scores)
        if log_loss_of_best_scale(both, y, weight) < log_loss_of_best_scale(scores, y, weight):
            self._vote(factor)
            if self.probability_scale == "auto":
                self.probability_scale_ = fit_scale(both, y, weight)

    def _vote(self, factor: float) -> None:
        n_scores, n_columns = self._similarity().n_scores, self._n_columns()
        found = with_votes(self.ensemble_, self.family_, n_columns, n_scores, factor)
        self.ensemble_, self.similarity_votes_ = found
