import numpy as np
from numpy.typing import NDArray

from cwboost.kernels.partitioned.shared_bins import SharedBins

def smallest_places(keys: NDArray[np.float32], n_places: int) -> NDArray[np.int32]: ...
def draw_cuts(
    bins: SharedBins, features: NDArray[np.int32], ranges: NDArray[np.int16], u: NDArray[np.float64]
) -> NDArray[np.int16]: ...
def best_splits(
    nodes: NDArray[np.int64],
    below: NDArray[np.float64],
    totals: NDArray[np.float64],
    criterion: int,
    min_samples_leaf: float,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]: ...
def add_up(left: NDArray[np.int64], totals: NDArray[np.float64]) -> None: ...
def join_leaves(
    n_trees: int, left: NDArray[np.int64], sign: NDArray[np.int64]
) -> NDArray[np.bool_]: ...
