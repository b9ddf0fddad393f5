import numpy as np
from numpy.typing import NDArray

def group_weights(weights: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]: ...
def group_differences(
    X: np.ndarray,
    weights: NDArray[np.float64],
    rows: NDArray[np.int64],
    features: NDArray[np.int64],
) -> NDArray[np.float32]: ...
def group_sums(
    X: np.ndarray, weights: NDArray[np.float64], features: NDArray[np.int64], n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
