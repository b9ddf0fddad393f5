import numpy as np
from numpy.typing import NDArray

def smallest_places(keys: NDArray[np.float32], n_places: int) -> NDArray[np.int32]: ...
def best_splits(
    nodes: NDArray[np.int64],
    below: NDArray[np.float64],
    totals: NDArray[np.float64],
    criterion: int,
    min_samples_leaf: float,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]: ...
def join_leaves(
    n_trees: int, left: NDArray[np.int64], sign: NDArray[np.int64]
) -> NDArray[np.bool_]: ...
