import numpy as np
from numpy.typing import NDArray

def fill_codes(
    X: np.ndarray,
    centre: NDArray[np.float64],
    scale: NDArray[np.float64],
    largest: float,
    codes: NDArray[np.float32],
) -> None: ...
def fill_kernel_values(
    squared: NDArray[np.float32], factor: float, unit: float, out: NDArray[np.float64]
) -> None: ...
