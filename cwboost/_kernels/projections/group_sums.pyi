import numpy as np
from numpy.typing import NDArray

def group_sums(
    X: np.ndarray, weights: NDArray[np.float64], features: NDArray[np.int64], n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
