"""The fitted model as one value: base scores, weak learners, scale and labels.

Whatever reads a model (prediction, files, ONNX, explanations, thinning, inspection, plots, Dask)
reads this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from cwboost.conformity import Conformity
from cwboost.ensemble.importances import importances_of
from cwboost.ensemble.model import Ensemble
from cwboost.families.init_contract import FittedInit, InitModel
from cwboost.families.sealing.sample import Sample
from cwboost.target_statistics import TargetStatistics


@dataclass(frozen=True, eq=False)
class BaseScores:
    """A fitted init model and the factor that makes its scores half of the log-odds.

    Parameters
    ----------
    model : InitModel
        What was fitted, with its parameters.
    fitted : FittedInit
    factor : float, > 0
    """

    model: InitModel
    fitted: FittedInit
    factor: float

    def __call__(self, X, n_threads: int = 1) -> np.ndarray:
        """Return the base scores of the rows of X, (n_samples, n_classes), float64, finite."""
        scores = self.fitted.scores(X, n_threads)
        wrong = ~np.isfinite(scores).all(axis=1)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"X must hold rows that the init model {self.model!r} gives finite scores, got row "
                f"{row} with {scores[row]}: fill its gaps, or choose an init model that takes gaps"
            )
        return self.factor * scores

    def shapley_values(self, X, background=None, n_threads: int = 1):
        """Return `FittedInit.shapley_values` of the base scores; None if they cannot be split."""
        found = self.fitted.shapley_values(X, background, n_threads)
        return None if found is None else tuple(self.factor * part for part in found)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What training leaves behind.

    Parameters
    ----------
    ensemble : Ensemble
        The weak learners and the path of their coefficients.
    labels : ndarray of shape (n_classes,)
    base : BaseScores or None, default=None
        Where boosting started from; None for zeros.
    scale : float, default=2.0
        Factor of the scores in the softmax of the probabilities; 2 inverts the loss.
    stage_scales : ndarray of shape (n_rounds,), float64, or None, default=None
        The factor for the first rounds, by their number; None if `scale` is that of all.
    importances : ndarray of shape (n_features,), dtype float64, or None, default=None
        Share of each feature in the squared SHAP values of training examples; None if unknown, see
        `settled`.
    conformity : Conformity or None, default=None
        Of examples left out, for prediction sets; None if there were none.
    constraints : dict of ndarray, default={}
        Those that all weak learners keep, by name and in the form of `BindContext`.
    examples : int or None, default=None
        Checksum of the rows and labels on which all rounds were trained; None if rounds differ in
        these, or if it is unknown.
    statistics : TargetStatistics or None, default=None
        What the weak learners compare in place of codes of categories; the base scores are those of
        the codes.
    seen : Sample or None, default=None
        Training examples that tell the importances; None once they have, or if there are none.
    """

    ensemble: Ensemble
    labels: np.ndarray
    base: BaseScores | None = None
    scale: float = 2.0
    importances: np.ndarray | None = None
    conformity: Conformity | None = None
    constraints: Mapping[str, np.ndarray] = field(default_factory=dict)
    stage_scales: np.ndarray | None = None
    examples: int | None = None
    statistics: TargetStatistics | None = None
    seen: Sample | None = None

    def __getstate__(self):
        # Training examples are not stored.
        return vars(self.settled())

    def settled(self, n_threads: int = 1) -> FittedModel:
        """Return the model with its importances, in place of the examples that tell them.

        A fit does not compute them, for they take up to a tenth of its time.
        """
        if self.seen is None:
            return self
        importances = importances_of(self, self.seen.X, self.seen.weight, n_threads)
        return replace(self, importances=importances, seen=None)

    def features(self, X):
        """Return what the weak learners compare of a checked X."""
        return X if self.statistics is None else self.statistics.features(X)

    def by_column(self, values: np.ndarray) -> np.ndarray:
        """Return sums of values, (n, n_features, ...), over the features of each column of X."""
        return values if self.statistics is None else self.statistics.by_column(values)

    def scale_at(self, n_rounds: int | None) -> float:
        """Return the factor of the scores after the first rounds, None for all.

        Before the first round it is that of the first.
        """
        if n_rounds is None or self.stage_scales is None:
            return self.scale
        return float(self.stage_scales[max(n_rounds, 1) - 1])

    def scores(self, X, n_rounds: int | None = None, n_threads: int = 1) -> np.ndarray:
        """Return the scores of a checked X: base scores plus the votes of the weak learners.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        n_rounds : int, default=None
            Use the first rounds only; None uses all.
        n_threads : int, default=1

        Returns
        -------
        ndarray of shape (n_samples, n_scores), dtype float64
        """
        self.ensemble.path.check_rounds(n_rounds, "n_estimators")
        votes = self.ensemble.scores(self.features(X), n_rounds=n_rounds, n_threads=n_threads)
        return votes if self.base is None else votes + self.base(X, n_threads)

    def staged_scores(self, X) -> Iterator[np.ndarray]:
        """Yield the scores of a checked X after each round; without a round, once."""
        if not self.ensemble.n_rounds:
            yield self.scores(X)
            return
        base = 0.0 if self.base is None else self.base(X)
        for votes in self.ensemble.staged_scores(self.features(X)):
            yield votes + base

    def truncate(self, n_rounds: int) -> FittedModel:
        """Return the model of the first rounds, without what calibrates all."""
        scale, stages = self.scale_at(n_rounds), self.stage_scales
        return replace(
            self,
            ensemble=self.ensemble.truncate(n_rounds),
            scale=scale,
            stage_scales=None if stages is None else stages[:n_rounds],
            conformity=None,
        )
