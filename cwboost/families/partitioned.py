"""The capability of a family to price on partitions: summarise, merge, choose.

A `PartitionedFamily` makes a `Coordinator` from descriptions of the partitions. It binds each
partition (`PartitionPricer`) and asks all of them questions in every round.
docs/plugins/partitions.md shows the conversation, and why no model depends on the partitions.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cwboost.families.contract import BindContext, WeakLearners
from cwboost.support.types import Matrix


@dataclass(frozen=True, eq=False)
class PartitionWeights:
    """Signed weights of a partition's examples, with the scales that make them integers.

    Parameters
    ----------
    weights : ndarray of shape (n_targets, n_samples), dtype float64
        Read-only; the last axis is contiguous, rows may be padded.
    scales : ndarray of shape (n_targets,), dtype float64
        Powers of two, the same for every partition.
    """

    weights: np.ndarray
    scales: np.ndarray

    def rounded(self) -> np.ndarray:
        """Return the weights as integers in float64, of shape (n_targets, n_samples).

        Their absolute values sum to less than 2**52 per target over all partitions. Sums of them
        are exact, so they do not depend on their order.
        """
        return np.rint(self.weights * self.scales[:, None])


@dataclass(frozen=True, kw_only=True, eq=False)
class PartitionContext:
    """Facts that `Coordinator.bind` gets with a partition. Later versions add fields.

    Parameters
    ----------
    places : ndarray of shape (n_samples,), dtype int64
        Ascending, read-only: the place of each example of the partition if the examples of all
        partitions, in their order, are sorted by class. No two partitions share a place.
    n_total : int
        Number of examples of all partitions.
    n_threads : int, default=1
        Upper bound on the number of threads.
    weight : ndarray of shape (n_samples,), dtype float64, or None, default=None
        Weight of each example, > 0; None for ones.
    """

    places: np.ndarray
    n_total: int
    n_threads: int = 1
    weight: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Tasks:
    """A question that needs no examples: tasks that the workers share.

    Parameters
    ----------
    tasks : list of callable
        Pickled, each is called on one worker as ``task(coordinator)``, with the `Coordinator` there
        and on one thread. The value of the ``yield`` is the list of results, in this order.
    costs : list of float
        How long each takes, in any unit.
    """

    tasks: list
    costs: list


@dataclass(frozen=True, eq=False)
class Chosen:
    """The learners that a conversation chose.

    Parameters
    ----------
    learners : WeakLearners
        ``n`` fitted learners, one per target, in their order.
    edges : ndarray of shape (n,), dtype float64
        Sum over all examples of rounded weight times output, divided by the target's scale.
    """

    learners: WeakLearners
    edges: np.ndarray


@dataclass(frozen=True, eq=False)
class ChosenDivision:
    """The division that a conversation chose; `PartitionPricer.cells` returns its cells.

    Parameters
    ----------
    learners : WeakLearners
        One learner, whose cells all targets share.
    n_cells : int
    """

    learners: WeakLearners
    n_cells: int


class PartitionPricer(ABC):
    """A family bound to one partition, on the worker that holds it."""

    @abstractmethod
    def summarise(self, weights: PartitionWeights, question: Any) -> Any:
        """Return the summary of this partition's examples that answers a question.

        Parameters
        ----------
        weights : PartitionWeights
        question : object
            What `Coordinator.choose` yielded.

        Returns
        -------
        tuple of ndarrays
            Summaries of two partitions are merged by `Coordinator.merge`.
        """

    @abstractmethod
    def outputs(self, learners: WeakLearners) -> np.ndarray:
        """Return outputs of chosen `learners` here as packed bits, see `cwboost.pack_outputs`."""

    def cells(self, learners: WeakLearners) -> np.ndarray:
        """Return the cell of each example here, see `cwboost.Division`.

        Needed for `Coordinator.divide`.

        Parameters
        ----------
        learners : WeakLearners

        Returns
        -------
        ndarray of shape (n_learners, n_samples), dtype int32
        """
        raise NotImplementedError(f"{type(learners).__name__} have no cells")


class Coordinator(ABC):
    """What all partitions share; it is pickled and sent to them.

    Attributes
    ----------
    exact : bool, default=False
        True if `choose` returns, for every target, a learner of the greatest edge among those that
        `family_of_certificate` names. Only then has training a dual bound.
    n_workers : int, default=1
        Number of workers that hold partitions, set before a conversation: what it asks may depend
        on that, and what it chooses may not.
    """

    exact: bool = False
    n_workers: int = 1

    @abstractmethod
    def bind(self, X: Matrix, context: PartitionContext) -> PartitionPricer:
        """Prepare one partition.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The partition's examples, sorted by class; at least one.
        context : PartitionContext
        """

    @abstractmethod
    def choose(
        self, scales: np.ndarray, rng: np.random.Generator
    ) -> Generator[object, tuple, Chosen]:
        """Choose learners in a conversation: yield questions, get summaries, return the choice.

        Parameters
        ----------
        scales : ndarray of shape (n_targets,), dtype float64
            Powers of two by which the weights are multiplied before they are rounded.
        rng : numpy.random.Generator
            The one source of randomness. Each training has its own: holdout runs ask the same
            coordinator before.

        Yields
        ------
        object
            A question, which is pickled. The value of the ``yield`` is the merged summary of all
            partitions; see `Tasks` for work that needs no examples.

        Returns
        -------
        Chosen
        """

    def divide(
        self, n_targets: int, rng: np.random.Generator
    ) -> Generator[object, tuple, ChosenDivision]:
        """Choose one learner whose cells all targets share, in a conversation as `choose`.

        Needed if the family has `Capabilities.divides`. The weights that come with the questions
        have a scale of 1.

        Parameters
        ----------
        n_targets : int
        rng : numpy.random.Generator

        Returns
        -------
        ChosenDivision
        """
        raise NotImplementedError(f"{type(self).__name__} has no cells")

    def merge(self, one: tuple, other: tuple) -> tuple:
        """Merge two summaries of different examples, `one` and `other`; by default, add them.

        The result must be exact, and the same in any order of merges.
        """
        return tuple(a + b for a, b in zip(one, other))


class PartitionedFamily(ABC):
    """The capability, as a base beside `cwboost.WeakLearnerFamily`."""

    @property
    def asks_once(self) -> bool:
        """True if `Coordinator.choose` asks few questions, whatever the data; the default.

        If False, data that fit on one worker of a cluster are trained on there.
        """
        return True

    def check_partitioned(self) -> None:  # noqa: B027
        """Raise TypeError or ValueError if these hyper-parameters do not allow it; optional."""

    @abstractmethod
    def describe(self, X: Matrix) -> object:
        """Return what `coordinator` needs to know of one partition, which is pickled.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            At least one example.
        """

    @abstractmethod
    def coordinator(self, descriptions: list, context: BindContext) -> Coordinator:
        """Return the coordinator of partitions with these descriptions, in their order.

        Parameters
        ----------
        descriptions : list
            What `describe` returned, without empty partitions.
        context : BindContext
            ``y`` is None. `describe` has seen the codes of columns of categories as numbers.

        Raises
        ------
        ValueError
            If a hyper-parameter is out of range; the message names it.
        """
