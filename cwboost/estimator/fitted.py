"""Methods of every fitted classifier besides prediction: saving, calibration, inspection."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from cwboost.ensemble import inspection
from cwboost.estimator.export_rules import export_rule, rule_of
from cwboost.estimator.held_out.calibration import LOSS_SCALE, fit_scale
from cwboost.estimator.input.categories import check_categories
from cwboost.model_file.saving import save

__all__ = ["FittedModel"]


class FittedModel:
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

    @property
    def feature_importances_(self) -> np.ndarray:
        """Fraction of each feature in what the comparisons of the learners gained in edge.

        An ndarray of shape (n_features,), float64, not negative, of sum 1: the gains beyond what
        chance gives, times coefficients, on the training examples.

        Raises NotImplementedError if the family does not report the features of its learners.
        """
        self._require_fitted()
        return inspection.feature_importances(self.ensemble_, self.n_features_in_)

    def class_columns(self, label) -> inspection.ClassColumns:
        """Return the weak learners of one class, by decreasing coefficient.

        Parameters
        ----------
        label : a label of ``classes_``

        Returns
        -------
        ClassColumns
        """
        self._require_fitted()
        found = np.flatnonzero(self.classes_ == label)
        if len(found) == 0:
            raise ValueError(f"label must be one of classes_, got {label!r}")
        return inspection.class_columns(self.ensemble_, int(found[0]))

    def explain(self, X, n_estimators=None):
        """Split the scores of stump models by feature, exactly.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n_estimators : int, default=None
            Use the first rounds only; all by default.

        Returns
        -------
        constant : ndarray of shape (n_classes,), float64
        parts : ndarray of shape (n_samples, n_features, n_classes), float64
            Added to ``constant`` in the order of the features, they give the scores.

        Raises
        ------
        TypeError
            If learners use several features each.
        """
        X = self._check_predict(X)
        self.ensemble_.path.check_rounds(n_estimators, "n_estimators")
        return inspection.contributions(self.ensemble_, X, n_estimators)
