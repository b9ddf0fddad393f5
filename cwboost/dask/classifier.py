"""`DaskCWBoostClassifier`: the classifier on Dask collections."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from distributed import Client, default_client

from cwboost.classifier import CWBoostClassifier
from cwboost.dask.actors import ActorCrew
from cwboost.dask.collections import predicted, sources
from cwboost.dask.held_out import PartitionedHeldOut, PartitionedSets
from cwboost.dask.master import PartitionedMaster
from cwboost.dask.problem import check_features, shared_problem
from cwboost.dask.training import PartitionedPricer, PartitionedTraining
from cwboost.estimator.defaults import chosen
from cwboost.estimator.held_out.stopping import watched_metric
from cwboost.estimator.resumption import previous_fit
from cwboost.families.composed.partitioned import check_members
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
    - `sampling` must be "uniform", `columns_per_round` 1 and `monotonic_cst` None.
    - `probability_scale` "auto" is fitted on held-out examples if there are any, else it is 2.
    - `categorical_features` has no effect: columns of categories are refused.
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
    """

    client: Client | None = None

    def fit(self, X, y, sample_weight=None, X_val=None, y_val=None):
        """Train on collections.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Divided by rows into partitions, of NumPy, pandas or SciPy sparse blocks.
        y : Dask array or series of shape (n_samples,)
            Labels of any type, with the partitions of X.
        sample_weight : Dask array or series of shape (n_samples,), >= 0, default=None
        X_val, y_val : Dask collections, default=None
            Held-out examples, for early stopping; the history records their error.

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
            settings, previous = self._settings(), previous_fit(self)
            if settings.sampling != "uniform":
                raise ValueError(
                    f"sampling must be 'uniform' on partitions, got {settings.sampling!r}"
                )
            if settings.columns_per_round != 1:
                raise ValueError(
                    f"columns_per_round must be 1 on partitions, got {settings.columns_per_round}"
                )
            if self.monotonic_cst is not None:
                raise ValueError(
                    f"monotonic_cst must be None on partitions, got {self.monotonic_cst!r}"
                )
            family = self._partitioned_family()
            tasks = self._tasks(X, y, sample_weight, X_val, y_val)
            crew = ActorCrew(self._client(), tasks)
            try:
                training = self._bound(crew, family, settings, previous, X_val)
                self._run(self._fit(training, family, None, start))
            finally:
                crew.close()
        return self

    def _client(self) -> Client:
        return self.client if self.client is not None else default_client()

    def _partitioned_family(self):
        family = resolve_weak_learner(self.weak_learner)
        check_members([family])
        return family

    def _tasks(self, X, y, sample_weight, X_val, y_val) -> list:
        """Return one task per partition, the training partitions first."""
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val must be given together")
        if self.early_stopping and X_val is None:
            raise ValueError("early_stopping needs X_val and y_val, with collections")
        tasks = sources(X, y, sample_weight, "training")
        if X_val is not None:
            names = ("X_val", "y_val", "sample_weight")
            tasks += sources(X_val, y_val, None, "held-out", names, first=len(tasks))
        return tasks

    def _bound(self, crew, family, settings, previous, X_val):
        """Let the partitions describe and prepare themselves; return the training."""
        rng = self._generator()
        reports = crew.describe(family)
        n_training = len(reports) if X_val is None else self._n_training(reports)
        own = {index: reports[index] for index in range(n_training)}
        problem = shared_problem(own, family, chosen(self).C, self.class_weight, rng)
        check_features(
            {index: reports[index] for index in sorted(reports) if index >= n_training},
            next(report for report in own.values() if report.n_rows),
        )
        classes = problem.setup.classes
        if previous is not None and not np.array_equal(previous["classes"], classes):
            raise ValueError("y must have the classes of the fitted model if warm_start=True")
        crew.bind(problem.setup)
        self.classes_, self.n_features_in_ = classes, problem.n_features
        self.__dict__.pop("feature_names_in_", None)
        if problem.names is not None:
            self.feature_names_in_ = np.array(problem.names, dtype=object)
        master = PartitionedMaster(
            crew, problem.masses, chosen(self).C, keeps_columns=not settings.stagewise
        )
        pricer = PartitionedPricer(master, problem.setup.plan, family, problem.n_samples, rng)
        held_out = None
        if X_val is not None:
            watched = watched_metric(self.early_stopping)
            held_out = PartitionedSets([PartitionedHeldOut(crew, classes, watched)])
        training = PartitionedTraining(pricer, master, settings, rng, held_out)
        training.is_followed = bool(self.callbacks or self.verbose)
        if previous is not None:
            training.resume(previous["ensemble"], previous["history"])
        return training

    @staticmethod
    def _n_training(reports) -> int:
        return sum(report.role == "training" for report in reports.values())

    def _fitted_attributes(self, fit, stop_reason) -> dict:
        fit.training.finish()
        return self._kept_attributes(fit, stop_reason)

    def _snapshot(self, fit) -> CWBoostClassifier:
        """Return a local classifier with all rounds so far, from which training can go on."""
        snapshot = self.to_local(fitted=False)
        fitted = self._fitted_attributes(fit, "checkpoint")
        snapshot.__dict__.update(fitted | self._data_attributes())
        return snapshot

    def _data_attributes(self) -> dict:
        names = ("classes_", "n_features_in_", "feature_names_in_")
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    # ---------------------------------------------------------------- after training

    def to_local(self, fitted=True) -> CWBoostClassifier:
        """Return a `CWBoostClassifier` with the same parameters and, if `fitted`, attributes."""
        local = CWBoostClassifier(**self.get_params(deep=False))
        if fitted:
            self._require_fitted()
            own = {k: v for k, v in vars(self).items() if k.endswith("_") and k[0] != "_"}
            local.__dict__.update(own)
        return local

    def save(self, path, *, staged=True):
        """Save the fitted model as a `CWBoostClassifier`; see `CWBoostClassifier.save`."""
        self.to_local().save(path, staged=staged)

    def predict(self, X, n_estimators=None):
        """Return the class of largest score, lazily; see `CWBoostClassifier.predict`.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
        n_estimators : int, default=None

        Returns
        -------
        Dask array of shape (n_samples,), or series if X is a dataframe
        """
        return self._lazily("predict", "labels", X, n_estimators)

    def predict_proba(self, X, n_estimators=None):
        """Return the class probabilities, lazily; see `CWBoostClassifier.predict_proba`.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
        n_estimators : int, default=None

        Returns
        -------
        Dask array of shape (n_samples, n_classes), or dataframe if X is a dataframe
        """
        return self._lazily("predict_proba", "scores", X, n_estimators)

    def predict_log_proba(self, X, n_estimators=None):
        """Return the logarithms of the probabilities, lazily; see `predict_proba`."""
        return self._lazily("predict_log_proba", "scores", X, n_estimators)

    def decision_function(self, X, n_estimators=None):
        """Return the scores, lazily; see `CWBoostClassifier.decision_function`.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
        n_estimators : int, default=None

        Returns
        -------
        Dask array of shape (n_samples, n_classes), or (n_samples,) with two classes; dataframe or
        series if X is a dataframe
        """
        self._require_fitted()
        kind = "score" if len(self.classes_) == 2 else "scores"
        return self._lazily("decision_function", kind, X, n_estimators)

    def score(self, X, y, sample_weight=None) -> float:
        """Return the accuracy for `X` on the labels `y`, by `sample_weight`, computed now."""
        import dask.array as da

        right = da.asarray(self.predict(X)) == da.asarray(y)
        if sample_weight is None:
            return float(right.mean().compute())
        weight = da.asarray(sample_weight)
        return float(((right * weight).sum() / weight.sum()).compute())

    def _lazily(self, name, kind, X, n_estimators):
        self._require_fitted()
        local = self.to_local()
        local.callbacks = None
        method = _Method(local, name, n_estimators)
        return predicted(X, method, kind, self.classes_)


class _Method:
    """A method of a local classifier, which is pickled once per collection."""

    def __init__(self, model, name, n_estimators):
        self.model, self.name, self.n_estimators = model, name, n_estimators

    def __call__(self, X):
        return getattr(self.model, self.name)(X, n_estimators=self.n_estimators)
