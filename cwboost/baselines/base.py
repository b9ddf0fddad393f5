"""The base class of the classifiers that the paper compares with: `fit` from start to end."""

from __future__ import annotations

from numbers import Integral, Real
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from cwboost.callbacks import TimeLimit
from cwboost.estimator.base import BoostingClassifier
from cwboost.estimator.held_out.scores import HeldOutScores
from cwboost.estimator.parameters import check_callbacks, check_number, check_verbose
from cwboost.estimator.rounds import RoundLoop
from cwboost.estimator.sklearn_callbacks import with_callbacks
from cwboost.families.sealing.pricer import SealedPricer, bind_family

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from cwboost.support.types import Features

__all__ = ["BaselineClassifier"]


class BaselineClassifier(BoostingClassifier):
    """Base of the baselines; a subclass defines how to train (`_training`)."""

    _model_attributes: ClassVar[dict[str, type]] = {"n_iter_": int, "stop_reason_": str}

    @with_callbacks
    def fit(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_val: Features | None = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Train and return self.

        Parameters
        ----------
        X, y, sample_weight
            As for `CWBoostClassifier.fit`.
        X_val, y_val : array-likes, default=None
            Held-out examples; the history records their error.
        """
        start, task = perf_counter(), self._fit_task(X, y)
        with self._whole():
            self._check_parameters()
            problem, family = self._prepare(X, y, sample_weight)
            given = self._check_validation(X_val, y_val, None, family)
            n_scores, held_out = self._n_scores(), []
            if given is not None:
                held_out.append(HeldOutScores(given[0], given[1], n_scores, self._class_scores))
            training = self._training(problem, family, self._generator(), held_out)
            callbacks = list(self.callbacks or [])
            if self.max_seconds is not None:
                callbacks.append(TimeLimit(self.max_seconds))
            self._run(RoundLoop(self, training, self.n_estimators, callbacks, start), task)
        return self

    def _check_parameters(self) -> None:
        """Check the common parameters; a subclass extends this for its own."""
        check_number("n_estimators", self.n_estimators, Integral, 1)
        if self.max_seconds is not None:
            check_number("max_seconds", self.max_seconds, Real, 0.0)
        check_callbacks(self.callbacks)
        check_verbose(self.verbose)

    def _bind(self, problem, rng, family, n_targets: int) -> SealedPricer:
        """Return the family bound to the problem, its pricing sealed."""
        context = self._context(problem, rng, family, n_targets)
        return bind_family(family, problem.matrix[0], context, problem.rows)

    def _n_scores(self) -> int:
        """Return the number of scores that training adds up: that of the classes."""
        return len(self.classes_)

    def _training(self, problem, family, rng, held_out):
        """Return the training on the problem, see `cwboost.estimator.rounds.Training`."""
        raise NotImplementedError
