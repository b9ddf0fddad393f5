"""The parameter `similarity`: scores of similarity as further columns of X."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from cwboost.ensemble.inspection import feature_importances
from cwboost.estimator.held_out.trial import Trial
from cwboost.estimator.problem import Problem
from cwboost.families.composed.automatic import AutoFamily, is_finite
from cwboost.similarity import SimilarityScores

__all__ = ["UsesSimilarity", "joined", "names_of_scores"]

MOST_FEATURES, MOST_CLASSES = 10_000, 100
"""With more there are no scores: landmarks, or the columns of the scores, would cost too much."""

FEWEST_EXAMPLES = 50
"""With fewer there are no scores: on noisy data, probabilities would be too sure of them."""


class UsesSimilarity:
    """Mixin of a class-wise classifier before `cwboost.estimator.base.BoostingClassifier`.

    The scores of a training example are those that the regression would give it without its label.
    So weak learners meet the same kind of number in training and at prediction.
    """

    def _with_similarity(self, problem: Problem, family, previous, run_trial):
        """Fit the scores if they are wanted and worth it, and append them to X as last columns.

        A continued training keeps those of the `previous` fit.

        Parameters
        ----------
        problem : Problem
        family : WeakLearnerFamily
        previous : dict or None
        run_trial : callable
            Returns a trial without scores on a problem, or None if they are wanted anyway.

        Returns
        -------
        problem : Problem
        trial : Trial or None
            If there are no scores since the trial was better, that trial.
        """
        if previous is not None:
            self._set_similarity(previous["similarity"])
            return self._with_scores_again(problem), None
        self._set_similarity(None)
        if not self._wants_similarity(problem, family):
            return problem, None
        trial = run_trial(problem)
        similarity, levels = _fit(problem, self._n_threads(), trial)
        if levels is None:
            return problem, trial
        self._set_similarity(similarity)
        return replace(problem, X=joined(problem.X, levels)), None

    def _with_scores_again(self, problem: Problem) -> Problem:
        """Return a problem with the scores of the fitted model as last columns of X.

        If the examples are those that it was fitted on, without the example's own label, as then.
        """
        own = self._similarity()
        if own is None:
            return problem
        if problem.X.shape[1] != len(own.fill):
            raise ValueError(f"X: expected {len(own.fill)} features, got {problem.X.shape[1]}")
        n_threads = self._n_threads()
        if not sparse.issparse(problem.X) and is_finite(problem.X):
            found, levels = _fit(problem, n_threads)
            if found is not None and found.equals(own):
                return replace(problem, X=joined(problem.X, levels))
        return replace(problem, X=self._expanded(problem.X))

    def _wants_similarity(self, problem: Problem, family) -> bool:
        """Return True if the parameter asks for scores and the data allow them."""
        X = problem.X
        facts = {"is_sparse": sparse.issparse(X), "is_finite": is_finite(X)}
        return self._may_have_similarity(family) and self._data_allow_similarity(X.shape, **facts)

    def _may_have_similarity(self, family) -> bool:
        """Return True if the parameter asks for scores, should the data allow them."""
        if self.similarity == "auto":
            return type(family) is AutoFamily
        return self.similarity is True

    def _data_allow_similarity(self, shape, *, is_sparse: bool, is_finite: bool) -> bool:
        """Return whether X and y allow scores; raise a ValueError if not, but they are demanded."""
        obstacles = {
            "columns of categories": bool(self._categories()),
            "monotonic_cst": self.monotonic_cst is not None,
            "sparse X": is_sparse,
            "missing or infinite values in X": not is_finite,
            f"fewer than {FEWEST_EXAMPLES} examples": shape[0] < FEWEST_EXAMPLES,
            f"more than {MOST_FEATURES} features": shape[1] > MOST_FEATURES,
            f"more than {MOST_CLASSES} classes": len(self.classes_) > MOST_CLASSES,
        }
        found = [name for name, is_there in obstacles.items() if is_there]
        if found and self.similarity is True:
            raise ValueError(f"similarity must be 'auto' or False with {found[0]}, got True")
        return not found

    def _similarity(self) -> SimilarityScores | None:
        return getattr(self, "similarity_", None)

    def _set_similarity(self, similarity: SimilarityScores | None) -> None:
        """Set or remove ``similarity_``, which only models with these scores have."""
        self.__dict__.pop("similarity_", None)
        self.__dict__.pop("similarity_votes_", None)
        if similarity is not None:
            self.similarity_ = similarity

    def _expanded(self, X):
        similarity = self._similarity()
        if similarity is None:
            return X
        X = similarity.filled(X)
        return joined(X, similarity(X, self._n_threads()))

    def _fitted_attributes(self, fit, stop_reason) -> dict:
        attributes = super()._fitted_attributes(fit, stop_reason)
        return attributes if self._similarity() is None else attributes | {"similarity_votes_": 0}

    def _check_model(self) -> None:
        super()._check_model()
        n_votes, path = self.__dict__.get("similarity_votes_", 0), self.ensemble_.path
        if self._similarity() is None and "similarity_votes_" in self.__dict__:
            raise ValueError("similarity_votes_ needs similarity_")
        if not 0 <= n_votes <= path.learners_offsets[min(1, path.n_rounds)]:
            raise ValueError(f"similarity_votes_ must be learners of round 1, got {n_votes}")
        first, others = path.column[:n_votes], path.column[n_votes:]
        if not np.array_equal(first, np.arange(n_votes)) or (others < n_votes).any():
            raise ValueError("similarity_votes_ must have one coefficient each, the first ones")

    def _n_columns(self) -> int:
        similarity = self._similarity()
        return self.n_features_in_ + (0 if similarity is None else similarity.n_scores)

    def _feature_names(self) -> list[str]:
        return [*super()._feature_names(), *names_of_scores(self._similarity(), self.classes_)]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Fraction of each feature in what the comparisons of the learners gained in edge.

        An ndarray of shape (n_features,), float64, not negative, of sum 1: the gains beyond what
        chance gives, times coefficients, on the training examples. What a score of similarity
        gained is divided among the features in proportion to its squared slopes per standard
        deviation.

        Raises NotImplementedError if the family does not report the features of its learners.
        """
        self._require_fitted()
        similarity = self._similarity()
        found = feature_importances(self.ensemble_, self._n_columns())
        if similarity is None:
            return found
        own, scores = found[: self.n_features_in_], found[self.n_features_in_ :]
        return own + scores @ similarity.slopes()


def names_of_scores(similarity: SimilarityScores | None, classes) -> list[str]:
    """Return the names of the scores as features."""
    scored = () if similarity is None else classes[: similarity.n_scores]
    return [f"similarity to {label}" for label in scored]


def joined(X, levels):
    """Return X with scores as last columns, of its dtype."""
    if sparse.issparse(X):
        levels = sparse.csr_array(levels.astype(X.dtype))
        return sparse.csr_array(sparse.hstack([X, levels], format="csr"))
    n, width = X.shape
    by_column = X.flags.f_contiguous and not X.flags.c_contiguous
    whole = np.empty((n, width + levels.shape[1]), X.dtype, order="F" if by_column else "C")
    whole[:, :width] = X
    whole[:, width:] = levels
    return whole


def _fit(problem: Problem, n_threads: int, trial: Trial | None = None):
    is_worth = None if trial is None else trial.allows
    given = problem.X, problem.y, len(problem.counts), problem.weight, n_threads
    return SimilarityScores.fit(*given, is_worth)
