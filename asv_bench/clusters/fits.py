"""Clusters of processes, the data on them, and the classifiers that are compared."""

import sys
import warnings
from pathlib import Path
from time import process_time

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))

SEED = 0
STUMPS = {
    "weak_learner": "stump",
    "init": None,
    "C": 1e40,
    "learning_rate": 1.0,
    "subsample": 1.0,
    "tol": 0.0,
    "random_state": SEED,
    "probability_scale": 2.0,
}


def cluster(n_workers=2, memory_limit=0):
    """Return a client of a new cluster of processes with one thread each."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": memory_limit}
    client = Client(LocalCluster(n_workers=n_workers, **options))
    client.run(load_packages)
    return client


def load_packages():
    """Load what the first task of a worker would load: it is part of an idle worker."""
    import dask.array
    import sklearn.base

    import cwboost.dask  # noqa: F401

    assert dask.array and sklearn.base


def close(client):
    owner = client.cluster
    client.close()
    owner.close()


def collections(client, X, y, n_partitions=2):
    """Return X and y as Dask arrays that the workers hold, equal parts on each."""
    import dask.array as da
    from distributed import wait

    rows = -(-len(X) // n_partitions)
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    parts = []
    for array in (X, y):
        blocks = []
        for k, start in enumerate(range(0, len(array), rows)):
            block = array[start : start + rows]
            place = workers[k % len(workers)]
            held = client.scatter(block, workers=[place], hash=False)
            blocks.append(da.from_delayed(held, block.shape, block.dtype))
        parts.append(da.concatenate(blocks).persist())
    wait(parts)
    return parts


def on_workers(n, n_features, n_classes, n_partitions=8):
    """Return collections whose partitions are made on the workers; they are not persisted."""
    import dask
    import dask.array as da

    rows = n // n_partitions
    Xs, ys = [], []
    for k in range(n_partitions):
        both = dask.delayed(block, pure=True)(rows, n_features, n_classes, k)
        Xs.append(da.from_delayed(both[0], (rows, n_features), np.float32))
        ys.append(da.from_delayed(both[1], (rows,), np.int64))
    return da.concatenate(Xs), da.concatenate(ys)


def mapped(path, n, n_features, n_classes, n_partitions=50):
    """Write a memory map of float64; return collections whose blocks are read on the workers."""
    import dask
    import dask.array as da

    rows, Xs, ys = n // n_partitions, [], []
    whole = np.lib.format.open_memmap(path, "w+", np.float64, (n, n_features))
    for k in range(n_partitions):
        whole[k * rows : (k + 1) * rows], y = block(rows, n_features, n_classes, k)
        part = dask.delayed(rows_of_file, pure=False)(path, k * rows, (k + 1) * rows)
        Xs.append(da.from_delayed(part, (rows, n_features), np.float64))
        ys.append(da.from_array(y, chunks=rows))
    whole.flush()
    return da.concatenate(Xs), da.concatenate(ys)


def rows_of_file(path, start, end):
    return np.array(np.load(path, mmap_mode="r")[start:end])


def block(rows, n_features, n_classes, seed):
    """Return the examples of one partition."""
    centres = np.random.default_rng(SEED).normal(size=(n_classes, n_features)).astype(np.float32)
    rng = np.random.default_rng([SEED, seed])
    y = rng.integers(0, n_classes, rows)
    X = rng.standard_normal((rows, n_features), dtype=np.float32)
    for start in range(0, rows, 10_000):
        part = slice(start, start + 10_000)
        X[part] = 2 * X[part] + centres[y[part]]
    return X, y


def dask_classifier(**parameters):
    from cwboost.dask import DaskCWBoostClassifier

    return DaskCWBoostClassifier(**parameters)


class OnPartitions:
    """A classifier that leaves the partitions where they are, although one worker has room."""

    def __init__(self, **parameters):
        self.parameters = parameters

    def fit(self, X, y):
        from cwboost.dask import actors

        share, actors.SHARE = actors.SHARE, 0.0
        try:
            return dask_classifier(**self.parameters).fit(X, y)
        finally:
            actors.SHARE = share


def local_classifier(**parameters):
    from cwboost import CWBoostClassifier

    return CWBoostClassifier(**parameters)


def lightgbm_dask(client, rounds, num_leaves):
    from lightgbm import DaskLGBMClassifier

    return DaskLGBMClassifier(
        client=client, n_estimators=rounds, num_leaves=num_leaves, n_jobs=1, verbosity=-1
    )


def xgboost_dask(client, rounds, **tree):
    from xgboost.dask import DaskXGBClassifier

    model = DaskXGBClassifier(n_estimators=rounds, tree_method="hist", n_jobs=1, **tree)
    model.client = client
    return model


def fitted(make, X, y):
    """Return a new model, fitted without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(X, y)


def error_of(model, X, y):
    """Return the error of a model of any of the packages, in percent."""
    return 100 * float(np.mean(np.asarray(_predictor(model)(X)) != y))


def _predictor(model):
    if hasattr(model, "to_local") and hasattr(model, "ensemble_"):
        return model.to_local().predict if hasattr(model, "client") else model.predict
    if hasattr(model, "ensemble_"):
        return model.predict
    if hasattr(model, "booster_"):
        return lambda X: model.classes_[model.booster_.predict(X).argmax(axis=1)]
    booster = model.get_booster()

    def predict(X):
        import xgboost

        scores = booster.predict(xgboost.DMatrix(X))
        return scores.argmax(axis=1) if scores.ndim == 2 else scores

    return predict


def processor_seconds(client):
    """Return the processor time so far of this process, the scheduler included, and the workers."""
    return process_time() + sum(client.run(process_time).values())


def loopback():
    """Return the bytes that went over the loopback device so far: all messages of the cluster."""
    with open("/proc/net/dev") as devices:
        return next(int(line.split()[1]) for line in devices if line.strip().startswith("lo:"))


def resident(name):
    """Return a memory figure of this process in bytes."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name))
