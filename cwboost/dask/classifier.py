"""`DaskCWBoostClassifier`: the classifier on Dask collections."""

from __future__ import annotations

from functools import partial

import dask
import numpy as np
from distributed import Client, default_client
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from cwboost.classifier import CWBoostClassifier
from cwboost.dask.input.collections import predicted
from cwboost.dask.places import place_of
from cwboost.input.reading import Arguments
from cwboost.recipe.parameters import Parameters
from cwboost.training.place import Place
from cwboost.training.resumption import PreviousFit
from cwboost.training.runner import is_fitted


class DaskCWBoostClassifier(CWBoostClassifier):
    """`CWBoostClassifier` trained on Dask collections, on the workers of a cluster.

    Data that fit on one worker are trained there, as on one machine: trees and other weak learners
    that ask partitions often, up to a quarter of the worker's memory; stumps and projections up to
    16 MB. `n_jobs` has no effect: workers use their threads. Larger data stay divided into
    partitions, with these differences of the parameters:

    - `weak_learner` must be able to price on partitions (`cwboost.PartitionedFamily`): stumps,
      trees, projections and mixtures of these are, "auto" among them.
    - `early_stopping` needs ``X_val`` and ``y_val``.
    - `solver` chooses nothing: with ``correction="total"``, L-BFGS-B solves for all coefficients,
      since it takes one exchange of messages per evaluation.
    - `cv`, `monotonic_cst` and `interaction_cst` must be None.
    - The client fits the init model, on up to 16,384 examples that the workers send to it.
    - With `warm_start`, and from a checkpoint, training goes on from the coefficients of the fitted
      model. The result equals one uninterrupted fit up to rounding if nothing is drawn, as with
      stumps and ``subsample=1``; what trees draw starts again.

    Attributes
    ----------
    client : distributed.Client or None
        Set it before `fit` to train on another cluster than that of the default client. Copies have
        none.

    Notes
    -----
    `fit` takes Dask collections: arrays, or a dataframe or series, divided by rows into partitions
    of NumPy, pandas or SciPy sparse blocks; labels, weights and groups have the partitions of their
    X. A group may extend over partitions: which examples are left out is decided by a hash of the
    group. An error of a partition names it. If workers and the source of their partitions are lost,
    `fit` raises PartitionsLost and keeps the finished rounds; of one worker those that it reported
    last, every ten seconds or so.

    On one worker, the model has the bits of `CWBoostClassifier` with the same seed, an int. On
    partitions it has, for given partitions, parameters and seed, the same bits for any number of
    workers and threads. Both hold if workers are lost and replaced during training. Fitted
    attributes are those of `CWBoostClassifier`, and ``plan_.reasons["place"]`` holds the place of
    training; `to_local` returns such a classifier.

    Predictions are those of `CWBoostClassifier`, made lazily for a Dask collection: the result of
    an array is a Dask array, that of a dataframe a series or dataframe.
    """

    client: Client | None = None

    def _place(
        self, arguments: Arguments, parameters: Parameters, previous: PreviousFit | None
    ) -> Place:
        """Return the place on the cluster, with the partitions described by their workers."""
        client = self.client if self.client is not None else default_client()
        if client.asynchronous:
            raise TypeError(
                "client must be synchronous, got an asynchronous Client: call fit in a thread, "
                "with Client(address)"
            )
        return place_of(client, arguments, parameters, previous)

    def __getstate__(self):
        # A client belongs to its process.
        return {k: v for k, v in super().__getstate__().items() if k != "client"}

    # ---------------------------------------------------------------- after training

    def to_local(self, fitted=True) -> CWBoostClassifier:
        """Return a `CWBoostClassifier` with the same parameters and, if `fitted`, attributes.

        With `warm_start`, it goes on as this one: bit for bit from a training on one worker.
        """
        if fitted:
            check_is_fitted(self)
        return _moved(self, CWBoostClassifier, fitted)

    @classmethod
    def from_local(cls, local: CWBoostClassifier) -> DaskCWBoostClassifier:
        """Return a classifier with parameters and attributes of `local`, such as a checkpoint."""
        return _moved(local, cls)

    def save(self, path, *, staged=True, training_state=False):
        """Save the fitted model as a `CWBoostClassifier`; see `CWBoostClassifier.save`.

        From partitions there is no training state.
        """
        self.to_local().save(path, staged=staged, training_state=training_state)

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
        vars(local).pop("_state", None)  # which no prediction needs, and which is as large as y
        method = partial(getattr(local, name), n_estimators=n_estimators)
        return predicted(X, method, kind, self.classes_)


def _moved(classifier, kind, fitted=True):
    """Return a classifier of a kind with the parameters and, if `fitted`, attributes of another."""
    other = kind(**classifier.get_params(deep=False))
    if fitted:
        vars(other).update({k: v for k, v in vars(classifier).items() if is_fitted(k)})
    return other
