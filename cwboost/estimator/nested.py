"""Parameters of the weak learner through those of the classifier, also where it is a name."""

from __future__ import annotations

from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.discovery import resolve_weak_learner

__all__ = ["NestedWeakLearner"]

PREFIX = "weak_learner__"


class NestedWeakLearner:
    """Mixin for a classifier with a parameter `weak_learner`, before BaseEstimator."""

    def get_params(self, deep=True):
        """Get the parameters of this classifier.

        Parameters
        ----------
        deep : bool, default=True
            Also those of the weak learner, as ``weak_learner__NAME``, with their defaults if it
            is given by name.

        Returns
        -------
        dict of str to object
        """
        params = super().get_params(deep)
        if deep and not isinstance(self.weak_learner, WeakLearnerFamily):
            try:
                family = resolve_weak_learner(self.weak_learner)
            except (TypeError, ValueError):
                return params  # What is wrong with the weak learner is for `fit` to say.
            nested = family.get_params()
            params.update((f"{PREFIX}{name}", value) for name, value in nested.items())
        return params

    def set_params(self, **params):
        """Set parameters of this classifier, or of its weak learner as ``weak_learner__NAME``.

        A weak learner that is given by name becomes a family with that parameter.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self
        """
        if any(name.startswith(PREFIX) for name in params):
            spec = params.get("weak_learner", self.weak_learner)
            if not isinstance(spec, WeakLearnerFamily):
                params["weak_learner"] = resolve_weak_learner(spec)
        return super().set_params(**params)
