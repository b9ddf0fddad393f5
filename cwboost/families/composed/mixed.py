"""One model over the union of several families."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cwboost.families.composed.mixed_learners import MixedLearners
from cwboost.families.composed.partitioned import MixedPlan, check_members
from cwboost.families.contract import (
    BindContext,
    Capabilities,
    Priced,
    Pricer,
    PricingRequest,
    WeakLearnerFamily,
)
from cwboost.families.discovery import resolve_weak_learner
from cwboost.families.partitioned import PartitionedFamily, PricingPlan
from cwboost.families.sealing import SealedPricer, bind_family

if TYPE_CHECKING:
    from typing_extensions import Self

    from cwboost.support.types import Matrix

__all__ = ["MixedFamily"]

SELECTIONS = ("best", "random")


class MixedFamily(PartitionedFamily, WeakLearnerFamily):
    """Weak learners of several families in one model.

    ``weak_learner=["stump", "projection"]`` is short for ``MixedFamily(["stump", "projection"])``.

    Parameters
    ----------
    families : sequence of str or WeakLearnerFamily, default=("stump", "tree")
        Registered names and instances. A family may occur again with other parameters.
    selection : {"best", "random"}, default="best"
        "best": every round prices all families and takes, for each class, the learner of largest
        edge; in a tie, that of the first family. If pricing of all families is exact, so is
        pricing of the mixture, and the dual bound is a certificate over their union.
        "random": every round draws a family for each class and prices only that one.
    shares : sequence of float or None, default=None
        Positive relative frequencies of the families in "random"; None draws all alike.

    Notes
    -----
    Parameters of the families are nested under their names: ``tree__max_depth``, and
    ``tree-1__max_depth``, ``tree-2__max_depth`` if there are two of a name. Data with missing
    values, or sparse data, need families that all take them. On partitions (`cwboost.dask`) all
    families must be able to price there, each name once.

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
        selection: str = "best",
        shares: Sequence[float] | None = None,
    ) -> None:
        self.families = families
        self.selection = selection
        self.shares = shares

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params = super().get_params(deep=False)
        if deep:
            try:
                members = self._members()
            except (TypeError, ValueError):
                return params  # `bind` reports what is wrong with the families.
            for name, member in zip(_labels(members), members):
                nested = member.get_params()
                params.update((f"{name}__{key}", value) for key, value in nested.items())
        return params

    def set_params(self, **params: Any) -> Self:
        own = {key: value for key, value in params.items() if "__" not in key}
        nested = {key: value for key, value in params.items() if "__" in key}
        super().set_params(**own)
        if nested:
            members = self._members()
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
        members = [member.capabilities for member in self._members()]
        return Capabilities(
            missing_values=all(member.missing_values for member in members),
            sparse_input=all(member.sparse_input for member in members),
            deterministic=all(member.deterministic for member in members),
            max_categories=min(member.max_categories for member in members),
            symmetric=all(member.symmetric for member in members),
            # Constraints belong to targets: a member that is drawn for some does not know which.
            monotonic=self.selection == "best" and all(m.monotonic for m in members),
        )

    def bind(self, X: Matrix, context: BindContext) -> MixedPricer:
        members = self._members()
        shares = self._chosen_shares(len(members))
        pricers = [bind_family(member, X, context) for member in members]
        return MixedPricer(pricers, shares, context)

    def check_partitioned(self) -> None:
        check_members(self._members())

    def describe(self, X: Matrix) -> list:
        return [member.describe(X) for member in self._members()]

    def plan(self, descriptions: list, context: BindContext) -> PricingPlan:
        members = self._members()
        shares = self._chosen_shares(len(members))
        plans = {
            member.name: member.plan([d[k] for d in descriptions], context)
            for k, member in enumerate(members)
        }
        return MixedPlan(plans, shares)

    def _members(self) -> list[WeakLearnerFamily]:
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

    def _chosen_shares(self, n_members: int) -> np.ndarray | None:
        """Return the probability of each family; None if every round prices all of them."""
        if self.selection not in SELECTIONS:
            raise ValueError(f"selection must be one of {SELECTIONS}, got {self.selection!r}")
        if self.selection == "best":
            if self.shares is None:
                return None
            raise ValueError(f"shares applies to selection='random' only, got {self.shares!r}")
        if self.shares is None:
            return np.full(n_members, 1 / n_members)
        shares = np.asarray(self.shares, dtype=np.float64)
        if shares.shape != (n_members,) or not (np.isfinite(shares).all() and (shares > 0).all()):
            raise ValueError(
                f"shares must be {n_members} numbers > 0, one per family, got {self.shares!r}"
            )
        return shares / shares.sum()


class MixedPricer(Pricer):
    """Sealed pricers of several families on one training matrix.

    `shares` are the probabilities of the families, for every target and round; None prices all.
    """

    def __init__(self, pricers: Sequence[SealedPricer], shares, context: BindContext):
        self.n_samples = pricers[0].n_samples
        self.exact = shares is None and all(pricer.exact for pricer in pricers)
        self._pricers = pricers
        self._shares = shares
        self._random_state = context.random_state

    def price(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        n_targets, request = len(weights), replace(request, with_cells=False)
        if self._shares is None:
            found = [(p, p.price(weights, request), np.arange(n_targets)) for p in self._pricers]
        else:
            drawn = self._random_state.choice(len(self._pricers), n_targets, p=self._shares)
            found = []
            for k, pricer in enumerate(self._pricers):
                targets = np.flatnonzero(drawn == k)
                if len(targets):
                    own = weights if len(targets) == n_targets else weights[targets]
                    found.append((pricer, pricer.price(own, request), targets))
        return _best_of(found)

    def price_shared(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        pricers = self._pricers
        if self._shares is not None:
            pricers = [pricers[self._random_state.choice(len(pricers), p=self._shares)]]
        return _best_of([(p, p.price_shared(weights, request), np.zeros(1, int)) for p in pricers])


def _best_of(found) -> Priced:
    """Return the learner of largest edge for each target, of (pricer, result, targets)."""
    batches = [MixedLearners.of(p.family.name, priced.learners) for p, priced, _ in found]
    outputs = np.concatenate([priced.outputs for _, priced, _ in found])
    edges = np.concatenate([priced.edges for _, priced, _ in found])
    target = np.concatenate([targets[priced.target] for _, priced, targets in found])
    # In a tie, the first family wins.
    return Priced(MixedLearners.concatenate(batches), outputs, edges, target).strongest()


def _labels(members: Sequence[WeakLearnerFamily]) -> list[str]:
    """Return the names of the families, numbered if a name occurs more than once."""
    names = [member.name for member in members]
    return [
        name if names.count(name) == 1 else f"{name}-{names[: k + 1].count(name)}"
        for k, name in enumerate(names)
    ]
