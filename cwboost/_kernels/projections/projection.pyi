import numpy as np
from numpy.typing import NDArray

def stored_directions(
    start: NDArray[np.int64],
    feature: NDArray[np.int32],
    value: NDArray[np.float32],
    scale: NDArray[np.float64],
) -> NDArray[np.float64]: ...
