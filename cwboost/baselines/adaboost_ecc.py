"""`AdaBoostECCClassifier`: a random split of the classes every round, boosted by pseudo-loss."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cwboost.baselines.base import BaselineClassifier
from cwboost.baselines.codes import random_half
from cwboost.baselines.votes import NO_EDGE, PERFECT, VoteTraining, half_log_odds, normalised
from cwboost.ensemble.export_rules import export_rule
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.outputs import unpack_outputs
from cwboost.input.examples import Examples
from cwboost.kernels import exp, log
from cwboost.support.checks import check_number

CODES_A_ROUND = 20
"""Maximum number of codes that a round draws until a learner has an edge."""


@dataclass(kw_only=True)
class CodeTraining(VoteTraining):
    """Training of AdaBoost.ECC; the pricer shares `rng`.

    `smoothing` is added to the masses of right and wrong predictions that determine a coefficient.
    """

    rng: np.random.Generator
    smoothing: float

    extra_names = ("edge", "code_mass", "alpha", "beta")

    def __post_init__(self):
        super().__post_init__()
        self._log_mass = log((self.n_scores - 1) * self.problem.weight.sum())
        self._columns = np.arange(len(self.problem.y))
        self._weigh()

    def _weigh(self) -> None:
        """Compute the weights of example and wrong class, of sum one, and the loss."""
        own = self.scores[self.problem.y, self._columns]
        exponents = 0.5 * (self.scores - own)
        exponents[self.problem.y, self._columns] = -np.inf
        self._weights, log_sum = normalised(exponents, self.problem.weight)
        self.objective = float(exp(min(log_sum - self._log_mass, 700.0)))

    def round(self) -> bool:
        """Run one round of AdaBoost.ECC; return False once training ends (`stop_reason`)."""
        start = perf_counter()
        self.pricer.round = self.n_rounds + 1
        for _ in range(CODES_A_ROUND):
            code = random_half(self.n_scores, self.rng)
            signs = code[self.problem.y].astype(np.float64)
            # D_t: an example's weight is that of the wrong classes on the other side.
            across = np.where(code[:, None] != signs, self._weights, 0.0).sum(axis=0)
            mass = float(across.sum())
            if not mass > 0.0:
                continue
            across /= mass
            priced = self.pricer.price((signs * across)[None, :])
            outputs = unpack_outputs(priced.outputs, self.pricer.n_samples)[:, 0]
            edge = float((signs * across * outputs).sum())
            if abs(edge) > NO_EDGE:
                break
        else:
            any_learner = self.pricer.price(np.ones((1, self.pricer.n_samples))).learners
            return self.stop("no column", any_learner)
        priced_at = perf_counter()
        alpha, beta = self._coefficients(signs, across, outputs)
        # The vote of h: alpha where h = +1, -beta where h = -1.
        slope, constant = 0.5 * (alpha + beta), 0.5 * (alpha - beta)
        self.scores += np.outer(code, slope * outputs + constant)
        self._weigh()
        classes = np.arange(self.n_scores)
        votes = np.zeros_like(classes), classes, slope * code, constant * code
        seconds = priced_at - start, perf_counter() - priced_at
        self.record(priced, votes, seconds, edge=edge, code_mass=mass, alpha=alpha, beta=beta)
        if self.n_scores == 2 and abs(edge) >= 1.0 - PERFECT:
            self.stop_reason = "perfect weak learner"
            return False
        return True

    def _coefficients(self, signs, across, outputs) -> tuple[float, float]:
        """Return the coefficients of predictions +1 and -1: the smoothed minimisers of the loss."""
        right = outputs == signs
        sides = outputs > 0, outputs < 0
        of_right = np.array([across[right & side].sum() for side in sides])
        of_wrong = np.array([across[~right & side].sum() for side in sides])
        alpha, beta = half_log_odds(of_right, of_wrong, self.smoothing)
        return float(alpha), float(beta)


class AdaBoostECCClassifier(BaselineClassifier):
    r"""AdaBoost.ECC: every round draws a new split of the classes and boosts by pseudo-loss.

    AdaBoost.ECC [1]_ keeps a distribution over pairs of an example and a wrong class, initially
    P(i, l) proportional to w_i for l != y_i. A round draws a code m in {-1, +1}^n_classes, +1 for
    half of the classes, and weights an example by the classes that the code separates from its own,

    .. math::

        U = \sum_i \sum_{l:\, m_l \ne m_{y_i}} P(i, l), \qquad
        D(i) = \frac{1}{U} \sum_{l:\, m_l \ne m_{y_i}} P(i, l).

    A weak learner h is found for the labels m_{y_i} under D. It votes g(x) = alpha if
    h(x) = +1 and g(x) = -beta if h(x) = -1, with

    .. math::

        \alpha = \frac{1}{2} \log \frac{D[h = +1, m = +1]}{D[h = +1, m = -1]}, \qquad
        \beta = \frac{1}{2} \log \frac{D[h = -1, m = -1]}{D[h = -1, m = +1]},

    which minimise the loss, the sum over i and l != y_i of
    exp((F_l(x_i) - F_{y_i}(x_i)) / 2) with F_l the sum of the rounds' m_l g(x). P stays
    proportional to the terms of the loss; the prediction is the class of largest F_l. `smoothing`
    is added to both masses of a ratio [2]_, since the vote of a leaf without errors would be
    unbounded.

    Parameters
    ----------
    weak_learner : str, WeakLearnerFamily or list of these, default="stump"
        As for `CWBoostClassifier`.
    n_estimators : int, default=200
        Number of rounds; each adds one weak learner.
    smoothing : float in (0, 1], default=1e-3
        Bounds a coefficient by about log(1 / smoothing) / 2.
    random_state : int, RandomState instance or None, default=None
        Generator for the codes and for the family.
    categorical_features, callbacks, n_jobs, verbose
        As for `CWBoostClassifier`, with the same defaults.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, categories_, family_, model_, n_iter_
        As of `CWBoostClassifier`.
    ensemble_ : Ensemble
        Coefficients and offsets, as g = (alpha - beta) / 2 + (alpha + beta) / 2 h.
    history_ : dict of ndarrays of shape (n_rounds,)
        objective (the loss above, relative to its initial value), edge (1 - 2 pseudo-loss),
        code_mass (U), alpha, beta, n_nonzero, pricing_seconds (with the choice of the code),
        solver_seconds, train_error, valid_error; dual_bound, gap, max_violation and learning_rate
        are NaN.
    stop_reason_ : str
        "n_estimators"; "no column" (no learner had an edge for any of the round's 20 codes);
        "perfect weak learner" (two classes only: a learner without errors; with more classes
        training continues with another code); or that of a callback.

    References
    ----------
    .. [1] Guruswami and Sahai, "Multiclass learning, boosting, and error-correcting codes",
       COLT 1999.
    .. [2] Schapire and Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999.

    Examples
    --------
    >>> from cwboost import AdaBoostECCClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(AdaBoostECCClassifier(n_estimators=20, random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        weak_learner: str | WeakLearnerFamily | Sequence[str | WeakLearnerFamily] = "stump",
        n_estimators: int = 200,
        smoothing: float = 1e-3,
        categorical_features: ArrayLike | str | None = "from_dtype",
        callbacks: list[Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.n_estimators = n_estimators
        self.smoothing = smoothing
        self.categorical_features = categorical_features
        self.callbacks = callbacks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("smoothing", self.smoothing, Real, 0.0, 1.0, low_open=True)

    def _training(self, examples: Examples, rng) -> CodeTraining:
        n_classes = len(examples.problem.classes)
        return CodeTraining(
            pricer=self._bind(examples, rng, n_targets=1),
            examples=examples,
            n_scores=n_classes,
            rng=rng,
            smoothing=float(self.smoothing),
        )

    @export_rule("scores")
    def _logits(self, scores, n_rounds: int | None = None) -> np.ndarray:
        # The expected loss is minimal if exp(F_l / 2) is proportional to sqrt(P(l)).
        return scores
