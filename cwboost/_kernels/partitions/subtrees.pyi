from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwboost.kernels.partitioned.shared_bins import SharedBins

def grow_subtrees(
    codes: NDArray[np.uint8],
    bins: SharedBins,
    usable: NDArray[np.int32],
    rows: tuple[np.ndarray, ...],
    names: NDArray[np.int64],
    depths: NDArray[np.int32],
    settings: dict[str, Any],
    seed: int,
    n_threads: int,
) -> tuple[np.ndarray, ...]: ...
