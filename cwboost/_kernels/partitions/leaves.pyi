from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

def tree_leaves(
    codes: NDArray[np.uint8],
    n_bins: NDArray[np.int32],
    n_trees: int,
    nodes: Mapping[str, np.ndarray],
    n_threads: int,
) -> NDArray[np.int32]: ...
def leaf_sums(
    leaves: NDArray[np.int32],
    weights: NDArray[np.float64],
    scales: NDArray[np.float64],
    bounds: NDArray[np.float64],
    n_nodes: int,
    n_threads: int,
) -> NDArray[np.float64]: ...
def leaf_outputs(
    leaves: NDArray[np.int32], trees: NDArray[np.int64], positive: NDArray[np.uint8], n_threads: int
) -> NDArray[np.uint8]: ...
