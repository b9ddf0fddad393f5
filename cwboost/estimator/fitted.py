"""Methods of every fitted classifier besides prediction: saving and calibration."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from cwboost.estimator.explaining import ExplainedModel
from cwboost.estimator.export_rules import export_rule, rule_of
from cwboost.estimator.held_out.calibration import LOSS_SCALE, fit_scale
from cwboost.estimator.input.categories import check_categories
from cwboost.model_file.saving import save

__all__ = ["FittedModel"]


class FittedModel(ExplainedModel):
    """Methods of fitted classifiers; a mixin of `cwboost.estimator.base.BoostingClassifier`."""

    _model_attributes: ClassVar[dict[str, type]] = {}
    """Fitted attributes that a model file must hold besides those of all classifiers."""

    def save(self, path, *, staged=True, training_state=False):
        """Save the fitted model to a file that `cwboost.load_model` reads.

        The file is replaced in one step: a crash while saving leaves an existing file intact. It
        holds no code. Callbacks, and a generator object given as ``random_state``, are not stored.

        Parameters
        ----------
        path : path-like
        staged : bool, default=True
            Store the coefficients of every round. False stores only those after the last round:
            the file is smaller after total correction, but the model cannot predict with fewer
            rounds.
        training_state : bool, default=False
            Store the pair weights of a ``warm_start`` model, so that the loaded model continues
            training with the same bits.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            If a value cannot be stored; the message names it.
        OSError
            If the file cannot be written.
        """
        save(self, path, staged=staged, training_state=training_state)

    def _check_model(self) -> None:
        """Check that the values of a model file are consistent; raise a ValueError if not."""
        ensemble, classes = self.ensemble_, self.classes_
        if ensemble.n_scores != len(classes):
            raise ValueError(
                f"the ensemble has {ensemble.n_scores} scores for {len(classes)} classes"
            )
        check_categories(self._categories(), self.n_features_in_)

    def _categories(self) -> dict:
        """Return the sorted categories of each categorical column, by its place."""
        return getattr(self, "categories_", {})

    def calibrate(self, X, y):
        """Fit the scale of `predict_proba` on examples that the model was not trained on.

        Predictions and scores do not change.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        if rule_of(self, "_logits") != "scaled":
            raise TypeError(f"{type(self).__name__} computes probabilities without a scale")
        scores = self._scores(X)
        y = column_or_1d(y)
        check_consistent_length(scores, y)
        self.probability_scale_ = fit_scale(scores, self._encode(y, "y"))
        return self

    @export_rule("scaled")
    def _logits(self, scores) -> np.ndarray:
        """Return what `predict_proba` takes the softmax of; it must increase with the scores."""
        return getattr(self, "probability_scale_", LOSS_SCALE) * scores
