import numpy as np
from numpy.typing import NDArray

def tree_outputs(
    codes: NDArray[np.uint8],
    n_bins: NDArray[np.int32],
    offsets: NDArray[np.int64],
    feature: np.ndarray,
    below: np.ndarray,
    left: np.ndarray,
    missing: np.ndarray,
    sign: NDArray[np.int8],
    sides: NDArray[np.uint8],
    n_threads: int,
) -> NDArray[np.uint8]: ...
def output_edges(
    packed: NDArray[np.uint8],
    weights: NDArray[np.float64],
    scales: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
