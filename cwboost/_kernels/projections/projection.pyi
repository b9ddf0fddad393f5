import numpy as np
from numpy.typing import NDArray

def seeded_directions(
    seeds: NDArray[np.uint64], scale: NDArray[np.float64]
) -> NDArray[np.float64]: ...
