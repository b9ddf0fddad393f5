"""Powers of two by which weights are multiplied, so that their sums are exact."""

import numpy as np


def weight_scales(masses) -> np.ndarray:
    """Return the powers of two that bring masses into (2**50, 2**51].

    Parameters
    ----------
    masses : array-like of shape (n_targets,)
        The sum of the absolute weights of each target, which may be wrong by rounding.

    Returns
    -------
    ndarray of shape (n_targets,), dtype float64
    """
    masses = np.asarray(masses, dtype=np.float64)
    fraction, exponent = np.frexp(np.maximum(masses, 1e-290))
    exponent = exponent + (fraction > 1.0 - 2.0**-8)
    return np.where(masses > 0.0, np.ldexp(1.0, 51 - exponent), 1.0)
