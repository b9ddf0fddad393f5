"""The depth of trees that the data decide."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["depth_for", "other_depths"]

DEPTH, FEW_EXAMPLES, DEPTH_PER_DOUBLING = 8, 8192, 1.5
"""Depth of the trees up to this number of examples, and what each doubling adds."""

OTHER_DEPTHS = None, 5
"""Depths that pilots may prefer: the first where small regions differ, the second on noisy data."""

MANY = 0.5
"""Share of the trees that must reach the limit of their depth for another one to matter."""


def depth_for(n_samples: int) -> int:
    """Return the depth for a training matrix of `n_samples` examples."""
    doublings = max(0.0, math.log2(max(1, n_samples) / FEW_EXAMPLES))
    return DEPTH + round(DEPTH_PER_DOUBLING * doublings)


def other_depths(heights=None) -> tuple:
    """Return the depths that may be better, none if few of the trees reach the least limit.

    Parameters
    ----------
    heights : ndarray of shape (n_trees,), dtype int64, or None, default=None
        Of the trees of a pilot; None asks for all depths.
    """
    if heights is not None and not (len(heights) and np.mean(heights >= DEPTH) >= MANY):
        return ()
    return OTHER_DEPTHS
