"""Methods of every fitted classifier that look inside: importances, explanations, tables."""

from __future__ import annotations

import json

import numpy as np

from cwboost.ensemble import inspection, shapley, tables
from cwboost.estimator.export_rules import rule_of
from cwboost.support.extras import extra

__all__ = ["ExplainedModel"]


class ExplainedModel:
    """Methods that look inside a fitted classifier; a mixin."""

    @property
    def feature_importances_(self) -> np.ndarray:
        """Fraction of each feature in what the comparisons of the learners gained in edge.

        An ndarray of shape (n_features,), float64, not negative, of sum 1: the gains beyond what
        chance gives, times coefficients, on the training examples.

        Raises NotImplementedError if the family does not report the features of its learners.
        """
        self._require_fitted()
        return inspection.feature_importances(self.ensemble_, self._n_columns())

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
        """Split the scores by feature, exactly.

        Stump models are sums of functions of one feature each: the parts are the values of these
        functions. For other models the parts are the values of `shap_values` with X as background.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n_estimators : int, default=None
            Use the first rounds only; all by default.

        Returns
        -------
        constant : ndarray of shape (n_classes,), float64
        parts : ndarray of shape (n_samples, n_features, n_classes), float64
            Added to ``constant`` in the order of the features, they give the scores: of stump
            models bit for bit, of others up to rounding.

        Raises
        ------
        TypeError
            If learners have no flat form, as some of third parties.
        """
        X = self._check_predict(X)
        self.ensemble_.path.check_rounds(n_estimators, "n_estimators")
        if inspection.is_additive(self.ensemble_):
            return inspection.contributions(self.ensemble_, X, n_estimators)
        values, base = self._shapley(X, X, n_estimators)
        return base, values

    def shap_values(self, X, background=None, n_estimators=None):
        """Return the SHAP values of the scores: how far each feature moves each class's score.

        Trees and stumps have path-dependent values as of TreeSHAP, exact: the Shapley values of the
        game in which, at a comparison of a feature that is not known, both sides count by the
        numbers of background examples there. Thresholds on directions have Aumann-Shapley values:
        the difference from a background example is spread along the straight line to it, and the
        mean taken over the background.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        background : array-like or sparse matrix of shape (n_background, n_features), default=None
            Usually the training examples, or some of them; None takes X. Of a model with
            directions (the default is one), 100 rows are used, evenly spaced.
        n_estimators : int, default=None
            Use the first rounds only; all by default.

        Returns
        -------
        values : ndarray of shape (n_samples, n_features, n_classes), float64
            In the order of ``classes_``, also for two classes.
        base : ndarray of shape (n_classes,), float64
            The mean scores of the background that is used. ``base + values.sum(axis=1)`` are the
            scores, up to rounding.

        Raises
        ------
        TypeError
            If learners have no flat form, as some of third parties, or if the classes' scores are
            not the sums of the learners' votes.

        Notes
        -----
        For the plots of the package shap: ``shap.Explanation(values, base_values, data=X)`` with
        ``base_values = np.tile(base, (len(X), 1))``.
        """
        X = self._check_predict(X)
        background = X if background is None else self._check_predict(background)
        self.ensemble_.path.check_rounds(n_estimators, "n_estimators")
        return self._shapley(X, background, n_estimators)

    def _shapley(self, X, background, n_estimators):
        """Return SHAP values of checked input."""
        if rule_of(self, "_class_scores") != "identity":
            raise TypeError(
                f"SHAP values split sums of votes; the scores of {type(self).__name__} are not "
                "sums of votes for classes"
            )
        return shapley.shapley_values(
            self.ensemble_, X, background, n_estimators, self._n_threads()
        )

    def to_frame(self, n_estimators=None):
        """Return the nodes of all learners as a pandas DataFrame, one row per node.

        Parameters
        ----------
        n_estimators : int, default=None
            Use the first rounds only; all by default.

        Returns
        -------
        pandas.DataFrame
            Columns ``learner``, ``round``, ``class``, ``coef``, ``edge`` say which learner votes
            for which class; a learner that votes for several classes is repeated. ``node``,
            ``depth``, ``feature``, ``direction``, ``threshold``, ``categories``, ``missing``,
            ``left``, ``right``, ``output``, ``gain`` describe the node. An inner node sends an
            example to node ``right`` if its feature, or the sum of features times the entries of
            its direction (a dict by names), exceeds the threshold, or is one of the categories. A
            leaf has an output.

        Raises
        ------
        TypeError
            If learners have no flat form, as some of third parties.
        ImportError
            Without pandas.
        """
        with extra("frames", "to_frame needs pandas"):
            import pandas
        return pandas.DataFrame(self._node_rows(n_estimators), columns=list(tables.COLUMNS))

    def to_json(self, n_estimators=None) -> str:
        """Return the learners as JSON: a list of the rows of `to_frame`, in words and numbers.

        Parameters
        ----------
        n_estimators : int, default=None
            Use the first rounds only; all by default.

        Returns
        -------
        str
            An object with ``classes``, ``features`` and ``nodes``. Infinite thresholds are the
            strings "inf" and "-inf".
        """
        rows = self._node_rows(n_estimators)
        for row in rows:
            if row["threshold"] is not None and not np.isfinite(row["threshold"]):
                row["threshold"] = str(row["threshold"])
        content = {
            "classes": self.classes_.tolist(),
            "features": self._feature_names(),
            "nodes": rows,
        }
        return json.dumps(content, allow_nan=False)

    def strongest(self, label=None, n_learners: int = 10):
        """Return the learners of largest coefficients in words, as a pandas DataFrame.

        Parameters
        ----------
        label : a label of ``classes_``, default=None
            One class; None takes all.
        n_learners : int, default=10
            Number of learners per class.

        Returns
        -------
        pandas.DataFrame
            Columns ``class``, ``coef``, ``edge``, ``round`` and ``votes +1 if``.
        """
        with extra("frames", "strongest needs pandas"):
            import pandas
        labels = self.classes_ if label is None else [label]
        names = self._feature_names()
        rows = [
            row
            for one in labels
            for row in tables.strongest(
                self.class_columns(one), one, names, self._categories(), n_learners
            )
        ]
        return pandas.DataFrame(rows, columns=list(tables.STRONGEST))

    def _node_rows(self, n_estimators) -> list[dict]:
        self._require_fitted()
        self.ensemble_.path.check_rounds(n_estimators, "n_estimators")
        names, categories = self._feature_names(), self._categories()
        return tables.node_rows(self.ensemble_, self.classes_, names, categories, n_estimators)

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"feature {f}" for f in range(self.n_features_in_)]
        return [str(name) for name in names]
