import numpy as np
from numpy.typing import NDArray

def coarse_squares(
    weights: NDArray[np.float64], scales: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def thresholds_between(
    low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]: ...
