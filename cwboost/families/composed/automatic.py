"""The default family: trees and discriminant directions, as far as the data allow."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy import sparse

from cwboost.families.composed.mixed import MixedFamily
from cwboost.families.composed.mixed_learners import MixedLearners
from cwboost.families.contract import BindContext, Pricer, WeakLearnerFamily
from cwboost.families.discovery import get_family

__all__ = ["AutoFamily"]


class AutoFamily(WeakLearnerFamily):
    """Trees mixed with thresholds on discriminant directions, as far as the data allow.

    Every round draws one of the two kinds and prices only that one. Trees are better if single
    features separate the classes, discriminants if directions do; a mixture is close to the better
    of the two.

    Parameters
    ----------
    max_depth : int or None, default=8
        Of the trees.
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

    def __init__(self, max_depth=8, discriminants=0.25):
        self.max_depth = max_depth
        self.discriminants = discriminants

    @property
    def capabilities(self):
        return get_family("tree")().capabilities

    def trees(self) -> WeakLearnerFamily:
        """Return the family of the trees."""
        return get_family("tree")(max_depth=self.max_depth)

    def bind(self, X, context: BindContext) -> Pricer:
        share = self._checked_share()
        tree = self.trees()
        discriminant = get_family("projection")(kind="discriminant")
        if share == 0 or not _suits_directions(X, context):
            family = MixedFamily([tree])
        elif share == 1:
            family = MixedFamily([discriminant])
        else:
            shares = (1 - share, share)
            family = MixedFamily([tree, discriminant], selection="turns", shares=shares)
        return family.bind(X, context)

    def _checked_share(self) -> float:
        share = self.discriminants
        if isinstance(share, bool) or not isinstance(share, Real):
            raise TypeError(f"discriminants: expected a number in [0, 1], got {share!r}")
        if not 0 <= share <= 1:
            raise ValueError(f"discriminants: expected a number in [0, 1], got {share!r}")
        return float(share)


def _suits_directions(X, context: BindContext) -> bool:
    """Return True if all values are finite numbers, no category codes, and in no required order."""
    if context.monotonic is not None:
        return False
    if context.categorical is not None and context.categorical.any():
        return False
    values = X.data if sparse.issparse(X) else X
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())
