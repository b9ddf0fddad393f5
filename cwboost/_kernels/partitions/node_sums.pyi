import numpy as np
from numpy.typing import NDArray

class NodeRows:
    def __init__(
        self,
        codes: NDArray[np.uint8],
        n_bins: NDArray[np.int32],
        weights: NDArray[np.float64],
        scales: NDArray[np.float64],
        bounds: NDArray[np.float64],
        n_threads: int,
    ) -> None: ...
    def split(
        self,
        nodes: NDArray[np.int32],
        features: NDArray[np.int32],
        cuts: NDArray[np.int32],
        missing_right: NDArray[np.uint8],
        sides: NDArray[np.uint8],
    ) -> None: ...
    def totals(self, nodes: np.ndarray) -> NDArray[np.float64]: ...
    def histograms(
        self, nodes: NDArray[np.int64], features: NDArray[np.int32]
    ) -> NDArray[np.float64]: ...

def masses_by_size(
    weights: NDArray[np.float64], scales: NDArray[np.float64], n_threads: int
) -> NDArray[np.float64]: ...
