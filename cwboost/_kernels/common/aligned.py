"""Memory that vector loads do not straddle."""

import numpy as np


def aligned_zeros(shape) -> np.ndarray:
    """Return zeros whose rows are aligned to cache lines if their length is a multiple of eight.

    A vector of 64 bytes across two cache lines costs two loads.
    """
    size = int(np.prod(shape))
    memory = np.zeros(size + 7)
    first = -memory.ctypes.data % 64 // 8
    return memory[first : first + size].reshape(shape)
