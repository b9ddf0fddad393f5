"""The data sets of the comparison, read from a folder of .npz files."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

SEED = 0
NAMES = ["VOWEL", "PENDIGITS", "MNIST", "ISOLET", "USPS"]


def pooled(path):
    """Return all examples of a file: both parts of the official split, if it has one."""
    with np.load(path) as stored:
        if "X" in stored:
            return stored["X"], stored["y"]
        return (
            np.concatenate([stored["X_train"], stored["X_test"]]),
            np.concatenate([stored["y_train"], stored["y_test"]]),
        )


def training_rows(path, n_rows=None):
    """Return the first training examples of a file (of all examples if it has no split)."""
    with np.load(path) as stored:
        X, y = (
            (stored["X"], stored["y"]) if "X" in stored else (stored["X_train"], stored["y_train"])
        )
    return X[:n_rows], y[:n_rows]


@lru_cache(maxsize=2)
def load(folder, name):
    """Load the training and test part of a data set.

    MNIST: 1,000 training examples per class and the official test set. Other sets: pooled and split
    75/25, stratified.

    Returns
    -------
    X_train, X_test, y_train, y_test
    """
    folder = Path(folder)
    if name == "MNIST":
        with np.load(folder / "MNIST.npz") as stored:
            rows = a_class(stored["y_train"], 1_000)
            return (
                stored["X_train"][rows],
                stored["X_test"],
                stored["y_train"][rows],
                stored["y_test"],
            )
    X, y = pooled(folder / f"{name}.npz")
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=SEED)


def a_class(y, n):
    """Return the indices of `n` random examples per class."""
    rng = np.random.default_rng(SEED)
    return np.concatenate(
        [rng.permutation(np.flatnonzero(y == c))[:n] for c in range(int(y.max()) + 1)]
    )


def blobs(n_samples, n_features, n_classes):
    """Return overlapping Gaussian classes as float32, with counts as equal as possible."""
    rng = np.random.default_rng(SEED)
    y = np.arange(n_samples) % n_classes
    centres = rng.normal(size=(n_classes, n_features)).astype(np.float32)
    X = rng.standard_normal((n_samples, n_features), dtype=np.float32)
    X *= 2
    X += centres[y]
    return X, y
