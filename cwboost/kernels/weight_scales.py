"""Powers of two by which weights are multiplied, so that their sums are exact."""

from math import frexp, ldexp

import numpy as np


def weight_scale(mass: float) -> float:
    """Return the power of two that brings a mass into (2**50, 2**51], or 1 if it is 0.

    Parameters
    ----------
    mass : float
        A sum of absolute weights, which may be wrong by rounding.
    """
    if not mass > 0.0:
        return 1.0
    fraction, exponent = frexp(max(mass, 1e-290))
    return ldexp(1.0, 51 - exponent - (fraction > 1.0 - 2.0**-8))


def weight_scales(masses) -> np.ndarray:
    """Return the scale of each mass; see `weight_scale`.

    Parameters
    ----------
    masses : array-like of shape (n_targets,)

    Returns
    -------
    ndarray of shape (n_targets,), dtype float64
    """
    return np.array([weight_scale(float(mass)) for mass in masses], dtype=np.float64)
