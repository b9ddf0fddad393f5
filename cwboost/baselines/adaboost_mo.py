"""`AdaBoostMOClassifier`: joint boosting of the bits of an output code, then decoding."""

from collections.abc import Sequence
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cwboost.baselines.base import BaselineClassifier
from cwboost.baselines.codes import code_matrix
from cwboost.baselines.labels import LabelTraining
from cwboost.ensemble.export_rules import export_rule
from cwboost.families.contract import WeakLearnerFamily
from cwboost.input.checks import generator_of
from cwboost.input.examples import Examples
from cwboost.kernels import exp, log
from cwboost.support.checks import check_number
from cwboost.training.outcome import ModelOutcome


def decode(code, scores) -> np.ndarray:
    """Return the scores of the classes from those of the bits of a code, one row per example."""
    # Relative to each example's largest score, so that nothing overflows. Row by row sums: an
    # example's result must not depend on those beside it.
    scores = np.ascontiguousarray(scores)
    largest = np.abs(scores).max(axis=1, keepdims=True)
    gain, loss = exp(scores - largest), exp(-scores - largest)
    total = np.stack([np.where(word > 0, loss, gain).sum(axis=1) for word in code], axis=1)
    tiny = np.finfo(np.float64).tiny
    return log(code.shape[1]) - log(np.maximum(total, tiny)) - largest


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
    ``-log(mean_b exp(-M(y, b) f_b))``.

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
        code = code_matrix(self.code, len(examples.problem.classes), self.code_size, code_rng)
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
