import numpy as np
from numpy.typing import NDArray

def thresholds_between(
    low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]: ...
