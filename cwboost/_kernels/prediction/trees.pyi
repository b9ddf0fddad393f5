import numpy as np
from numpy.typing import NDArray
from scipy import sparse

class TreeEvaluator:
    n_features: int
    n_trees: int
    def __init__(
        self,
        offsets: np.ndarray,
        feature: np.ndarray,
        threshold: np.ndarray,
        left: np.ndarray,
        missing: np.ndarray,
        output: np.ndarray,
        n_features: int,
        set_start: np.ndarray | None = None,
        set_bits: np.ndarray | None = None,
    ) -> None: ...
    def outputs(
        self, X: np.ndarray | tuple[np.ndarray, ...], n_threads: int = 1
    ) -> NDArray[np.int8]: ...
    def cells(
        self, X: np.ndarray | tuple[np.ndarray, ...], n_threads: int = 1
    ) -> NDArray[np.int32]: ...
    def sets(
        self, X: np.ndarray | tuple[np.ndarray, ...], n_threads: int = 1
    ) -> NDArray[np.uint64]: ...
    def scores(
        self,
        X: np.ndarray | tuple[np.ndarray, ...],
        coef: sparse.csr_array | np.ndarray,
        n_threads: int = 1,
    ) -> NDArray[np.float64]: ...
