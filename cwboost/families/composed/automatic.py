"""The default family: trees and discriminant directions, as far as the data allow."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.base import clone

from cwboost.families.composed.mixed import MixedFamily
from cwboost.families.composed.mixed_learners import MixedLearners
from cwboost.families.contract import BindContext, Pricer, WeakLearnerFamily
from cwboost.families.discovery import get_family
from cwboost.families.partitioned import PartitionedFamily

__all__ = ["AutoFamily", "is_finite"]

SHARE, SHARE_ALONE = 0.25, 0.1
"""Probability of discriminants, and where scores of similarity are not worth their time: there,
directions in all features say little as well."""

FEW = 10_000
"""Up to this number of examples, trees without scores of similarity have random and best thresholds
in turns, since they have more to learn; those with scores have random ones."""


class AutoFamily(PartitionedFamily, WeakLearnerFamily):
    """Trees mixed with thresholds on discriminant directions, as far as the data allow.

    Every round draws one of the two kinds and prices only that one. Trees are better if single
    features separate the classes, discriminants if directions do; a mixture is close to the better
    of the two.

    Parameters
    ----------
    max_depth : int, "auto" or None, default="auto"
        Of the trees; see `TreeFamily`.
    discriminants : float or "auto", default="auto"
        Probability that a round takes discriminants, in [0, 1]. "auto" is 0.25, and
        `cwboost.CWBoostClassifier` takes 0.1 in its place where scores of similarity are not worth
        their time.
    splitter : {"auto", "best", "random", "turns"}, default="auto"
        Thresholds of the trees; see `TreeFamily`. `cwboost.CWBoostClassifier` takes "turns" in
        place of "auto" where scores of similarity are not worth their time, up to 10,000 examples.

    Notes
    -----
    If the training matrix has missing or infinite values, or columns of category codes, or if there
    are monotonic constraints, all learners are trees: directions need numbers and keep no order. At
    prediction, an example with a missing value gets the output that a discriminant has for NaN.
    """

    name = "auto"
    api_version = 1
    learners_type = MixedLearners

    def __init__(self, max_depth="auto", discriminants="auto", splitter="auto"):
        self.max_depth = max_depth
        self.discriminants = discriminants
        self.splitter = splitter

    @property
    def capabilities(self):
        return get_family("tree")().capabilities

    def alternatives(self, learners=None):
        """Return the family with other depths of its trees; see `TreeFamily.alternatives`."""
        trees = None if learners is None else learners.parts.get("tree")
        if self._checked_share() == 1 or (learners is not None and trees is None):
            return []
        others = self._trees().alternatives(trees)
        return [clone(self).set_params(max_depth=other.max_depth) for other in others]

    def without_similarity(self, n_samples: int) -> AutoFamily:
        """Return the family for data on which scores of similarity are not worth their time.

        Parameters
        ----------
        n_samples : int
            Number of training examples.
        """
        share = SHARE_ALONE if isinstance(self.discriminants, str) else self.discriminants
        turns = self.splitter == "auto" and n_samples <= FEW
        return AutoFamily(self.max_depth, share, "turns" if turns else self.splitter)

    def choices(self) -> list[AutoFamily]:
        """Return every family that a fit may choose in place of this one."""
        alone = [self.without_similarity(n) for n in (FEW, FEW + 1)]
        return [*alone, *(other for own in (self, *alone) for other in own.alternatives())]

    def bind(self, X, context: BindContext) -> Pricer:
        suits_directions = _allows_directions(context) and is_finite(X)
        return self._mixture(suits_directions).bind(X, context)

    def describe(self, X):
        suits = is_finite(X)
        members = {member.name: member for member in self._mixture(suits).families}
        members["tree"] = self._trees()  # another partition may not suit directions
        return suits, {name: member.describe(X) for name, member in members.items()}

    def plan(self, descriptions, context):
        suits, parts = zip(*descriptions)
        family = self._mixture(_allows_directions(context) and all(suits))
        names = [member.name for member in family.families]
        return family.plan([[own[name] for name in names] for own in parts], context)

    def trees(self, nodes, n_features: int) -> MixedLearners:
        """Return trees that are given by their nodes as learners of this family.

        Parameters
        ----------
        nodes : mapping of str to ndarray
            As `ThresholdTrees.arrays` returns them, with gains.
        n_features : int
        """
        learners = get_family("tree").learners_type.from_arrays(nodes, n_features)
        return MixedLearners.of("tree", learners)

    def _trees(self) -> WeakLearnerFamily:
        return get_family("tree")(max_depth=self.max_depth, splitter=self.splitter)

    def _mixture(self, suits_directions: bool) -> MixedFamily:
        """Return the families that the data allow."""
        share = self._checked_share()
        discriminant = get_family("projection")(kind="discriminant")
        if share == 0 or not suits_directions:
            return MixedFamily([self._trees()])
        if share == 1:
            return MixedFamily([discriminant])
        shares = (1 - share, share)
        return MixedFamily([self._trees(), discriminant], selection="turns", shares=shares)

    def _checked_share(self) -> float:
        share = self.discriminants
        if isinstance(share, str) and share == "auto":
            return SHARE
        if isinstance(share, bool) or not isinstance(share, Real):
            raise TypeError(f"discriminants: expected a number in [0, 1] or 'auto', got {share!r}")
        if not 0 <= share <= 1:
            raise ValueError(f"discriminants: expected a number in [0, 1] or 'auto', got {share!r}")
        return float(share)


def _allows_directions(context: BindContext) -> bool:
    """Return True if there are neither columns of category codes nor monotonic constraints."""
    has_categories = context.categorical is not None and context.categorical.any()
    return context.monotonic is None and not has_categories


def is_finite(X) -> bool:
    """Return True if all values are finite numbers."""
    values = X.data if sparse.issparse(X) else X
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())
