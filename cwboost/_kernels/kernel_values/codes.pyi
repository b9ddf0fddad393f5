import numpy as np
from numpy.typing import NDArray

def fill_codes(
    X: np.ndarray,
    centre: NDArray[np.float64],
    scale: NDArray[np.float64],
    largest: float,
    codes: NDArray[np.float32],
) -> None: ...
