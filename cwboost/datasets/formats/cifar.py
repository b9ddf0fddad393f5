"""CIFAR-10, the binary version: per image one byte for the class, then planes of R, G and B."""

from itertools import takewhile
from pathlib import Path

import numpy as np

from cwboost.datasets.formats.files import find_one, locate

ROW, N_CLASSES = 1 + 3 * 32 * 32, 10


def read_cifar10(folder: Path):
    """Read the training batches before the first that is absent, and the test batch."""
    folder = locate(folder, "cifar-10-batches-bin") or folder
    paths = (folder / f"data_batch_{number}.bin" for number in range(1, 6))
    batches = [_read_batch(path) for path in takewhile(Path.exists, paths)]
    if not batches:
        return None
    X_train, y_train = map(np.concatenate, zip(*batches))
    X_test, y_test = _read_batch(find_one(folder, "test_batch.bin"))
    return {"X_train": X_train, "y_train": y_train, "X_test": X_test, "y_test": y_test}


def _read_batch(path: Path) -> tuple[np.ndarray, np.ndarray]:
    content = np.fromfile(path, np.uint8)
    if not content.size or content.size % ROW or content[::ROW].max() >= N_CLASSES:
        raise ValueError(f"{path} must be a batch of CIFAR-10, rows of a class and 3,072 bytes")
    rows = content.reshape(-1, ROW)
    return rows[:, 1:].copy(), rows[:, 0]
