"""One model over the union of several families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cwboost.families.composed.mixed_learners import PART, MixedLearners
from cwboost.families.contract import (
    BindContext,
    Capabilities,
    Priced,
    Pricer,
    PricingRequest,
    WeakLearnerFamily,
)
from cwboost.families.discovery import resolve_weak_learner
from cwboost.families.partitioned import (
    Chosen,
    Coordinator,
    PartitionedFamily,
    PartitionPricer,
    Tasks,
)
from cwboost.families.sealing.pricer import SealedPricer, bind_family
from cwboost.support.types import Matrix

if TYPE_CHECKING:
    from typing_extensions import Self


class MixedFamily(PartitionedFamily, WeakLearnerFamily):
    """Weak learners of several families in one model.

    ``weak_learner=["stump", "projection"]`` is short for ``MixedFamily(["stump", "projection"])``.
    Every round prices all families and takes, for each class, the learner of largest edge; in a
    tie, that of the first family. If pricing of all families is exact, so is pricing of the
    mixture, and the dual bound is a certificate over their union.

    Parameters
    ----------
    families : sequence of str or WeakLearnerFamily, default=("stump", "tree")
        Registered names and instances. A family may occur again with other parameters.

    Notes
    -----
    Parameters of the families are nested under their names: ``tree__max_depth``, and
    ``tree-1__max_depth``, ``tree-2__max_depth`` if there are two of a name. Data with missing
    values, or sparse data, need families that all take them. On partitions (`cwboost.dask`) all
    families must be able to price there.

    Examples
    --------
    >>> from cwboost import CWBoostClassifier, MixedFamily
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CWBoostClassifier(MixedFamily(["stump", "projection"]), n_estimators=20)
    >>> bool(clf.fit(X, y).score(X, y) > 0.9)
    True
    """

    name = "mixed"
    api_version = 1
    learners_type = MixedLearners

    def __init__(
        self,
        families: list[str | WeakLearnerFamily] | tuple[str | WeakLearnerFamily, ...] = (
            "stump",
            "tree",
        ),
    ) -> None:
        self.families = families

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params = super().get_params(deep=False)
        if deep:
            try:
                members = self.members()
            except (TypeError, ValueError):
                return params  # `bind` reports what is wrong with the families.
            for name, member in zip(_labels(members), members):
                nested = member.get_params()
                params.update((f"{name}__{key}", value) for key, value in nested.items())
        return params

    def set_params(self, **params: Any) -> Self:
        of_mixture = {key: value for key, value in params.items() if "__" not in key}
        nested = {key: value for key, value in params.items() if "__" in key}
        super().set_params(**of_mixture)
        if nested:
            members = self.members()
            by_label = dict(zip(_labels(members), members))
            for key, value in nested.items():
                label, _, name = key.partition("__")
                if label not in by_label:
                    raise ValueError(
                        f"Invalid parameter {label!r} for estimator {self!r}. The families are "
                        f"called {', '.join(map(repr, by_label))}"
                    )
                by_label[label].set_params(**{name: value})
            self.families = type(self.families)(members)
        return self

    @property
    def capabilities(self) -> Capabilities:
        members = [vars(member.capabilities) for member in self.members()]
        common = {name: min(member[name] for member in members) for name in members[0]}
        # The best learner is chosen per class: none is shared, even if all families could.
        return Capabilities(**common | {"divides": False})

    def in_words(self, size: float) -> str:
        return " or ".join(member.in_words(size) for member in self.members())

    def bind(self, X: Matrix, context: BindContext) -> MixedPricer:
        members = self.members()
        pricers = [bind_family(member, X, context) for member in members]
        return MixedPricer(dict(zip(_labels(members, PART), pricers)))

    @property
    def asks_once(self) -> bool:
        return all(isinstance(m, PartitionedFamily) and m.asks_once for m in self.members())

    def check_partitioned(self) -> None:
        check_members(self.members())

    def describe(self, X: Matrix) -> list:
        return [member.describe(X) for member in self.members()]

    def coordinator(self, descriptions: list, context: BindContext) -> Coordinator:
        members = self.members()
        coordinators = [
            member.coordinator([part[k] for part in descriptions], context)
            for k, member in enumerate(members)
        ]
        return MixedCoordinator(dict(zip(_labels(members, PART), coordinators)))

    def members(self) -> list[WeakLearnerFamily]:
        families = self.families
        if not isinstance(families, (list, tuple)) or not families:
            raise ValueError(
                "families must be a list or tuple of at least one family or name of a family, got "
                f"{families!r}"
            )
        members = [resolve_weak_learner(family) for family in families]
        if any(isinstance(member, MixedFamily) for member in members):
            raise ValueError("families must not hold a mixed family: list its families instead")
        return members


def check_members(members) -> None:
    """Raise TypeError or ValueError if families cannot price on partitions."""
    for member in members:
        if not isinstance(member, PartitionedFamily):
            raise TypeError(
                f"weak_learner {member.name!r} cannot be trained on partitions: its family does "
                "not derive from cwboost.PartitionedFamily"
            )
        member.check_partitioned()


class MixedPricer(Pricer):
    """Sealed pricers of several families on one training matrix, by the parts of their learners."""

    def __init__(self, pricers: Mapping[str, SealedPricer]):
        self.n_samples = next(iter(pricers.values())).n_samples
        self.exact = all(pricer.exact for pricer in pricers.values())
        self._pricers = pricers

    def price(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        return self._best_of([each.price(weights, request) for each in self._pricers.values()])

    def price_shared(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        return self._best_of(
            [each.price_shared(weights, request) for each in self._pricers.values()]
        )

    def _best_of(self, found: Sequence[Priced]) -> Priced:
        """Return the learner of largest edge for each target: in a tie, of the first family."""
        parts = zip(self._pricers, found, strict=True)
        batches = [MixedLearners.of(name, priced.learners) for name, priced in parts]
        outputs = np.concatenate([priced.outputs for priced in found])
        edges = [priced.edges for priced in found]
        best = best_of_targets(edges)
        learners = MixedLearners.concatenate(batches).take(best)
        return Priced(learners, outputs[best], np.max(edges, axis=0))


class MixedCoordinator(Coordinator):
    """One coordinator per family, by the part of its learners; the best of these are chosen."""

    def __init__(self, coordinators):
        self.coordinators = coordinators
        self.exact = all(member.exact for member in coordinators.values())

    def bind(self, X, context):
        members = self.coordinators.items()
        return MixedPartition({name: member.bind(X, context) for name, member in members})

    def merge(self, one, other):
        name, *own = one
        return (name, *self.coordinators[name].merge(tuple(own), tuple(other[1:])))

    def choose(self, scales, rng):
        learners, edges = [], []
        for name in self.coordinators:
            self.coordinators[name].n_workers = self.n_workers
            conversation = self.coordinators[name].choose(scales, rng)
            chosen = yield from _addressed(name, conversation)
            learners.append(MixedLearners.of(name, chosen.learners))
            edges.append(chosen.edges)
        best = best_of_targets(edges)
        return Chosen(MixedLearners.concatenate(learners).take(best), np.max(edges, axis=0))


def best_of_targets(edges) -> np.ndarray:
    """Return the place of the largest edge of each target, family after family; first in a tie."""
    n_targets = len(edges[0])
    return np.argmax(edges, axis=0) * n_targets + np.arange(n_targets)


def _addressed(name, conversation):
    """Hold the conversation of one family, whose name goes with questions and summaries."""
    question = next(conversation)
    while True:
        if isinstance(question, Tasks):
            tasks = [partial(_of_member, name, task) for task in question.tasks]
            answer = yield Tasks(tasks, question.costs)
        else:
            _, *summary = yield name, question
            answer = tuple(summary)
        try:
            question = conversation.send(answer)
        except StopIteration as end:
            return end.value


def _of_member(name, task, coordinator: MixedCoordinator):
    return task(coordinator.coordinators[name])


class MixedPartition(PartitionPricer):
    """One partition, bound to every family."""

    def __init__(self, pricers):
        self._pricers = pricers

    def summarise(self, weights, question):
        name, of_member = question
        return (name, *self._pricers[name].summarise(weights, of_member))

    def outputs(self, learners):
        parts = [(self._pricers[n].outputs(of_n), places) for n, of_n, places in learners.batches()]
        packed = np.empty((len(learners), parts[0][0].shape[1]), dtype=np.uint8)
        for outputs, places in parts:
            packed[places] = outputs
        return packed


def _labels(members: Sequence[WeakLearnerFamily], mark: str = "-") -> list[str]:
    """Return the names of the families, numbered if a name occurs more than once."""
    names = [member.name for member in members]
    return [
        name if names.count(name) == 1 else f"{name}{mark}{names[: k + 1].count(name)}"
        for k, name in enumerate(names)
    ]
