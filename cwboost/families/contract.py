"""The contract of a weak-learner family.

A `WeakLearnerFamily` holds hyper-parameters and binds itself to a training matrix; the `Pricer` it
returns finds, once per round, the best learner of the family for each target; the `WeakLearners` it
finds are a batch of fitted learners. All else depends on these three, not on the inside of a
learner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from cwboost.families.flat_forms import ThresholdTrees
from cwboost.families.outputs import unpack_outputs

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from cwboost.support.types import Matrix

API_VERSION = 1
"""Version of this contract; it grows when families for the old version would break."""


@dataclass(frozen=True)
class Capabilities:
    """What a family can do with its present hyper-parameters; checked before training.

    Exact pricing is not among them: it may depend on the data (`Pricer.exact`).

    Parameters
    ----------
    missing_values : bool, default=False
        NaN and infinities in the training matrix and at prediction are handled.
    sparse_input : bool, default=False
        ``bind``, ``outputs`` and scorers take CSR and CSC and never make them dense.
    deterministic : bool, default=True
        The same data, parameters and generator state give the same bits at any number of threads.
    monotonic : bool, default=False
        `BindContext.monotonic` is kept.
    interactions : bool, default=False
        `BindContext.interactions` is kept.
    symmetric : bool, default=False
        For every learner h, -h is a learner of the family too. Of two classes only the second is
        then priced, since the best learner of the first one is the negative of its best.
    divides : bool, default=False
        The pricer is a `Divider` too: one learner per round has cells that all targets share.
    """

    missing_values: bool = False
    sparse_input: bool = False
    deterministic: bool = True
    monotonic: bool = False
    interactions: bool = False
    symmetric: bool = False
    divides: bool = False

    def names(self) -> list[str]:
        """Return the names of the capabilities that are declared."""
        return [field.name for field in fields(self) if getattr(self, field.name)]

    def n_priced(self, n_classes: int) -> int:
        """Return how many of the classes, the last ones, are priced: one of two if symmetric.

        Parameters
        ----------
        n_classes : int
        """
        return 1 if self.symmetric and n_classes == 2 else n_classes


@dataclass(frozen=True, kw_only=True, eq=False)
class BindContext:
    """What a family is given of a training matrix; arrays are read-only. Later versions add fields.

    Parameters
    ----------
    n_targets : int
        Largest number of rows of weights that `Pricer.price` will be given.
    random_state : numpy.random.Generator
        The one source of randomness. Keep the reference and draw from it in ``price``; do not copy
        it, since a checkpoint stores its state.
    n_threads : int, default=1
        Upper bound on the number of threads.
    y : ndarray of shape (n_samples,), dtype intp, or None, default=None
        Index of each example's class; None if the caller has no classes.
    class_counts : ndarray of shape (n_classes,), dtype int64, or None, default=None
        Number of examples of each class.
    weight : ndarray of shape (n_samples,), dtype float64, or None, default=None
        Weight of each example, > 0; None for ones.
    size : float or None, default=None
        Number of examples that the weights stand for; None for `n_samples`. The same for all
        trainings of a fit, also if some examples of a holdout run have next to no weight. Sizes
        that depend on the number of examples, such as the depth of a tree, should follow it: a
        weight of 2 then means two copies.
    feature_names : tuple of str or None, default=None
        Names of the columns of X, if the caller's X has names.
    n_categories : ndarray of shape (n_features,), dtype int64, or None, default=None
        Number of categories of each column, of which X holds codes; 0 for a column of numbers. None
        if all are.
    monotonic : ndarray of shape (n_targets, n_features), dtype int8, or None, default=None
        +1 if outputs for a target must not fall as the feature rises, -1 if they must not rise.
        Missing values have no order.
    interactions : ndarray of shape (n_sets, n_features), dtype bool, or None, default=None
        Sets of features: an output must be a sum of functions that read the features of one set
        each, as a tree's is if one set holds every path. None for one set of all.
    """

    n_targets: int
    random_state: np.random.Generator
    n_threads: int = 1
    y: np.ndarray | None = None
    class_counts: np.ndarray | None = None
    weight: np.ndarray | None = None
    size: float | None = None
    feature_names: tuple[str, ...] | None = None
    n_categories: np.ndarray | None = None
    monotonic: np.ndarray | None = None
    interactions: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class PricingRequest:
    """What a pricer may use besides the weights, to save time: it changes no learner that is found.

    Later versions add fields.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,), dtype int64, or None, default=None
        Ascending indices of the only examples whose weights are not zero; None if all may count.
        The outputs cover all examples nevertheless.
    """

    rows: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Priced:
    """Result of pricing: learners, their outputs on the training matrix, their edges.

    Parameters
    ----------
    learners : WeakLearners
        ``n`` fitted learners: one per target, in their order, or one that all targets share.
    outputs : ndarray of shape (n, ceil(n_samples / 8)), dtype uint8
        Outputs on the training matrix as packed bits (see `pack_outputs`), C-contiguous.
    edges : ndarray of shape (n,), dtype float64
        ``edges[t] = sum_i weights[t, i] h_t(x_i)``; for a shared learner the sum over targets of
        the absolute values of these.
    """

    learners: WeakLearners
    outputs: np.ndarray
    edges: np.ndarray


@dataclass(frozen=True, eq=False)
class Division:
    """A division of the examples into cells, such as the leaves of a tree, for all targets.

    Boosting sets an output per cell and target, from the weights of all examples.

    Parameters
    ----------
    learners : WeakLearners
        One learner, whose `WeakLearners.graded` takes these outputs.
    cells : ndarray of shape (n_samples,), dtype int32
        The cell of each example, as `WeakLearners.cells` counts them from 0.
    n_cells : int
    """

    learners: WeakLearners
    cells: np.ndarray
    n_cells: int


class WeakLearners(ABC):
    """A batch of fitted weak learners, each a map from an example to -1 or +1.

    Graded learners have whole outputs from -127 to 127 instead, one per score (`graded`).

    Attributes
    ----------
    is_graded : bool
        True for graded learners.
    """

    is_graded: bool = False

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of learners in the batch."""

    @abstractmethod
    def outputs(self, X: Matrix) -> np.ndarray:
        """Return the outputs on examples.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, len(self)), dtype int8, values -1 and +1
            Those of `graded`, of shape (n_samples, len(self), n_outputs), if the learners are.
        """

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Return flat arrays with everything `from_arrays` needs; a model file stores these."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int) -> WeakLearners:
        """Rebuild a batch that looks at `n_features` features; the inverse of the method `arrays`.

        The arrays may come from a damaged or hostile file: check every name, dtype, shape, index
        and value before use.

        Raises
        ------
        ValueError
            If an array is wrong; the message names it and its fault.
        """

    @abstractmethod
    def take(self, indices: np.ndarray) -> WeakLearners:
        """Return the learners at `indices` (ints, in that order) as a new batch."""

    @classmethod
    @abstractmethod
    def concatenate(cls, batches: Sequence[Self]) -> Self:
        """Return one batch with the learners of `batches` one after the other."""

    def graded(self, outputs: np.ndarray, cover: np.ndarray | None = None) -> Self:
        """Return graded learners with these outputs; needed for `Divider.divide`.

        Parameters
        ----------
        outputs : ndarray of shape (n_cells, n_outputs), dtype int8
            Of the cells of all learners, one after the other.
        cover : ndarray of shape (n_cells,), dtype float32, or None, default=None
            Weight of the training examples in each cell, for explanations.
        """
        raise NotImplementedError(f"{type(self).__name__} have no cells")

    def cells(self, X: Matrix) -> np.ndarray:
        """Return the cell of each example in each learner; needed for `Divider.divide`.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, len(self)), dtype int32
        """
        raise NotImplementedError(f"{type(self).__name__} have no cells")

    def signs(self) -> Self:
        """Return learners with the signs of the outputs, +1 for 0; themselves if not graded.

        Output c of graded learner j is learner ``j * n_outputs + c``.
        """
        return self

    def flat_form(self) -> ThresholdTrees | None:
        """Return the learners as trees of comparisons; optional.

        Scores, importances, explanations and ONNX export derive from it. The form must give
        the outputs that `outputs` gives, for every example.

        Returns
        -------
        ThresholdTrees or None
            One tree per learner; None, the default, if the learners have no such form. For
            learners of one comparison each, use `stump_trees`.
        """
        return None

    def scorer(self, coef: sparse.csr_array) -> Callable[..., np.ndarray]:
        """Return a function that computes scores, ``outputs(X) @ coef``, for many calls.

        The default evaluates the flat form with a compiled kernel if that form compares the
        features themselves, and else sums the outputs; both give the same bits. Override it if
        something faster can be prepared. A fitted model keeps the result and calls it for every
        prediction, single rows included.

        Parameters
        ----------
        coef : ndarray or scipy.sparse array of shape (len(self), n_scores), dtype float64

        Returns
        -------
        callable
            ``scorer(X, n_threads=1)`` returns an ndarray of shape (n_samples, n_scores), dtype
            float64, with the same bits for any number of threads and for any way of cutting X into
            chunks of rows.
        """
        coef = coef_of(self, coef)
        flat = self.flat_form()
        if flat is not None and flat.directions is None:
            return flat.scorer(coef)
        return partial(sum_outputs, lambda X, n_threads: self.outputs(X), coef)


def coef_of(learners: WeakLearners, coef) -> sparse.csr_array:
    """Return coefficients as CSR; raise ValueError unless there is a row for each learner."""
    coef = sparse.csr_array(coef, dtype=np.float64)
    if coef.shape[0] != len(learners):
        raise ValueError(f"coef must have {len(learners)} rows, got shape {coef.shape}")
    return coef


def sum_outputs(outputs: Callable, coef: sparse.csr_array, X, n_threads: int = 1) -> np.ndarray:
    """Return ``outputs(X, n_threads) @ coef``, computed in chunks of rows."""
    scores = np.zeros((X.shape[0], coef.shape[1]))
    rows = max(1, 2**22 // max(1, coef.shape[0]))
    for start in range(0, len(scores), rows):
        chunk = slice(start, start + rows)
        # A sparse product sums every row in the same order, whatever the other rows.
        scores[chunk] = outputs(X[chunk], n_threads).astype(np.float64) @ coef
    return scores


class Pricer(ABC):
    """A family bound to one training matrix, ready to be asked once per round.

    Attributes
    ----------
    n_samples : int
    exact : bool, default=False
        True if `price` returns, for every target, a learner of the greatest edge in the family.
        Only then is the dual bound of training a certificate over all weak learners.
    """

    exact: bool = False
    n_samples: int

    @abstractmethod
    def price(
        self, weights: NDArray[np.float64], request: PricingRequest = PricingRequest()
    ) -> Priced:
        """Return the best learner for each target: ``argmax over h of sum_i weights[t, i] h(x_i)``.

        Parameters
        ----------
        weights : ndarray of shape (n_targets, n_samples), dtype float64
            Signed weight of every example for every target, of which there are at most
            ``context.n_targets``. Read-only; the last axis is contiguous, rows may be padded.
        request : PricingRequest
            Facts that may save time.
        """

    def price_shared(
        self, weights: NDArray[np.float64], request: PricingRequest = PricingRequest()
    ) -> Priced:
        """Return the best for all targets: ``argmax over h of sum_t |sum_i weights[t, i] h(x_i)|``.

        `weights` and `request` are as in `price`, of whose learners the default takes the best.
        """
        priced = self.price(weights, request)
        # Not products of BLAS, whose order of summation depends on the processor.
        outputs = unpack_outputs(priced.outputs, self.n_samples).T
        edges = np.array([np.abs((weights * signs).sum(axis=1)).sum() for signs in outputs])
        best = np.array([np.argmax(edges)])
        return Priced(priced.learners.take(best), priced.outputs[best], edges[best])

    def rebound(self, family: WeakLearnerFamily, context: BindContext) -> Pricer | None:
        """Return what `bind` of a family returns for this matrix; optional.

        A classifier trains on one matrix several times, first to find the number of rounds. A
        pricer that shares what it has prepared saves the time, and the memory of X meanwhile. The
        two are asked in turn and must not disturb each other.

        Parameters
        ----------
        family : WeakLearnerFamily
            The one that was bound, or one of its `candidates`.
        context : BindContext
            As it was for `bind`, with another generator or other weights.

        Returns
        -------
        Pricer or None
            None, the default, if X is needed: the family is bound again.
        """
        return None


class Divider(ABC):
    """What divides the examples of a training matrix into cells that all targets share.

    The pricer of a family with `Capabilities.divides` is one, too.
    """

    @abstractmethod
    def divide(
        self, weights: NDArray[np.float64], request: PricingRequest = PricingRequest()
    ) -> Division:
        """Return one division of the examples for all targets; see `Capabilities.divides`.

        A good one has a large ``sum over cells and targets t of |sum_i weights[t, i] in the cell|``
        on examples that it has not seen.

        Parameters
        ----------
        weights : ndarray of shape (n_targets, n_samples), dtype float64
            As for `price`.
        request : PricingRequest
            With `rows`, only these examples count, whatever the weights of the others are; cells
            cover all examples nevertheless.
        """


class WeakLearnerFamily(BaseEstimator, ABC):
    """Hyper-parameters of a kind of weak learner: cheap, cloneable, with ``get_params``.

    Attributes
    ----------
    name : str
        The name under which the family is registered and stored in model files.
    api_version : int
        The version of this contract that the family was written for, as a number. It has no
        default, which would be the version of whichever cwboost is installed.
    """

    name: ClassVar[str]
    api_version: ClassVar[int]
    learners_type: ClassVar[type[WeakLearners]]

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """Return what the family can do with its present hyper-parameters."""

    def members(self) -> Sequence[WeakLearnerFamily]:
        """Return the families of a mixture, and the family alone if it is none."""
        return (self,)

    @abstractmethod
    def bind(self, X: Matrix, context: BindContext) -> Pricer:
        """Check the hyper-parameters and prepare the training matrix (sort, bin) once.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), dtype uint8, float32 or float64, or CSR/CSC
            NaN and infinities only if ``capabilities.missing_values``.
        context : BindContext
            Number of targets, generator, threads and further facts about the data.

        Raises
        ------
        ValueError
            If a hyper-parameter is out of range; the message names it.
        """

    def bind_rows(self, X: Matrix, rows: NDArray[np.int64], context: BindContext) -> Pricer:
        """As `bind` of ``X[rows]``; override it if that takes no copy of X.

        Parameters
        ----------
        X : ndarray or CSR/CSC matrix
        rows : ndarray of shape (n_samples,), dtype int64
            Places of the examples in X, each at most once.
        context : BindContext
        """
        return self.bind(X[rows], context)

    def candidates(self, size: float) -> Sequence[Self]:
        """Return families among which, and this one, a default fit chooses by the data; optional.

        Holdout runs decide. Deeper trees are an example.

        Parameters
        ----------
        size : float
            See `BindContext.size`.

        Returns
        -------
        sequence of WeakLearnerFamily
            Of the same class and capabilities. Their coordinators describe and bind partitions as
            that of this family does. None by default.
        """
        return ()

    def in_words(self, size: float) -> str:
        """Return what the plan of a fit calls these weak learners, in the plural; optional.

        Parameters
        ----------
        size : float
            See `BindContext.size`.

        Returns
        -------
        str
            Such as "trees of depth 5". By default, the family as an expression.
        """
        return repr(self)
