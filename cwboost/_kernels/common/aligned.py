"""Memory that vector loads do not straddle."""

from __future__ import annotations

import numpy as np

__all__ = ["aligned_zeros"]


CACHE_LINE = 64


def aligned_zeros(shape, dtype=np.float64) -> np.ndarray:
    """Return zeros whose rows are aligned to cache lines if their length is a multiple of one.

    A vector of 64 bytes across two cache lines costs two loads.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, default=float64
        Of numbers whose size divides that of a cache line, 64 bytes.
    """
    size, itemsize = int(np.prod(shape)), np.dtype(dtype).itemsize
    memory = np.zeros(size + CACHE_LINE // itemsize - 1, dtype=dtype)
    first = -memory.ctypes.data % CACHE_LINE // itemsize
    return memory[first : first + size].reshape(shape)
