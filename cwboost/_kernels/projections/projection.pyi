import numpy as np
from numpy.typing import NDArray

def seeded_directions(
    seeds: NDArray[np.uint64], scale: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def stored_directions(
    start: NDArray[np.int64],
    feature: NDArray[np.int32],
    value: NDArray[np.float32],
    scale: NDArray[np.float64],
) -> NDArray[np.float64]: ...
