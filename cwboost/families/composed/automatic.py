"""The default family: trees and discriminant directions, as far as the data allow."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np
from scipy import sparse

from cwboost.families.composed.mixed import MixedFamily
from cwboost.families.composed.mixed_learners import MixedLearners
from cwboost.families.contract import BindContext, Pricer, WeakLearnerFamily
from cwboost.families.discovery import get_family
from cwboost.families.partitioned import PartitionedFamily

__all__ = ["AutoFamily"]

DEPTH, FEW_EXAMPLES, DEPTH_PER_DOUBLING = 8, 8192, 1.5
"""Depth of the trees up to this number of examples, and what each doubling adds."""

OTHER_DEPTHS = None, 5
"""Depths that pilots may prefer: the first where small regions differ, the second on noisy data."""

MANY = 0.5
"""Share of the trees that must reach the limit of their depth for another one to matter."""


class AutoFamily(PartitionedFamily, WeakLearnerFamily):
    """Trees mixed with thresholds on discriminant directions, as far as the data allow.

    Every round draws one of the two kinds and prices only that one. Trees are better if single
    features separate the classes, discriminants if directions do; a mixture is close to the better
    of the two.

    Parameters
    ----------
    max_depth : int, "auto" or None, default="auto"
        Of the trees. "auto" is 8 up to 8,192 examples, and 1.5 more for every doubling of them,
        rounded: 12 with 50,000, and 15 with 200,000; up to 32,768 examples,
        `cwboost.CWBoostClassifier` takes no limit or 5 in its place if pilots say that this is
        better. None does not limit it.
    discriminants : float, default=0.25
        In [0, 1]. Probability that a round takes discriminants.

    Notes
    -----
    If the training matrix has missing or infinite values, or columns of category codes, or if there
    are monotonic constraints, all learners are trees: directions need numbers and keep no order. At
    prediction, an example with a missing value gets the output that a discriminant has for NaN.
    """

    name = "auto"
    api_version = 1
    learners_type = MixedLearners

    def __init__(self, max_depth="auto", discriminants=0.25):
        self.max_depth = max_depth
        self.discriminants = discriminants

    @property
    def capabilities(self):
        return get_family("tree")().capabilities

    def trees(self, n_samples: int) -> WeakLearnerFamily:
        """Return the family of the trees for a training matrix of `n_samples` examples."""
        depth = self.max_depth
        if isinstance(depth, str) and depth == "auto":
            doublings = max(0.0, math.log2(max(1, n_samples) / FEW_EXAMPLES))
            depth = DEPTH + round(DEPTH_PER_DOUBLING * doublings)
        return get_family("tree")(max_depth=depth)

    def alternatives(self, learners=None):
        """Return the family with trees of any depth and with shallow ones, if the depth is "auto".

        They matter only if many trees of the pilot's `learners` reach the limit of their depth.
        """
        if self.max_depth != "auto" or not self._checked_share() < 1:
            return ()
        trees = None if learners is None else learners.parts.get("tree")
        if trees is not None and np.mean(trees.heights() >= DEPTH) < MANY:
            return ()
        return [AutoFamily(depth, self.discriminants) for depth in OTHER_DEPTHS]

    def bind(self, X, context: BindContext) -> Pricer:
        suits_directions = _allows_directions(context) and _is_finite(X)
        return self._mixture(suits_directions, X.shape[0]).bind(X, context)

    def describe(self, X):
        suits, n_samples = _is_finite(X), X.shape[0]
        members = {member.name: member for member in self._mixture(suits, n_samples).families}
        members["tree"] = self.trees(n_samples)  # another partition may not suit directions
        return suits, n_samples, {name: member.describe(X) for name, member in members.items()}

    def plan(self, descriptions, context):
        suits, counts, parts = zip(*descriptions)
        family = self._mixture(_allows_directions(context) and all(suits), sum(counts))
        names = [member.name for member in family.families]
        return family.plan([[own[name] for name in names] for own in parts], context)

    def _mixture(self, suits_directions: bool, n_samples: int) -> MixedFamily:
        """Return the families that the data allow."""
        share = self._checked_share()
        discriminant = get_family("projection")(kind="discriminant")
        if share == 0 or not suits_directions:
            return MixedFamily([self.trees(n_samples)])
        if share == 1:
            return MixedFamily([discriminant])
        shares = (1 - share, share)
        return MixedFamily([self.trees(n_samples), discriminant], selection="turns", shares=shares)

    def _checked_share(self) -> float:
        share = self.discriminants
        if isinstance(share, bool) or not isinstance(share, Real):
            raise TypeError(f"discriminants: expected a number in [0, 1], got {share!r}")
        if not 0 <= share <= 1:
            raise ValueError(f"discriminants: expected a number in [0, 1], got {share!r}")
        return float(share)


def _allows_directions(context: BindContext) -> bool:
    """Return True if there are neither columns of category codes nor monotonic constraints."""
    has_categories = context.categorical is not None and context.categorical.any()
    return context.monotonic is None and not has_categories


def _is_finite(X) -> bool:
    """Return True if all values are finite numbers."""
    values = X.data if sparse.issparse(X) else X
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())
