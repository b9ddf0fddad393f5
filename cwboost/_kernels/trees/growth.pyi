import numpy as np
from numpy.typing import NDArray

from cwboost.kernels.binned_matrix import BinnedMatrix

TREE_CRITERIA: dict[str, int]

class TreeGrower:
    def __init__(
        self,
        binned: BinnedMatrix,
        *,
        n_threads: int,
        sets: NDArray[np.bool_] | None = None,
        **settings: object,
    ) -> None: ...
    max_depth: int
    def grow(
        self,
        weights: NDArray[np.float64],
        seeds: NDArray[np.uint64],
        rows: NDArray[np.int64] | None = None,
        monotonic: NDArray[np.int8] | None = None,
    ) -> tuple[dict[str, np.ndarray], NDArray[np.uint8], NDArray[np.float64]]: ...
    def divide(
        self,
        weights: NDArray[np.float64],
        code: NDArray[np.float64],
        seed: int,
        rows: NDArray[np.int64] | None = None,
    ) -> tuple[dict[str, np.ndarray], NDArray[np.int32]]: ...
