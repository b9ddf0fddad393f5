import numpy as np
from numpy.typing import NDArray

def fill_kernel_values(
    squared: NDArray[np.float32], factor: float, unit: float, out: NDArray[np.float64]
) -> None: ...
