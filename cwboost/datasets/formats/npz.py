"""One compressed NumPy file per data set: arrays under their names, labels 0..K-1."""

import zipfile
from pathlib import Path

import numpy as np


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Read the arrays of a file."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} must be an NPZ file, got {error}") from error
    if not ({"X_train", "y_train", "X_test", "y_test"} <= set(arrays) or {"X", "y"} <= set(arrays)):
        raise ValueError(
            f"{path} must hold X_train, y_train, X_test and y_test, or X and y, got "
            f"{', '.join(sorted(arrays)) or 'nothing'}"
        )
    if "classes" in arrays:
        arrays["target_names"] = arrays.pop("classes")
    return arrays
