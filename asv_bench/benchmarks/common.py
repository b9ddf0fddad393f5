"""What the benchmarks share: generated data, a yardstick, settings of asv."""

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
    """Labels 0..n_classes-1 in ascending order, as even as possible."""
    return np.sort(np.arange(n_samples) % n_classes)


def blobs(n_samples, n_features, n_classes, dtype="float64"):
    """Overlapping Gaussian classes; as uint8 half of the entries are 0, like pixels."""
    rng = generator()
    y = labelled(n_samples, n_classes)
    centres = rng.normal(size=(n_classes, n_features))
    X = centres[y] + 2 * rng.normal(size=(n_samples, n_features))
    if dtype == "uint8":
        return np.clip(60 * X, 0, 255).astype(np.uint8), y
    return X.astype(dtype), y


def columns(n_samples, n_classes, n_columns):
    """Outputs of random weak learners that are right on a bit more than half of the examples."""
    rng = generator()
    y = labelled(n_samples, n_classes)
    H = []
    for c in range(n_classes):
        right = rng.random((n_columns, n_samples)) < rng.uniform(0.5, 0.7, (n_columns, 1))
        H.append(np.where(right == (y == c), 1, -1).astype(np.int8))
    return H, y


def weights(y, n_classes, spread=1.0):
    """Signed weights as pricing gets them in the middle of a run: one row a class.

    With a spread of 4 a tenth of the examples holds nine tenths of the weight, as late in a run.
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
    """Shortest time of a call, over at least `least` calls and about `seconds`."""
    times = []
    end = perf_counter() + seconds
    while len(times) < least or perf_counter() < end:
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def numpy_passes(function, n_values=100_000):
    """Time of a call in units of one ``a *= s`` over `n_values` doubles, measured around it.

    A ratio within one process says more on a shared machine than seconds do.
    """
    a = np.ones(n_values)

    def one_pass():
        np.multiply(a, 1.0000001, out=a)

    before = best_of(one_pass, 0.1, 50)
    measured = best_of(function)
    return measured / min(before, best_of(one_pass, 0.1, 50))
