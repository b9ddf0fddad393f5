"""The contract of an init model: base scores that boosting starts from.

An `InitModel` holds hyper-parameters. Its `fit` returns a `FittedInit`, which scores new rows, and
the scores of the training examples *without their own labels*, so that training and prediction meet
the same kind of number. Boosting uses nothing else of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cwboost.families.sealing.sample import read_only
from cwboost.support.types import Matrix


@dataclass(frozen=True, kw_only=True, eq=False)
class InitContext:
    """What an init model is given of the training examples. Later versions add fields.

    Parameters
    ----------
    n_classes : int
    weight : ndarray of shape (n_samples,), dtype float64, > 0
        Weights of the examples.
    folds : ndarray of shape (n_samples,), dtype int64
        Folds for cross-fitting, numbered from 0: examples that belong together share one.
    alone : bool, default=True
        True if no examples belong together: scores may leave out single examples. Otherwise they
        must leave out whole folds.
    random_state : int
        Seed of whatever the model draws.
    n_threads : int, default=1
        Upper bound on the number of threads.
    categorical : ndarray of shape (n_features,), dtype bool, or None, default=None
        True for a column of category codes, missing and unknown ones NaN; None if there are none.
    """

    n_classes: int
    weight: np.ndarray
    folds: np.ndarray
    alone: bool = True
    random_state: int = 0
    n_threads: int = 1
    categorical: np.ndarray | None = None


class FittedInit(ABC):
    """A fitted init model."""

    @abstractmethod
    def scores(self, X: Matrix, n_threads: int = 1) -> np.ndarray:
        """Return the scores of the classes.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            NaN, in columns of categories too, and infinities may occur.
        n_threads : int, default=1

        Returns
        -------
        ndarray of shape (n_samples, n_classes), dtype float64
            Finite. Their softmax, at a scale that the caller fits, gives probabilities. The same
            bits for any number of threads and any way of cutting X into chunks of rows.
        """

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Return flat arrays with everything `from_arrays` needs; a model file stores these."""

    @classmethod
    @abstractmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], n_features: int, n_classes: int
    ) -> FittedInit:
        """Rebuild a fitted model; the inverse of the method `arrays`.

        The arrays may come from a damaged or hostile file: check every name, dtype, shape, index
        and value before use.

        Parameters
        ----------
        arrays : mapping of str to ndarray
        n_features, n_classes : int

        Raises
        ------
        ValueError
            If an array is wrong; the message names it and its fault.
        """

    def shapley_values(
        self, X: Matrix, background: Matrix | None = None, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return how far each feature moves the scores; optional.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        background : ndarray or sparse matrix of shape (n_background, n_features), default=None
            Examples to compare with; None takes what the model holds of those of training.
        n_threads : int, default=1

        Returns
        -------
        values : ndarray of shape (n_samples, n_features, n_classes), dtype float64
        base : ndarray of shape (n_classes,), dtype float64
            The values of a row and these add up to its scores, up to rounding. Values of a row do
            not depend on the other rows. None, the default, if the model cannot split its scores.
        """
        return None

    def onnx_nodes(self, graph: Any, features: str) -> str:
        """Add nodes for the scores to an ONNX graph and return their name; optional.

        Parameters
        ----------
        graph : builder of `cwboost.to_onnx`
            ``graph.add(operator, inputs, output, **attributes)`` adds a node,
            ``graph.constant_of_type(name, value, dtype)`` a constant and ``graph.cast(name, output,
            dtype)`` a conversion. Each returns the name of the result. Begin names with "init".
        features : str
            Name of the features, float64 of shape (n, n_features).

        Raises
        ------
        NotImplementedError
            By default.
        """
        raise NotImplementedError(
            f"init must be a model with onnx_nodes, got one that is fitted as {type(self).__name__}"
        )

    @property
    def n_rows_kept(self) -> int:
        """Number of training rows that the model holds in some form; 0 by default."""
        return 0


class InitModel(BaseEstimator, ABC):
    """Hyper-parameters of a model whose scores boosting starts from: cheap and cloneable.

    Attributes
    ----------
    name : str
        The name under which the model is registered and stored in model files.
    api_version : int
        The version of this contract that the model was written for.
    fitted_type : type
        Class of the fitted models.
    """

    name: ClassVar[str]
    api_version: ClassVar[int]
    fitted_type: ClassVar[type[FittedInit]]

    @abstractmethod
    def fit(
        self, X: Matrix, y: np.ndarray, context: InitContext
    ) -> tuple[FittedInit, np.ndarray] | tuple[None, None]:
        """Fit the model.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), dtype uint8, float32 or float64, or CSR/CSC
            Read-only. NaN and infinities may occur.
        y : ndarray of shape (n_samples,), dtype int64
            Class indices, ascending.
        context : InitContext

        Returns
        -------
        fitted : FittedInit or None
            None if the data do not suit the model: boosting starts without it.
        scores : ndarray of shape (n_samples, n_classes), dtype float64, or None
            Scores that each training example would get from a model that has not seen its label:
            cross-fitted by the folds of the context, or leave-one-out if its examples are alone.
        """

    def fit_rows(
        self, X: Matrix, rows: NDArray[np.int64], y: np.ndarray, context: InitContext
    ) -> tuple[FittedInit, np.ndarray] | tuple[None, None]:
        """As `fit` of ``X[rows]``; override it if that takes no copy of X.

        Parameters
        ----------
        X : ndarray or CSR/CSC matrix
            Read-only.
        rows : ndarray of shape (n_samples,), dtype int64
            Places of the examples in X, each at most once.
        y : ndarray of shape (n_samples,), dtype int64
        context : InitContext
        """
        return self.fit(read_only(X[rows]), y, context)
