"""Outputs of weak learners as packed bits."""

import numpy as np
from numpy.typing import ArrayLike


def pack_outputs(outputs: ArrayLike) -> np.ndarray:
    """Pack outputs in {-1, +1} into bits.

    Parameters
    ----------
    outputs : array-like of shape (n_samples, n_columns), values -1 and +1

    Returns
    -------
    ndarray of shape (n_columns, ceil(n_samples / 8)), dtype uint8
        Example ``i`` is bit ``i % 8`` (lowest first) of byte ``i // 8``; +1 is a set bit.

    Examples
    --------
    >>> from cwboost import pack_outputs
    >>> pack_outputs([[1], [1], [-1], [1]])
    array([[11]], dtype=uint8)
    """
    bits = np.ascontiguousarray((np.asarray(outputs) > 0).T)
    return np.packbits(bits, axis=1, bitorder="little")


def unpack_outputs(packed: np.ndarray, n_samples: int) -> np.ndarray:
    """Unpack bits into outputs, the inverse of `pack_outputs`.

    Parameters
    ----------
    packed : ndarray of shape (n_columns, ceil(n_samples / 8)), dtype uint8
    n_samples : int

    Returns
    -------
    ndarray of shape (n_samples, n_columns), dtype int8, values -1 and +1

    Examples
    --------
    >>> import numpy as np
    >>> from cwboost import unpack_outputs
    >>> unpack_outputs(np.array([[11]], dtype=np.uint8), 4).ravel()
    array([ 1,  1, -1,  1], dtype=int8)
    """
    bits = np.unpackbits(packed, axis=1, count=n_samples, bitorder="little")
    return (2 * bits.astype(np.int8) - 1).T
