"""The contract of a weak-learner family.

Boosting asks three things of its weak learners. A `WeakLearnerFamily` holds hyper-parameters and
binds itself to a training matrix; the `Pricer` it returns answers, once a round, which learner of
the family is best for each target; the `WeakLearners` it finds are a batch of fitted learners
stored as flat arrays. Everything else (the solver, the model file, prediction) knows these three
classes and nothing of what a learner is inside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

__all__ = [
    "API_VERSION",
    "Capabilities",
    "Priced",
    "Pricer",
    "ThresholdTrees",
    "WeakLearnerFamily",
    "WeakLearners",
    "pack_outputs",
    "stump_trees",
    "unpack_outputs",
]

API_VERSION = 1
"""Version of this contract. It grows by one when a family written for the old one would break."""


@dataclass(frozen=True)
class Capabilities:
    """What a family declares of itself; checked before training and by ``cwboost.testing``.

    Parameters
    ----------
    exact_pricing : bool, default=False
        ``price`` returns a global maximiser over the family. Only then is the dual bound of
        training a certificate over all weak learners.
    missing_values : bool, default=False
        NaN in the training matrix and at prediction is handled.
    sparse_input : bool, default=False
        ``bind``, ``outputs`` and ``scores`` take SciPy CSR and CSC matrices without making them
        dense.
    deterministic : bool, default=True
        The same data, parameters and generator state give the same learners, bit for bit, at any
        number of threads.
    releases_gil : bool, default=False
        ``price`` runs without the interpreter lock for most of its time.
    shared_pricing : bool, default=False
        ``price_shared`` searches the family itself, in place of the default that takes the best
        of the learners ``price`` found.
    """

    exact_pricing: bool = False
    missing_values: bool = False
    sparse_input: bool = False
    deterministic: bool = True
    releases_gil: bool = False
    shared_pricing: bool = False

    def names(self) -> list[str]:
        """Names of the capabilities that are declared true."""
        return [field.name for field in fields(self) if getattr(self, field.name)]


@dataclass(frozen=True)
class Priced:
    """What pricing returns: one learner a target, its outputs on the training matrix, its edge.

    Parameters
    ----------
    learners : WeakLearners
        ``n`` fitted learners, learner ``t`` for target ``t``.
    outputs : ndarray of shape (n, ceil(n_samples / 8)), dtype uint8
        Outputs on the training matrix as packed bits (see `pack_outputs`), C-contiguous.
    edges : ndarray of shape (n,), dtype float64
        ``edges[t] = sum_i weights[t, i] h_t(x_i)``; for a shared learner the sum over targets of
        the absolute values of these.
    """

    learners: WeakLearners
    outputs: np.ndarray
    edges: np.ndarray


@dataclass(frozen=True)
class ThresholdTrees:
    """Weak learners as binary trees that compare features, or linear features, with thresholds.

    Tree ``t`` has the nodes ``offsets[t]:offsets[t + 1]``, its root first. An inner node sends an
    example to its right child, directly behind the left one, where ``z[feature] > threshold``,
    or where ``z[feature]`` is NaN and ``missing`` is +1. The examples' features are ``z = x``, or
    ``z = (x - mean) @ directions`` where there are directions.

    Parameters
    ----------
    offsets : ndarray of shape (n_trees + 1,), dtype int64
    feature : ndarray of shape (n_nodes,), dtype int32
        -1 in a leaf.
    threshold : ndarray of shape (n_nodes,), dtype float64
    left : ndarray of shape (n_nodes,), dtype int32
        The left child's place among the nodes of its tree; -1 in a leaf.
    missing, sign : ndarray of shape (n_nodes,), dtype int8
        ``sign`` is a leaf's output; 0 elsewhere.
    directions : ndarray of shape (n_features, n_linear_features), dtype float64, optional
    mean : ndarray of shape (n_features,), dtype float64, optional
        Zero where it is not given.
    """

    offsets: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    missing: np.ndarray
    sign: np.ndarray
    directions: np.ndarray | None = None
    mean: np.ndarray | None = None


def stump_trees(feature, threshold, polarity, missing) -> ThresholdTrees:
    """Stumps as trees: `polarity` where ``z[feature] > threshold``, ``-polarity`` elsewhere.

    Parameters
    ----------
    feature : ndarray of shape (n,), int
        -1 for a stump that is `polarity` everywhere.
    threshold : ndarray of shape (n,), dtype float64
    polarity : ndarray of shape (n,), dtype int8, values -1 and +1
    missing : ndarray of shape (n,), dtype int8, values -1 and +1
        Output where the feature is NaN.
    """
    split = feature >= 0
    offsets = np.concatenate([[0], np.cumsum(np.where(split, 3, 1))]).astype(np.int64)
    root, inner, n_nodes = offsets[:-1], offsets[:-1][split], int(offsets[-1])
    node_feature, left = np.full((2, n_nodes), -1, dtype=np.int32)
    node_threshold = np.zeros(n_nodes)
    node_missing, sign = np.zeros((2, n_nodes), dtype=np.int8)
    node_feature[root] = feature
    node_threshold[inner] = threshold[split]
    left[inner] = 1
    node_missing[inner] = missing[split] * polarity[split]
    sign[root[~split]] = polarity[~split]
    sign[inner + 1] = -polarity[split]
    sign[inner + 2] = polarity[split]
    return ThresholdTrees(offsets, node_feature, node_threshold, left, node_missing, sign)


class WeakLearners(ABC):
    """A batch of fitted weak learners, each a map from an example to -1 or +1."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of learners in the batch."""

    @abstractmethod
    def outputs(self, X) -> np.ndarray:
        """Outputs on examples.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, len(self)), dtype int8, values -1 and +1
        """

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Flat arrays that hold everything `from_arrays` needs; what a model file stores."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int) -> WeakLearners:
        """Rebuild a batch; the inverse of `arrays`.

        The arrays may come from a damaged or hostile file: check every name, dtype, shape, index
        and value before use.

        Raises
        ------
        ValueError
            Naming the array and what is wrong with it.
        """

    @abstractmethod
    def take(self, indices) -> WeakLearners:
        """The learners at `indices` (ints, in that order), as a new batch."""

    @classmethod
    @abstractmethod
    def concatenate(cls, batches: Sequence[WeakLearners]) -> WeakLearners:
        """One batch that holds the learners of `batches` one after the other."""

    def scores(self, X, coef) -> np.ndarray:
        """Weighted sums of outputs, ``outputs(X) @ coef``; override where a faster way exists.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        coef : ndarray or scipy.sparse array of shape (len(self), n_scores), dtype float64

        Returns
        -------
        ndarray of shape (n_samples, n_scores), dtype float64
        """
        n_samples = X.shape[0]
        # Sparse: every row is then summed in the same order, whatever the rows beside it, which
        # a dense product does not promise.
        coef = sparse.csr_array(coef)
        scores = np.zeros((n_samples, coef.shape[1]))
        rows = max(1, 2**22 // max(1, len(self)))
        for start in range(0, n_samples, rows):
            chunk = slice(start, min(start + rows, n_samples))
            scores[chunk] = self.outputs(X[chunk]).astype(np.float64) @ coef
        return scores

    def scorer(self, coef) -> Callable[..., np.ndarray]:
        """`scores` with the coefficients given once, for many calls.

        Override where something can be prepared (merged thresholds, flattened trees): a fitted
        model keeps the result and calls it for every prediction, single rows included.

        Parameters
        ----------
        coef : scipy.sparse.csr_array of shape (len(self), n_scores), dtype float64

        Returns
        -------
        callable
            ``scorer(X, n_threads=1)`` returns what ``scores(X, coef)`` does, the same bits for
            any number of threads and for any way of cutting X into chunks of rows.
        """

        def scorer(X, n_threads: int = 1) -> np.ndarray:
            return self.scores(X, coef)

        return scorer

    def feature_shares(self, n_features: int) -> sparse.csr_array:
        """How much of each learner belongs to each feature; optional, for importances.

        Returns
        -------
        csr_array of shape (len(self), n_features), dtype float64
            Not negative; a row sums to 1, or to 0 for a learner that looks at no feature.

        Raises
        ------
        NotImplementedError
            Where the family does not say, which is the default.
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not say which features its learners use"
        )

    def threshold_trees(self) -> ThresholdTrees:
        """The learners as trees of comparisons; optional, for export to other run times.

        Raises
        ------
        NotImplementedError
            Where the family has no such form, which is the default.
        """
        raise NotImplementedError(f"{type(self).__name__} has no form as trees of comparisons")


class Pricer(ABC):
    """A family bound to one training matrix, ready to be asked once a round.

    Attributes
    ----------
    n_samples, n_targets : int
    exact : bool
        Whether `price` returns a global maximiser over the family.
    """

    exact: bool = False
    n_samples: int
    n_targets: int

    @abstractmethod
    def price(self, weights) -> Priced:
        """The best learner for each target: ``argmax over h of sum_i weights[t, i] h(x_i)``.

        Parameters
        ----------
        weights : ndarray of shape (n_targets, n_samples), dtype float64
            Signed weight of every example for every target. The last axis is contiguous, rows
            may be padded; read only.
        """

    def price_shared(self, weights) -> Priced:
        """One learner for all targets: ``argmax over h of sum_t |sum_i weights[t, i] h(x_i)|``.

        The default takes the best of the learners that `price` finds.
        """
        priced = self.price(weights)
        signed = unpack_outputs(priced.outputs, self.n_samples).astype(np.float64)
        edges = np.abs(np.asarray(weights) @ signed).sum(axis=0)
        best = int(np.argmax(edges))
        return Priced(
            priced.learners.take([best]), priced.outputs[best : best + 1], edges[best : best + 1]
        )


class WeakLearnerFamily(BaseEstimator, ABC):
    """Hyper-parameters of a kind of weak learner: cheap, cloneable, with ``get_params``.

    Attributes
    ----------
    name : str
        The name under which the family is registered and stored in model files.
    api_version : int
        The version of this contract that the family was written for: write the number. There is
        no default, since it would be that of the cwboost which happens to be installed.
    """

    name: ClassVar[str]
    api_version: ClassVar[int]
    learners_type: ClassVar[type[WeakLearners]]

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What the family can do with its present hyper-parameters."""

    @abstractmethod
    def bind(self, X, *, n_targets: int, random_state, n_threads: int) -> Pricer:
        """Check the hyper-parameters and prepare the training matrix (sort, bin) once.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), dtype uint8, float32 or float64, or CSR/CSC
            Finite up to infinities; NaN only where ``capabilities.missing_values``.
        n_targets : int
            Number of rows of weights that `Pricer.price` will be given.
        random_state : numpy.random.Generator
            The one source of randomness. Keep the reference and draw from it in ``price``; do not
            copy it, since a checkpoint stores its state.
        n_threads : int
            Upper bound on the number of threads.

        Raises
        ------
        ValueError
            For a hyper-parameter out of range, naming it.
        """


def pack_outputs(outputs) -> np.ndarray:
    """Pack outputs in {-1, +1} into bits.

    Parameters
    ----------
    outputs : array-like of shape (n_samples, n_columns), values -1 and +1

    Returns
    -------
    ndarray of shape (n_columns, ceil(n_samples / 8)), dtype uint8
        Example ``i`` is bit ``i % 8`` (lowest first) of byte ``i // 8``; +1 is a set bit.
    """
    return np.packbits(np.ascontiguousarray((np.asarray(outputs) > 0).T), axis=1, bitorder="little")


def unpack_outputs(packed, n_samples: int) -> np.ndarray:
    """Inverse of `pack_outputs`: int8 outputs of shape (n_samples, n_columns)."""
    bits = np.unpackbits(packed, axis=1, count=n_samples, bitorder="little")
    return (2 * bits.astype(np.int8) - 1).T
