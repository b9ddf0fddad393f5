"""Probabilities from logits, with the same bits on every processor."""

import numpy as np

from cwboost._kernels.common.elementary import exp, log


def softmax(logits) -> np.ndarray:
    """Return ``exp(logits)`` of every row, scaled to sum one.

    Parameters
    ----------
    logits : ndarray of shape (n_rows, n_classes)

    Returns
    -------
    ndarray of shape (n_rows, n_classes), dtype float64
    """
    powers = exp(logits - np.max(logits, axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def log_softmax(logits) -> np.ndarray:
    """Return the logarithms of `softmax`, finite also if a probability rounds to 0.

    Parameters
    ----------
    logits : ndarray of shape (n_rows, n_classes)

    Returns
    -------
    ndarray of shape (n_rows, n_classes), dtype float64
    """
    rest = logits - np.max(logits, axis=1, keepdims=True)
    return rest - log(exp(rest).sum(axis=1, keepdims=True))
