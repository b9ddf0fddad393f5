"""AdaBoost for many classes: AdaBoost.ECC, AdaBoost.MH and AdaBoost.MO.

Every round recomputes the weights from the scores, as exp(exponent - largest exponent) scaled to
sum one. No product accumulates over the rounds, so weights do not overflow, and a weight that is
negligible in one round can grow again later.

`LabelTraining` is the training of AdaBoost.MH, with one label per class, and of AdaBoost.MO, with
one per bit of a code; `CodeTraining` is that of AdaBoost.ECC.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cwboost.baselines.base import BaselineClassifier
from cwboost.baselines.codes import code_matrix, random_half
from cwboost.calibration.scores import held_out_scores
from cwboost.ensemble.export_rules import export_rule
from cwboost.ensemble.growing import GrowingEnsemble
from cwboost.families.contract import Priced, WeakLearnerFamily
from cwboost.families.outputs import unpack_outputs
from cwboost.families.sealing.pricer import SealedPricer
from cwboost.input.checks import check_choice, generator_of
from cwboost.input.examples import Examples
from cwboost.kernels import exp, log, matrix_product
from cwboost.support.checks import check_number
from cwboost.training.outcome import ModelOutcome

CODES_A_ROUND = 20
"""Maximum number of codes that a round of AdaBoost.ECC draws until a learner has an edge."""

SMOOTHING = 1e-3
"""Added to the masses of a label in the real AdaBoost.MH, as a share of the label's mass."""

DECODED_UNIT = 2.0**-24
"""Unit of the scores that AdaBoost.MO decodes, far above their rounding errors."""

ERROR_OF_PERFECT = 1e-6
"""Error assumed for the coefficient of a perfect learner, which would be infinite."""

NO_EDGE = 1e-12
"""Edge up to which a learner is no better than chance: the rounding error of a sum of one."""
PERFECT = 1e-12
"""Difference from one up to which an edge is that of a learner without errors."""
SMALLEST_WEIGHT = 1e-250
"""Smaller weights become zero: they cannot change a sum of one, but slow it down."""


def normalised(exponents, weight) -> tuple[np.ndarray, float]:
    """Return ``weight * exp(exponents)`` scaled to sum 1, and the logarithm of the former sum.

    `exponents`, (n_rows, n_samples), is overwritten. Minus infinity gives a weight of zero.
    """
    largest = exponents.max()
    exponents -= largest
    weights = exp(exponents)
    weights *= weight
    total = weights.sum()
    weights /= total
    weights[weights < SMALLEST_WEIGHT] = 0.0
    return weights, float(log(total) + largest)


def half_log_odds(right, wrong, smoothing=0.0):
    """Return ``log((right + smoothing) / (wrong + smoothing)) / 2`` of floats or arrays."""
    return 0.5 * log((right + smoothing) / (wrong + smoothing))


@dataclass
class VoteTraining:
    """Training in which a round adds learners whose coefficients never change again.

    A subclass runs the rounds; this class adds their learners to the model. `scores` are those of
    the training set, (n_scores, n_samples), and `objective` is the loss that training descends, at
    these scores; `decode` maps scores to those of the classes, both with one row per example, None
    is the identity. `stop_reason` is the reason for stopping, or None.
    """

    pricer: SealedPricer
    examples: Examples
    n_scores: int
    decode: Callable | None = None

    extra_names: ClassVar[tuple[str, ...]] = ()
    """Names of history arrays that only this kind of training has."""

    def __post_init__(self) -> None:
        self.stop_reason: str | None = None
        self.objective = 1.0
        held_out = held_out_scores(
            self.examples.held_out,
            self.examples.classes,
            n_scores=self.n_scores,
            decode=self.decode,
        )
        self.model = GrowingEnsemble(self.n_scores, held_out, self.extra_names)
        self.scores = np.zeros((self.n_scores, len(self.examples.y)))
        self._n_nonzero = 0

    @property
    def n_rounds(self) -> int:
        """Number of finished rounds."""
        return self.model.n_rounds

    @property
    def mean_loss(self) -> float:
        """Mean loss of the training examples, 1 before the first round."""
        return self.objective

    def class_scores(self) -> np.ndarray:
        """Return the scores of the classes on the training set, shape (n_classes, n_samples)."""
        return self.scores if self.decode is None else self.decode(self.scores.T).T

    def stop(self, reason: str, learners) -> bool:
        """End training; the model has the type of `learners`, even if it has no learner."""
        if self.n_rounds == 0:
            self.model.add_learners(learners.take([]), [])
        self.stop_reason = reason
        return False

    def record(self, priced: Priced, votes, seconds, **extra) -> None:
        """Add a round to the model; values that are not defined are NaN in the history.

        The `votes` are learners of `priced`, the scores that they vote for, their coefficients, and
        what is added to the scores of every example, or None. The `seconds` are those of pricing
        and of solving.
        """
        learner, score_index, values, offset = votes
        ids = self.model.add_learners(priced.learners, priced.edges)[learner]
        self._n_nonzero += int(np.count_nonzero(values))
        rival = np.argmax(self.class_scores(), axis=0)
        entry = {
            "objective": self.objective,
            "n_nonzero": self._n_nonzero,
            "pricing_seconds": seconds[0],
            "solver_seconds": seconds[1],
            "train_error": float(
                np.average(rival != self.examples.y, weights=self.examples.weight)
            ),
            **extra,
        }
        self.model.end_round(ids, score_index, values, np.nan, entry, offset)


@dataclass(kw_only=True)
class LabelTraining(VoteTraining):
    """AdaBoost.MH on the labels ``code[y_i]`` of the examples.

    The code is (n_classes, n_scores), of -1 and +1. A `shared` learner votes on all labels; else a
    round has one learner per label.
    """

    code: np.ndarray
    shared: bool

    extra_names = ("edge", "coefficient")

    def __post_init__(self):
        super().__post_init__()
        self._signs = np.ascontiguousarray(self.code[self.examples.y].T)
        self._log_mass = log(self.n_scores * self.examples.weight.sum())
        self._weigh()

    def _weigh(self) -> None:
        """Compute the weights of example and label, exp(-Y F) scaled to sum one, and the loss."""
        exponents = np.multiply(self._signs, self.scores)
        np.negative(exponents, out=exponents)
        self._weights, log_sum = normalised(exponents, self.examples.weight)
        self.objective = float(exp(min(log_sum - self._log_mass, 700.0)))

    def round(self) -> bool:
        """Run one round of AdaBoost.MH; return False once training ends (`stop_reason`)."""
        start = perf_counter()
        signed = self._signs * self._weights
        self.pricer.round = self.n_rounds + 1
        priced = self._price(signed)
        priced_at = perf_counter()
        outputs = unpack_outputs(priced.outputs, self.pricer.n_samples).T
        labels = np.arange(self.n_scores)
        edges = (signed[labels] * outputs).sum(axis=1)
        edge = min(float(np.abs(edges).sum()), 1.0)
        if edge <= NO_EDGE:
            return self.stop("no column", priced.learners)
        perfect = edge >= 1.0 - PERFECT
        coefficient, slopes, constants = self._votes(signed, outputs, edges, perfect)
        self.scores += slopes[:, None] * outputs
        if constants is not None:
            self.scores += constants[:, None]
        self._weigh()
        learner = np.zeros_like(labels) if self.shared else labels
        votes = learner, labels, slopes, constants
        seconds = priced_at - start, perf_counter() - priced_at
        self.record(priced, votes, seconds, edge=edge, coefficient=coefficient)
        if perfect:
            self.stop_reason = "perfect weak learner"
        return not perfect

    def _price(self, signed) -> Priced:
        """Return the learners of a round: of all labels, or of each."""
        return self.pricer.price_shared(signed) if self.shared else self.pricer.price(signed)

    def _votes(self, signed, outputs, edges, perfect):
        """Return the coefficient, and the votes per label as slope and constant of the output."""
        # No finite coefficient minimises the loss of a learner without errors.
        wrong = ERROR_OF_PERFECT if perfect else 0.5 * (1.0 - float(np.abs(edges).sum()))
        coefficient = float(half_log_odds(1.0 - wrong, wrong))
        return coefficient, coefficient * np.where(edges >= 0.0, 1.0, -1.0), None


class RealLabelTraining(LabelTraining):
    """AdaBoost.MH in which each of a learner's outputs has a vote of its own for every label."""

    def _price(self, signed) -> Priced:
        """Return the learner of least normaliser among the best of all labels and of each."""
        found = self.pricer.price_shared(signed), self.pricer.price(signed)
        bits = np.concatenate([priced.outputs for priced in found])
        outputs = unpack_outputs(bits, self.pricer.n_samples).T
        normalisers = sum(
            np.sqrt(right * wrong).sum(axis=1) for right, wrong in _masses(signed, outputs)
        )
        best = int(np.argmin(normalisers))
        edge = np.abs((signed * outputs[best]).sum(axis=1)).sum()
        priced, place = (found[0], 0) if best == 0 else (found[1], best - 1)
        return Priced(
            priced.learners.take(np.array([place])),
            bits[best : best + 1],
            edge.reshape(1).clip(max=1.0),
        )

    def _votes(self, signed, outputs, edges, perfect):
        """Return NaN, and the votes, which minimise the loss per label and output."""
        above, below = (
            half_log_odds(right[0], wrong[0], SMOOTHING / self.n_scores)
            for right, wrong in _masses(signed, outputs[:1])
        )
        return np.nan, 0.5 * (above - below), 0.5 * (above + below)


def _masses(signed, outputs):
    """Return, for outputs +1 and -1, the weights of labels +1 and -1, (n_learners, n_labels)."""
    parts = [np.ascontiguousarray(np.maximum(part, 0.0).T) for part in (signed, -signed)]
    sides = [np.ascontiguousarray(side, dtype=np.uint8) for side in (outputs > 0, outputs < 0)]
    return [[matrix_product(side, part) for part in parts] for side in sides]


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
        self._log_mass = log((self.n_scores - 1) * self.examples.weight.sum())
        self._columns = np.arange(len(self.examples.y))
        self._weigh()

    def _weigh(self) -> None:
        """Compute the weights of example and wrong class, of sum one, and the loss."""
        own = self.scores[self.examples.y, self._columns]
        exponents = 0.5 * (self.scores - own)
        exponents[self.examples.y, self._columns] = -np.inf
        self._weights, log_sum = normalised(exponents, self.examples.weight)
        self.objective = float(exp(min(log_sum - self._log_mass, 700.0)))

    def round(self) -> bool:
        """Run one round of AdaBoost.ECC; return False once training ends (`stop_reason`)."""
        start = perf_counter()
        self.pricer.round = self.n_rounds + 1
        for _ in range(CODES_A_ROUND):
            code = random_half(self.n_scores, self.rng)
            signs = code[self.examples.y].astype(np.float64)
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
        n_classes = len(examples.classes)
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


class AdaBoostMHClassifier(BaselineClassifier):
    r"""AdaBoost.MH: boosting of the question "is it class l?" for all classes jointly.

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
    This is the discrete variant. In the real one, the learner's outputs s of -1 and +1 have votes
    of their own for every class,

    .. math::

        c_{s, l} = \frac{1}{2} \log \frac{D[h = s, Y[l] = +1]}{D[h = s, Y[l] = -1]},

    which minimise the loss for this h; 1e-3 / n_classes is added to both masses. h is that of least
    loss among the one found as above and the n_classes of largest edge for one class each.

    Parameters
    ----------
    weak_learner : str, WeakLearnerFamily or list of these, default="stump"
        As for `CWBoostClassifier`.
    n_estimators : int, default=200
        Number of rounds; each adds one weak learner.
    variant : {"discrete", "real"}, default="discrete"
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
        objective (the loss above), edge (r), coefficient (NaN in the real variant), n_nonzero,
        pricing_seconds, solver_seconds (weights and scores), train_error, valid_error; dual_bound,
        gap, max_violation and learning_rate are NaN.
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
        variant: str = "discrete",
        categorical_features: ArrayLike | str | None = "from_dtype",
        callbacks: list[Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.n_estimators = n_estimators
        self.variant = variant
        self.categorical_features = categorical_features
        self.callbacks = callbacks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("variant", self.variant, ("discrete", "real"))

    def _training(self, examples: Examples, rng) -> LabelTraining:
        n_classes = len(examples.classes)
        training = LabelTraining if self.variant == "discrete" else RealLabelTraining
        return training(
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


def decode(code, scores) -> np.ndarray:
    """Return the scores of the classes from those of the bits of a code, one row per example."""
    # Relative to each example's largest score, so that nothing overflows. Row by row sums: an
    # example's result must not depend on those beside it.
    scores = np.ascontiguousarray(scores)
    largest = np.abs(scores).max(axis=1, keepdims=True)
    gain, loss = exp(scores - largest), exp(-scores - largest)
    total = np.stack([np.where(word > 0, loss, gain).sum(axis=1) for word in code], axis=1)
    tiny = np.finfo(np.float64).tiny
    decoded = log(code.shape[1]) - log(np.maximum(total, tiny)) - largest
    # Classes often tie, and the order of the sums decides their last digits: it differs between
    # one prediction, staged ones, and ONNX.
    return np.rint(decoded / DECODED_UNIT) * DECODED_UNIT


class CodeOutcome(ModelOutcome):
    """The outcome of training on a code, which decodes the scores."""

    def attributes(self, stop_reason: str) -> dict[str, Any]:
        return super().attributes(stop_reason) | {"code_": self.training.code}


class AdaBoostMOClassifier(BaselineClassifier):
    r"""AdaBoost.MO: AdaBoost.MH on the bits of an error-correcting code, then decoding.

    A code matrix M(y, b) with one row of n_bits signs per class is fixed before training.
    AdaBoost.MH (see `AdaBoostMHClassifier`) runs on the questions "is bit b of the class's code
    word +1?" [1]_. It keeps a distribution D over pairs of example and bit, initially
    D(i, b) = w_i / (n_bits sum w). A round finds one weak learner h_b per bit, multiplied by the
    sign of its edge, with

    .. math::

        r = \sum_{i, b} D(i, b) \, M(y_i, b) \, h_b(x_i), \qquad
        \mathrm{coefficient} = \frac{1}{2} \log \frac{1 + r}{1 - r},

    .. math:: D(i, b) \propto D(i, b) \, e^{-\mathrm{coefficient} \, M(y_i, b) \, h_b(x_i)}.

    The prediction is the class y of least :math:`\sum_b e^{-M(y, b) f_b(x)}`, with the scores of
    the bits f_b(x) = sum over rounds of coefficient times h_b(x). `decision_function` returns
    ``-log(mean_b exp(-M(y, b) f_b))``, rounded to a multiple of 2**-24, so that rounding errors do
    not decide between classes that tie; the first of these is predicted.

    Parameters
    ----------
    weak_learner : str, WeakLearnerFamily or list of these, default="stump"
        As for `CWBoostClassifier`.
    n_estimators : int, default=200
        Number of rounds.
    code : str or array-like of shape (n_classes, n_bits), default="random"
        "random": dense random bits of distinct splits; of 100 codes, the one of largest minimum
        distance between classes. "exhaustive": all ``2 ** (n_classes - 1) - 1`` splits of the
        classes, for at most 11 classes. Or a matrix of -1 and +1 with rows in the order of
        ``classes_``.
    code_size : int or None, default=None
        Number of bits of a random code; None is ``ceil(10 log2 n_classes)``, but at most the
        number of splits.
    random_state : int, RandomState instance or None, default=None
        Generator for the random code and for the family.
    categorical_features, callbacks, n_jobs, verbose
        As for `CWBoostClassifier`, with the same defaults.

    Attributes
    ----------
    code_ : ndarray of shape (n_classes, n_bits), int8
    classes_, n_features_in_, feature_names_in_, categories_, family_, model_, n_iter_
        As of `CWBoostClassifier`.
    ensemble_ : Ensemble
        Its scores are the scores of the bits.
    history_ : dict of ndarrays of shape (n_rounds,)
        As for `AdaBoostMHClassifier`; the objective is the mean of exp(-M(y_i, b) f_b(x_i)).
    stop_reason_ : str
        As for `AdaBoostMHClassifier`.

    References
    ----------
    .. [1] Schapire and Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999.

    Examples
    --------
    >>> from cwboost import AdaBoostMOClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(AdaBoostMOClassifier(n_estimators=20, random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    _model_attributes: ClassVar[dict[str, type]] = {
        **BaselineClassifier._model_attributes,
        "code_": np.ndarray,
    }
    _outcome_type: ClassVar = CodeOutcome

    def __init__(
        self,
        weak_learner: str | WeakLearnerFamily | Sequence[str | WeakLearnerFamily] = "stump",
        n_estimators: int = 200,
        code: str | ArrayLike = "random",
        code_size: int | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        callbacks: list[Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.n_estimators = n_estimators
        self.code = code
        self.code_size = code_size
        self.categorical_features = categorical_features
        self.callbacks = callbacks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.code_size is not None:
            check_number("code_size", self.code_size, Integral, 1)
            if not (isinstance(self.code, str) and self.code == "random"):
                raise ValueError(
                    f"code_size must be None unless code='random', got {self.code_size!r} with "
                    f"code={self.code!r}"
                )

    def _training(self, examples: Examples, rng) -> LabelTraining:
        # A separate random stream draws the code, so that all families get the same code.
        code_rng = generator_of(self.random_state).spawn(1)[0]
        code = code_matrix(self.code, len(examples.classes), self.code_size, code_rng)
        n_bits, decoder = code.shape[1], partial(decode, code)
        return LabelTraining(
            pricer=self._bind(examples, rng, n_targets=n_bits),
            examples=examples,
            n_scores=n_bits,
            code=code,
            shared=False,
            decode=decoder,
        )

    @export_rule("decoded code")
    def _class_scores(self, scores) -> np.ndarray:
        """Decode the scores of the bits, one row per example."""
        return decode(self.code_, scores)

    @export_rule("scores")
    def _logits(self, scores, n_rounds: int | None = None) -> np.ndarray:
        # With one bit this is 1 / (1 + exp(-2 f)), the minimiser of the loss.
        return scores

    def _check_scores(self) -> None:
        shape = (len(self.classes_), self.ensemble_.n_scores)
        if self.code_.shape != shape or self.code_.dtype != np.int8:
            raise ValueError(f"code_ must be an int8 array of shape {shape}")
        if not np.isin(self.code_, (-1, 1)).all():
            raise ValueError("code_ must hold only -1 and +1")
