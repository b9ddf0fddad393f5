"""Kernel values: a heavy-tailed kernel of the distance, in whole units of 2**-17."""

import numpy as np

from cwboost.kernels import fill_kernel_values

UNIT = 2.0**17
"""Kernel value 1 in the units in which values are kept, so that sums of products are exact."""

TAIL = 4.0
"""Exponent of the kernel; it approaches a Gaussian as this grows."""

BLOCK = 256
"""Number of features whose squares and products are summed in one product of matrices: they stay
below 2**24, hence are exact in single precision, in any order."""


class Landmarks:
    """Examples to which distances are measured, given by their `FeatureCodes`."""

    def __init__(self, codes):
        self._blocks = []
        for start in range(0, codes.shape[1], BLOCK):
            part = codes[:, start : start + BLOCK].astype(np.float32)
            columns = [-2 * part, np.ones((len(part), 1)), _squares(part)[:, None]]
            block = np.ascontiguousarray(np.hstack(columns).T, dtype=np.float32)
            self._blocks.append((slice(start, start + BLOCK), block))

    def __len__(self):
        return self._blocks[0][1].shape[1]

    def distances(self, codes, out=None) -> np.ndarray:
        """Return the squared distances of rows of codes, (n, n_landmarks), float32, in `out`."""
        for columns, block in self._blocks:
            part = codes[:, columns]
            rows = np.empty((len(part), len(block)), dtype=np.float32)
            rows[:, :-2], rows[:, -2], rows[:, -1] = part, _squares(part), 1.0
            if columns.start == 0:
                out = np.matmul(rows, block, out=out)  # noqa: TID251
            else:
                out += rows @ block
        return out


def _squares(codes) -> np.ndarray:
    return np.einsum("ij,ij->i", codes, codes, dtype=np.float32)  # noqa: TID251


def kernel_values(squared, width: float, out=None) -> np.ndarray:
    """Return ``(1 + d / (4 width))**-4`` of squared distances d, float64, in whole units."""
    out = np.empty(squared.shape) if out is None else out
    fill_kernel_values(squared, 1.0 / (TAIL * width), UNIT, out)
    return out


class KernelValues:
    """The kernel values of rows and landmarks, in memory that is kept from call to call.

    To get memory takes longer than to compute the values.
    """

    def __init__(self, landmarks: Landmarks, width: float):
        self._landmarks, self._width = landmarks, width
        self._room = np.empty((0, 0), dtype=np.float32), np.empty((0, 0))

    def __call__(self, codes) -> np.ndarray:
        """Return them for rows of codes, float32: (n, n_landmarks); the next call overwrites it."""
        n = len(codes)
        if n > len(self._room[0]):
            shape = n, len(self._landmarks)
            self._room = np.empty(shape, dtype=np.float32), np.empty(shape)
        squared, values = (array[:n] for array in self._room)
        return kernel_values(self._landmarks.distances(codes, squared), self._width, values)
