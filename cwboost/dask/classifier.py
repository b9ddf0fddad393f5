"""`DaskCWBoostClassifier`: the classifier on Dask collections."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import perf_counter

import dask
import numpy as np
from distributed import Client, default_client
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from cwboost.automatic import recipe
from cwboost.classifier import CWBoostClassifier
from cwboost.dask.actors import ActorCrew
from cwboost.dask.held_out import VALID, PartitionedSets, holdout_run
from cwboost.dask.initial import shared_start
from cwboost.dask.input.collections import predicted, sources
from cwboost.dask.master import PartitionedMaster
from cwboost.dask.problem import planned, shared_encoding, shared_problem
from cwboost.dask.training import PartitionedPricer, PartitionedTraining
from cwboost.estimator.defaults import settings_of
from cwboost.estimator.held_out.sets import check_eval_sets
from cwboost.estimator.resumption import check_continues, previous_fit
from cwboost.families.composed.mixed import check_members
from cwboost.families.discovery import resolve_weak_learner

__all__ = ["DaskCWBoostClassifier"]


class DaskCWBoostClassifier(CWBoostClassifier):
    """`CWBoostClassifier` trained on Dask collections, on the workers of a cluster.

    The parameters are those of `CWBoostClassifier`, with these differences:

    - `weak_learner` must be able to price on partitions (`cwboost.PartitionedFamily`): stumps,
      trees, projections and mixtures of these are, "auto" among them.
    - `early_stopping` needs ``X_val`` and ``y_val``.
    - `solver` chooses nothing: with ``correction="total"``, L-BFGS-B solves for all coefficients,
      since it takes one exchange of messages per evaluation.
    - `columns_per_round` must be 1 and `monotonic_cst` None.
    - The client fits the init model, on up to 16,384 examples that the workers send to it.
    - `n_jobs` has no effect: workers use their threads.
    - With `warm_start`, training goes on from the coefficients of the fitted model; the result
      equals one uninterrupted fit up to rounding.

    Attributes
    ----------
    client : distributed.Client or None
        Set it before `fit` to train on another cluster than that of the default client.

    Notes
    -----
    For given partitions, parameters and seed, the model has the same bits for any number of workers
    and threads, and if workers are lost and replaced during training. Fitted attributes are those
    of `CWBoostClassifier`; `to_local` returns such a classifier.

    Predictions are those of `CWBoostClassifier`, made lazily for a Dask collection: the result of
    an array is a Dask array, that of a dataframe a series or dataframe.
    """

    client: Client | None = None

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        X_val=None,
        y_val=None,
        sample_weight_val=None,
        eval_sets=None,
    ):
        """Train on collections.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Divided by rows into partitions, of NumPy, pandas or SciPy sparse blocks.
        y : Dask array or series of shape (n_samples,)
            Labels of any type, with the partitions of X.
        sample_weight : Dask array or series of shape (n_samples,), >= 0, default=None
        X_val, y_val : Dask collections, default=None
            Held-out examples, for early stopping and the scale of the probabilities; the history
            records their error.
        sample_weight_val : Dask array or series of shape (n_val,), >= 0, default=None
            Weights of these examples in every measure.
        eval_sets : dict, default=None
            Further collections whose error and log loss the history records, by name: (X, y) or
            (X, y, sample_weight).

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            For bad input; the message names the partition where it was found.
        PartitionsLost
            If workers and the source of their partitions are lost. The finished rounds are kept.
        """
        start = perf_counter()
        with self._whole():
            settings, previous = settings_of(self), previous_fit(self)
            if settings.columns_per_round != 1:
                raise ValueError(
                    f"columns_per_round must be 1 on partitions, got {settings.columns_per_round}"
                )
            if self.monotonic_cst is not None:
                raise ValueError(
                    f"monotonic_cst must be None on partitions, got {self.monotonic_cst!r}"
                )
            family = resolve_weak_learner(self.weak_learner)
            check_members([family])
            tasks = sources(X, y, sample_weight, "training")
            followed = self._followed(X_val, y_val, sample_weight_val, eval_sets)
            n_training = len(tasks)
            for role, _, names, given in followed:
                tasks += sources(*given, role, names, first=len(tasks))
            crew = ActorCrew(self._client(), tasks)
            try:
                sets = {role: name for role, name, *_ in followed}
                given = family, settings, previous, n_training, sets
                self._run(self._loop(*self._bound(crew, *given), start))
            finally:
                crew.close()
        return self

    def _client(self) -> Client:
        client = self.client if self.client is not None else default_client()
        if client.asynchronous:
            raise TypeError(
                "client must be synchronous, got an asynchronous Client: call fit in a thread, "
                "with Client(address)"
            )
        return client

    def _followed(self, X_val, y_val, weight, eval_sets) -> list:
        """Return role, name, words of messages and collections of each set that is followed."""
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val must be given together")
        if self.early_stopping and X_val is None:
            raise ValueError("early_stopping needs X_val and y_val, with collections")
        if weight is not None and X_val is None:
            raise ValueError("sample_weight_val needs X_val and y_val")
        followed = []
        if X_val is not None:
            names = "X_val", "y_val", "sample_weight_val"
            followed.append((VALID, "valid", names, (X_val, y_val, weight)))
        for name, given in check_eval_sets(eval_sets).items():
            role = f"eval_sets[{name!r}]"
            followed.append((role, name, [f"{role}[{k}]" for k in range(3)], given))
        return followed

    def _bound(self, crew, family, settings, previous, n_training, sets):
        """Let the partitions describe and prepare themselves; return training, base and plan."""
        rng = self._generator()
        init_rng = rng.spawn(1)[0]
        given = self.categorical_features
        crew.start()
        encoding, columns = shared_encoding(
            crew.collect("columns", given), family, given, self._known_categories()
        )
        reports = crew.collect("describe", family, encoding)
        own = {index: reports[index] for index in range(n_training)}
        setup = shared_problem(own, encoding, family, settings.C, self.class_weight)
        self._set_attributes(setup, columns)
        if previous is not None:
            check_continues(self, family, previous)
        if not any(report.is_sparse for report in own.values()):
            start = partial(self._start_from, family=family, previous=previous, rng=init_rng)
            setup = shared_start(crew, setup, start)
        setup = planned(setup, family, own, columns, rng)
        crew.bind(setup)
        training = _training(crew, setup, family, settings, rng)
        run_rng = rng.spawn(1)[0]
        run = partial(holdout_run, training, settings)
        may_drop_base = self._may_drop(setup.base, previous)
        run = partial(recipe.best_run, run, setup.class_counts, run_rng, may_drop_base)
        plan = self._plan(family, settings, VALID in sets, run)
        if not plan.keeps_base:
            crew.ask(("drop_base", ()))
            setup = replace(setup, base=None)
            training = _training(crew, setup, family, settings, rng)
        held_out = [PartitionedSets(crew, self.classes_, sets, plan.watched)] if sets else []
        settings = replace(settings, learning_rate=plan.step * settings.learning_rate)
        training = PartitionedTraining(training.pricer, training.master, settings, rng, held_out)
        training.is_followed = bool(self.callbacks or self.verbose)
        if previous is not None:
            training.resume(previous.ensemble_, previous.history_)
        return training, setup.base, plan

    def _set_attributes(self, setup, columns) -> None:
        """Set what is known of the data before training."""
        self.classes_, self.n_features_in_ = setup.classes, columns.n_features
        self._set_categories(setup.encoding.categories)
        self.__dict__.pop("feature_names_in_", None)
        if columns.names is not None:
            self.feature_names_in_ = np.array(columns.names, dtype=object)

    def _fitted_attributes(self, fit, stop_reason) -> dict:
        fit.training.finish()
        return super()._fitted_attributes(fit, stop_reason)

    def _state_of(self, fit) -> None:
        """Return None: training goes on from the coefficients."""

    def _snapshot(self, fit) -> CWBoostClassifier:
        """Return a local classifier with all rounds so far, from which training can go on."""
        snapshot = self.to_local(fitted=False)
        names = ("classes_", "n_features_in_", "feature_names_in_", "categories_")
        of_data = {name: getattr(self, name) for name in names if hasattr(self, name)}
        snapshot.__dict__.update(self._fitted_attributes(fit, "checkpoint") | of_data)
        return snapshot

    # ---------------------------------------------------------------- after training

    def to_local(self, fitted=True) -> CWBoostClassifier:
        """Return a `CWBoostClassifier` with the same parameters and, if `fitted`, attributes."""
        local = CWBoostClassifier(**self.get_params(deep=False))
        if fitted:
            check_is_fitted(self)
            own = {k: v for k, v in vars(self).items() if k.endswith("_") and k[0] != "_"}
            local.__dict__.update(own)
        return local

    def save(self, path, *, staged=True):
        """Save the fitted model as a `CWBoostClassifier`; see `CWBoostClassifier.save`."""
        self.to_local().save(path, staged=staged)

    def predict(self, X, n_estimators=None):
        """Return the classes of largest score; see `CWBoostClassifier.predict`."""
        return self._lazily("predict", "labels", X, n_estimators)

    def predict_proba(self, X, n_estimators=None):
        """Return the class probabilities; see `CWBoostClassifier.predict_proba`."""
        return self._lazily("predict_proba", "scores", X, n_estimators)

    def predict_log_proba(self, X, n_estimators=None):
        """Return their logarithms; see `CWBoostClassifier.predict_log_proba`."""
        return self._lazily("predict_log_proba", "scores", X, n_estimators)

    def decision_function(self, X, n_estimators=None):
        """Return the scores; see `CWBoostClassifier.decision_function`."""
        check_is_fitted(self)
        kind = "score" if len(self.classes_) == 2 else "scores"
        return self._lazily("decision_function", kind, X, n_estimators)

    def score(self, X, y, sample_weight=None) -> float:
        """Return the accuracy for `X` on the labels `y`, by `sample_weight`, computed now."""
        y, found, weight = dask.compute(y, self.predict(X), sample_weight)
        weight = None if weight is None else np.ravel(weight)
        return accuracy_score(np.ravel(y), found, sample_weight=weight)

    def _lazily(self, name, kind, X, n_estimators):
        local = self.to_local().set_params(callbacks=None)
        method = partial(getattr(local, name), n_estimators=n_estimators)
        return predicted(X, method, kind, self.classes_)


def _training(crew, setup, family, settings, rng) -> PartitionedTraining:
    """Return a training on bound partitions, before its first round."""
    keeps_columns = not settings.stagewise
    of_problem = setup.masses, setup.n_total, setup.q
    master = PartitionedMaster(crew, *of_problem, keeps_columns, setup.base is not None)
    pricer = PartitionedPricer(master, family, rng)
    return PartitionedTraining(pricer, master, settings, rng)
