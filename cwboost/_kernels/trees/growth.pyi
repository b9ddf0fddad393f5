import numpy as np
from numpy.typing import NDArray

from cwboost.kernels.binned_matrix import BinnedMatrix

TREE_CRITERIA: dict[str, int]

class TreeGrower:
    def __init__(
        self,
        binned: BinnedMatrix,
        *,
        criterion: int,
        trim: float,
        max_depth: int,
        max_leaves: int,
        min_samples_leaf: int,
        max_features: int,
        chance: NDArray[np.float64],
        n_threads: int,
        min_weight: float = 0,
        min_gain: float = 0,
    ) -> None: ...
    def grow(
        self,
        weights: NDArray[np.float64],
        seeds: NDArray[np.uint64],
        rows: NDArray[np.int64] | None = None,
        monotonic: NDArray[np.int8] | None = None,
    ) -> dict[str, np.ndarray]: ...
