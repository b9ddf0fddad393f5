"""`AdaBoostMHClassifier`: one binary question per pair of example and class."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cwboost.baselines.base import BaselineClassifier
from cwboost.baselines.labels import LabelTraining
from cwboost.ensemble.export_rules import export_rule
from cwboost.families.contract import WeakLearnerFamily
from cwboost.input.examples import Examples
from cwboost.kernels import exp, log


class AdaBoostMHClassifier(BaselineClassifier):
    r"""Discrete AdaBoost.MH: boosting of the question "is it class l?" for all classes jointly.

    AdaBoost.MH [1]_ turns an example of class y_i into n_classes binary examples with signs
    Y_i[l] = +1 for l = y_i and -1 otherwise, and keeps a distribution D over the pairs (i, l),
    initially D(i, l) = w_i / (n_classes sum w). A round's hypothesis is
    h(x, l) = v_l h(x) with one weak learner h and a vote vector v in {-1, +1}^n_classes. It
    maximises

    .. math:: r = \sum_{i, l} D(i, l) \, Y_i[l] \, h(x_i, l),

    so v_l is the sign of the edge of class l, sum_i D(i, l) Y_i[l] h(x_i). Then

    .. math::

        \mathrm{coefficient} = \frac{1}{2} \log \frac{1 + r}{1 - r}, \qquad
        D(i, l) \propto D(i, l) \, e^{-\mathrm{coefficient} \, Y_i[l] \, h(x_i, l)},

    which multiplies the loss, the mean of exp(-Y_i[l] F_l(x_i)), by sqrt(1 - r^2). F_l(x) is the
    sum of coefficient times h(x, l) over the rounds; the prediction is the class of largest F_l.

    Parameters
    ----------
    weak_learner : str, WeakLearnerFamily or list of these, default="stump"
        As for `CWBoostClassifier`.
    n_estimators : int, default=200
        Number of rounds; each adds one weak learner.
    random_state : int, RandomState instance or None, default=None
        Seed of what the family draws.
    categorical_features, callbacks, n_jobs, verbose
        As for `CWBoostClassifier`, with the same defaults.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, categories_, family_, model_, n_iter_
        As of `CWBoostClassifier`.
    ensemble_ : Ensemble
    history_ : dict of ndarrays of shape (n_rounds,)
        objective (the loss above), edge (r), coefficient, n_nonzero, pricing_seconds,
        solver_seconds (weights and scores), train_error, valid_error; dual_bound, gap,
        max_violation and learning_rate are NaN.
    stop_reason_ : str
        "n_estimators", "perfect weak learner" (the last learner has no errors; every further
        round would find it again), "no column" (the best learner has no edge and was not added),
        or that of a callback.

    References
    ----------
    .. [1] Schapire and Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999.

    Examples
    --------
    >>> from cwboost import AdaBoostMHClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(AdaBoostMHClassifier(n_estimators=20, random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        weak_learner: str | WeakLearnerFamily | Sequence[str | WeakLearnerFamily] = "stump",
        n_estimators: int = 200,
        categorical_features: ArrayLike | str | None = "from_dtype",
        callbacks: list[Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.n_estimators = n_estimators
        self.categorical_features = categorical_features
        self.callbacks = callbacks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _training(self, examples: Examples, rng) -> LabelTraining:
        n_classes = len(examples.problem.classes)
        return LabelTraining(
            pricer=self._bind(examples, rng, n_targets=n_classes),
            examples=examples,
            n_scores=n_classes,
            code=2 * np.eye(n_classes, dtype=np.int8) - 1,
            shared=True,
        )

    @export_rule("logistic per label")
    def _logits(self, scores, n_rounds: int | None = None) -> np.ndarray:
        # The loss of a label is minimal at P(l) = 1 / (1 + exp(-2 F_l)); scaled to sum to one.
        small = exp(-np.abs(2.0 * scores))
        # log(1 + small) to its last digit, by the excess that the sum has after rounding.
        total = 1.0 + small
        excess = np.where(total > 1.0, total - 1.0, 1.0)
        log1p = np.where(total > 1.0, log(total) * (small / excess), small)
        return np.minimum(2.0 * scores, 0.0) - log1p
