"""The base class of the classifiers that the paper compares with: `fit` from start to end."""

from __future__ import annotations

from numbers import Integral
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from numpy.typing import ArrayLike

from cwboost.base import BoostingClassifier
from cwboost.families.sealing.pricer import SealedPricer
from cwboost.input.checks import (
    check_callbacks,
    check_n_jobs,
    check_verbose,
    generator_of,
)
from cwboost.input.examples import Examples
from cwboost.input.reading import Arguments
from cwboost.support.checks import check_number
from cwboost.support.types import Features
from cwboost.training.binding import Binder
from cwboost.training.outcome import ModelOutcome
from cwboost.training.runner import Runner
from cwboost.training.sklearn_callbacks import fit_task, with_callbacks

if TYPE_CHECKING:
    from typing_extensions import Self


class BaselineClassifier(BoostingClassifier):
    """Base of the baselines; a subclass defines how to train (`_training`)."""

    _model_attributes: ClassVar[dict[str, type]] = {"n_iter_": int, "stop_reason_": str}
    _outcome_type: ClassVar[type[ModelOutcome]] = ModelOutcome

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
        start, task = perf_counter(), fit_task(self, X, y)
        self._check_parameters()
        examples = self._learn(Arguments(X, y, sample_weight, X_val=X_val, y_val=y_val))
        training = self._training(examples, generator_of(self.random_state))
        outcome = self._outcome_type(
            training=training, schema=examples.schema, classes=examples.classes
        )
        runner = Runner(training, self.n_estimators, outcome, list(self.callbacks or []))
        runner.train_and_keep(self, start, task)
        return self

    def _check_parameters(self) -> None:
        """Check the common parameters; a subclass extends this for its own."""
        check_number("n_estimators", self.n_estimators, Integral, 1)
        check_callbacks(self.callbacks)
        check_verbose(self.verbose)

    def _training(self, examples: Examples, rng):
        """Return the training on the examples, see `cwboost.training.training.Training`."""
        raise NotImplementedError

    def _bind(self, examples: Examples, rng, n_targets: int) -> SealedPricer:
        """Return the family bound to the training examples."""
        n_threads = check_n_jobs(self.n_jobs)
        schema = examples.schema
        return Binder(schema, examples, n_targets, n_threads).bind(schema.family, examples, rng)
