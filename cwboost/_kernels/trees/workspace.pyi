import numpy as np
from numpy.typing import NDArray

TREE_CRITERIA: dict[str, int]

class TreeSettings:
    def __init__(
        self,
        *,
        criterion: int,
        trim: float,
        max_depth: int,
        max_leaves: int,
        min_samples_leaf: int,
        max_features: int,
        chance: NDArray[np.float64],
        min_weight: float = 0,
        min_gain: float = 0,
    ) -> None: ...
