"""Generated data and asv settings that the benchmarks share."""

from time import perf_counter

import numpy as np

SEED = 20121105


class Settings:
    """Limits that keep a benchmark to a few seconds on a shared machine."""

    repeat = (2, 7, 2.0)
    rounds = 2
    warmup_time = 0.05
    timeout = 120


def generator():
    return np.random.default_rng(SEED)


def labelled(n_samples, n_classes):
    """Return labels 0..n_classes-1 in ascending order, with counts as equal as possible."""
    return np.sort(np.arange(n_samples) % n_classes)


def blobs(n_samples, n_features, n_classes, dtype="float64"):
    """Return overlapping Gaussian classes; as uint8, half of the entries are 0, as in images."""
    rng = generator()
    y = labelled(n_samples, n_classes)
    centres = rng.normal(size=(n_classes, n_features))
    X = centres[y] + 2 * rng.normal(size=(n_samples, n_features))
    if dtype == "uint8":
        return np.clip(60 * X, 0, 255).astype(np.uint8), y
    return X.astype(dtype), y


def columns(n_samples, n_classes, n_columns):
    """Return outputs of random weak learners that are right on just over half of the examples."""
    rng = generator()
    y = labelled(n_samples, n_classes)
    H = []
    for c in range(n_classes):
        right = rng.random((n_columns, n_samples)) < rng.uniform(0.5, 0.7, (n_columns, 1))
        H.append(np.where(right == (y == c), 1, -1).astype(np.int8))
    return H, y


def weights(y, n_classes, spread=1.0):
    """Return signed weights as in pricing in the middle of training: one row per class.

    With spread=4, a tenth of the examples has nine tenths of the weight, as late in training.
    """
    rng = generator()
    pair = rng.exponential(size=(n_classes, len(y))) ** spread
    pair[y, np.arange(len(y))] = 0.0
    R = -pair
    R[y, np.arange(len(y))] = pair.sum(axis=0)
    return R


def bound(family, X, n_classes):
    """A family of that name bound to X, for one thread."""
    import cwboost
    from cwboost.families.discovery import resolve_weak_learner

    family = resolve_weak_learner(family)
    if not hasattr(cwboost, "BindContext"):  # revisions before the context was one object
        return family.bind(X, n_targets=n_classes, random_state=generator(), n_threads=1)
    return family.bind(X, cwboost.BindContext(n_targets=n_classes, random_state=generator()))


def best_of(function, seconds=0.3, least=5):
    """Return the shortest time of a call, over at least `least` calls and about `seconds`."""
    times = []
    end = perf_counter() + seconds
    while len(times) < least or perf_counter() < end:
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)
