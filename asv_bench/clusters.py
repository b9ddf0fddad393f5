"""Training on a cluster of two processes, against lightgbm.dask, xgboost.dask and one process.

    python -m pip install -r asv_bench/requirements-peers.txt "cwboost[dask]"
    python asv_bench/clusters.py --data FOLDER

FOLDER holds PENDIGITS.npz and MNIST.npz as for asv_bench/peers. The fits of a row alternate, on one
`LocalCluster` of two workers with one thread each; a ratio is that of medians. Beside the wall time
stands the processor time of all processes, which other programs disturb less; rows compare it with
``--cpu``. ``--rounds`` and ``--scale`` make a run shorter.
"""

import argparse
import os
import sys
import warnings
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np

sys.path.insert(0, str(Path(__file__).with_name("peers")))

from data import blobs, training_rows
from report import Row, number, table

SEED = 0
STUMPS = {
    "weak_learner": "stump",
    "C": 1e40,
    "learning_rate": 1.0,
    "subsample": 1.0,
    "tol": 0.0,
    "random_state": SEED,
    "probability_scale": 2.0,
}


def cluster(n_workers=2):
    """Return a client of a new cluster of processes with one thread each."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    return Client(LocalCluster(n_workers=n_workers, **options))


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


def dask_classifier(**parameters):
    from cwboost.dask import DaskCWBoostClassifier

    return DaskCWBoostClassifier(**parameters)


def local_classifier(**parameters):
    from cwboost import CWBoostClassifier

    return CWBoostClassifier(n_jobs=2, **parameters)


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


def fitted(models, name, make, X, y):
    """Fit a new model and keep it as the last one of this name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models[name] = make().fit(X, y)


def alternate(client, functions, run):
    """Return median wall and processor seconds of functions by name; they run by turns."""
    found = {name: [] for name in functions}
    end = perf_counter() + run.budget
    for turn in range(run.repeats):
        if turn and perf_counter() > end:
            break
        for name, function in functions.items():
            wall, cpu = perf_counter(), processor_seconds(client)
            function()
            wall = perf_counter() - wall
            found[name].append((wall, processor_seconds(client) - cpu))
    return {name: tuple(map(median, zip(*values))) for name, values in found.items()}


def processor_seconds(client):
    """Return the processor time so far of this process, the scheduler included, and the workers."""
    return process_time() + sum(client.run(process_time).values())


def seconds_of(times):
    return ", ".join(f"{k} {number(wall)} s ({number(cpu)} s)" for k, (wall, cpu) in times.items())


def stumps(run):
    """Time of stage-wise stumps against the peers and against one process of two threads."""
    n, rounds = run.scaled(1_000_000), run.rounds(100)
    X, y = blobs(n, 50, 10)
    client = cluster()
    far = collections(client, X, y)
    settings = {**STUMPS, "n_estimators": rounds}
    models = {}
    fits = {
        "cwboost.dask": (partial(dask_classifier, **settings), far),
        "cwboost local, 2 threads": (partial(local_classifier, **settings), (X, y)),
        "lightgbm.dask": (partial(lightgbm_dask, client, rounds, 2), far),
        "xgboost.dask": (partial(xgboost_dask, client, rounds, max_depth=1), far),
    }
    run.warm_up(client, fits)
    times = alternate(
        client,
        {name: partial(fitted, models, name, call, *data) for name, (call, data) in fits.items()},
        run,
    )
    close(client)
    done = models["cwboost.dask"]
    assert done.n_iter_ == rounds, "training ended before the last round"
    what = f"{n:,} x 50 float32, 10 classes, {rounds} rounds of stumps"
    detail = seconds_of(times)
    seconds = {name: pair[run.clock] for name, pair in times.items()}
    ours = seconds["cwboost.dask"]
    yield Row(f"{what}, over lightgbm.dask", 5.0, seconds["lightgbm.dask"] / ours, "x", detail)
    yield Row(f"{what}, over xgboost.dask", 1.0, seconds["xgboost.dask"] / ours, "x", detail)
    local = ours / seconds["cwboost local, 2 threads"]
    yield Row(f"{what}, time over local with 2 threads", 1.5, local, "x", detail, at_most=True)


def overhead(run):
    """Time per round beyond that of one process, on data that cost nothing."""
    X, y = blobs(1_000, 10, 3)
    client = cluster()
    far = collections(client, X, y)
    rounds = run.rounds(200)

    def fit(make, n_rounds, *data):
        settings = {**STUMPS, "n_estimators": n_rounds, "learning_rate": 0.1}
        fitted({}, "", partial(make, **settings), *data)

    data = {dask_classifier: far, local_classifier: (X, y)}
    for make in data:
        fit(make, 10, *data[make])
    times = alternate(
        client,
        {(make, n): partial(fit, make, n, *data[make]) for make in data for n in (10, 10 + rounds)},
        run,
    )
    times = {key: pair[run.clock] for key, pair in times.items()}
    close(client)
    far_ms, near_ms = (1e3 * (times[make, 10 + rounds] - times[make, 10]) / rounds for make in data)
    detail = f"{number(far_ms)} ms per round, one process {number(near_ms)} ms"
    yield Row(
        "overhead per round, 1,000 x 10, 2 workers",
        15.0,
        far_ms - near_ms,
        "ms",
        detail,
        at_most=True,
    )


def memory(run):
    """Peak memory of the workers, over their share of X as float32."""
    n = run.scaled(1_000_000)
    client = cluster()
    before = client.run(resident, "VmRSS")
    far = on_workers(client, n, 50, 10)
    settings = {**STUMPS, "n_estimators": 10}
    fitted({}, "", partial(dask_classifier, **settings), *far)
    after = client.run(resident, "VmHWM")
    close(client)
    share = 4 * 50 * n / 2
    ratios = [(after[w] - before[w]) / share for w in before]
    detail = f"share {share / 2**20:.0f} MB, idle worker {max(before.values()) / 2**20:.0f} MB"
    what = f"peak memory per worker over its share of X, {n:,} x 50 float32, 10 classes"
    yield Row(what, 2.5, max(ratios), "x", detail, at_most=True)


def resident(name):
    """Return a memory figure of this process in bytes."""
    # Libraries that the first task would load are part of an idle worker.
    import dask.array
    import sklearn.base

    import cwboost.dask  # noqa: F401

    assert dask.array and sklearn.base
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name))


def on_workers(client, n, n_features, n_classes, n_partitions=8):
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


def block(rows, n_features, n_classes, seed):
    centres = np.random.default_rng(SEED).normal(size=(n_classes, n_features)).astype(np.float32)
    rng = np.random.default_rng([SEED, seed])
    y = rng.integers(0, n_classes, rows)
    X = rng.standard_normal((rows, n_features), dtype=np.float32)
    for start in range(0, rows, 10_000):
        part = slice(start, start + 10_000)
        X[part] = 2 * X[part] + centres[y[part]]
    return X, y


def trees(run):
    """Default learners against 31 leaves, at an error that is not higher."""
    n, rounds = run.scaled(300_000), run.rounds(100)
    X, y = blobs(n + 50_000, 50, 7)
    X_test, y_test, X, y = X[n:], y[n:], X[:n], y[:n]
    client = cluster()
    far = collections(client, X, y)
    ours = {"n_estimators": rounds, "random_state": SEED, "probability_scale": 2.0}
    models = {}
    fits = {
        "cwboost.dask, default": partial(dask_classifier, **ours),
        "cwboost.dask, trees": partial(dask_classifier, **ours, weak_learner="tree"),
        "lightgbm.dask": partial(lightgbm_dask, client, rounds, 31),
        "xgboost.dask": partial(xgboost_dask, client, rounds, max_leaves=31, max_depth=0),
    }
    times = alternate(
        client,
        {name: partial(fitted, models, name, make, *far) for name, make in fits.items()},
        run,
    )
    errors = {}
    for name, model in models.items():
        local = model.to_local() if hasattr(model, "to_local") else None
        predict = local.predict if local is not None else _booster_predict(model)
        errors[name] = 100 * np.mean(np.asarray(predict(X_test)) != y_test)
    close(client)
    detail = seconds_of(times) + "; " + ", ".join(f"{k} {v:.2f}%" for k, v in errors.items())
    name = "cwboost.dask, default"
    yield Row(
        f"{n:,} x 50, 7 classes, {rounds} rounds of the defaults, over lightgbm.dask 31 leaves, "
        "error no higher",
        2.0,
        times["lightgbm.dask"][run.clock] / times[name][run.clock],
        "x",
        detail,
        also=errors[name] <= errors["lightgbm.dask"],
    )


def _booster_predict(model):
    if hasattr(model, "booster_"):
        return lambda X: model.classes_[model.booster_.predict(X).argmax(axis=1)]
    booster = model.get_booster()

    def predict(X):
        import xgboost

        scores = booster.predict(xgboost.DMatrix(X))
        return scores.argmax(axis=1) if scores.ndim == 2 else scores

    return predict


def errors(run):
    """Errors of the default models of clusters and of one process."""
    for name, rounds in (("PENDIGITS", 200), ("MNIST", 60)):
        file = Path(run.data, f"{name}.npz")
        X, y = training_rows(file)
        with np.load(file) as stored:
            X_test, y_test = stored["X_test"], stored["y_test"]
        client = cluster()
        far = collections(client, X, y, 4)
        found = {"dask": [], "local": []}
        for seed in range(run.repeats if name == "PENDIGITS" else 1):
            settings = {"n_estimators": run.rounds(rounds), "random_state": seed}
            settings["probability_scale"] = 2.0
            models = {}
            fitted(models, "dask", partial(dask_classifier, **settings), *far)
            fitted(models, "local", partial(local_classifier, **settings), X, y)
            found["dask"].append(models["dask"].to_local())
            found["local"].append(models["local"])
        close(client)
        mean = {
            k: 100 * np.mean([1 - m.score(X_test, y_test) for m in v]) for k, v in found.items()
        }
        detail = f"clusters {mean['dask']:.2f}%, one process {mean['local']:.2f}%"
        what = (
            f"error on {name}, {len(X):,} examples, {run.rounds(rounds)} rounds, less the local one"
        )
        yield Row(what, 0.1, mean["dask"] - mean["local"], "points", detail, at_most=True)


GROUPS = {
    "overhead": overhead,
    "memory": memory,
    "stumps": stumps,
    "trees": trees,
    "errors": errors,
}


class Run:
    """Settings of this run."""

    def __init__(self, options):
        self.data, self.repeats, self.budget = options.data, options.repeats, options.budget
        self._rounds, self._scale = options.rounds, options.scale
        self.clock = int(options.cpu)

    def rounds(self, n):
        return max(2, round(n * self._rounds))

    def scaled(self, n):
        return round(n * self._scale)

    def warm_up(self, client, fits):
        """Let every package load itself on the workers before the first fit is timed."""
        for name in fits:
            package = {"lightgbm.dask": "lightgbm", "xgboost.dask": "xgboost"}.get(name, "cwboost")
            client.run(__import__, package)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=".", help="folder of the .npz files")
    parser.add_argument("--groups", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--repeats", type=int, default=3, help="turns per median")
    parser.add_argument("--budget", type=float, default=240.0, help="seconds after which turns end")
    parser.add_argument("--rounds", type=float, default=1.0, help="factor of the numbers of rounds")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the numbers of rows")
    parser.add_argument("--cpu", action="store_true", help="compare processor time")
    options = parser.parse_args()
    run, start = Run(options), perf_counter()
    rows = []
    for group in options.groups:
        for row in GROUPS[group](run):
            print(" | ".join(row.cells()), flush=True)
            rows.append(row.cells())
    print(table(["measure", "goal", "found", "", "medians: wall (processor)"], rows))
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{os.cpu_count()} cores, load {load}; {perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
