"""What is measured, group by group: fits that append their results, and rows made of these."""

import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from data import blobs, training_rows
from fits import (
    SEED,
    STUMPS,
    OnPartitions,
    close,
    cluster,
    collections,
    dask_classifier,
    error_of,
    fitted,
    lightgbm_dask,
    local_classifier,
    loopback,
    mapped,
    on_workers,
    processor_seconds,
    resident,
    xgboost_dask,
)
from report import Row, number

from cwboost import TreeFamily

LOCAL = "cwboost local"


def by_turns(run, client, group, fits, examine=None):
    """Run fits by turns and append their times; later turns leave out what the budget forbids.

    Parameters
    ----------
    run : Run
    client : distributed.Client
    group : str
    fits : dict of str to (callable, collections)
        What makes a model, and its X and y.
    examine : callable, default=None
        ``examine(model)`` returns further entries of the record.
    """
    end, last = perf_counter() + run.budget, {}
    fits = {name: fit for name, fit in fits.items() if run.wants(name)}
    for turn in range(run.repeats):
        for name, (make, data) in fits.items():
            if turn and perf_counter() + last[name] > end:
                continue
            cpu, sent, start = processor_seconds(client), loopback(), perf_counter()
            model = fitted(make, *data)
            last[name], sent = perf_counter() - start, loopback() - sent
            cpu = processor_seconds(client) - cpu
            more = examine(model) if examine is not None else {}
            run.append(group, name, wall=last[name], cpu=cpu, sent=sent, **more)


def examined(X, y, model):
    return {"error": error_of(model, X, y)}


def stumps(run):
    """Stage-wise stumps against the peers, and against one process of one thread."""
    n, rounds = run.scaled(1_000_000), run.rounds(100)
    X, y = blobs(n, 50, 10)
    client = cluster()
    far = collections(client, X, y)
    settings = {**STUMPS, "n_estimators": rounds}
    fits = {
        "cwboost.dask": (partial(dask_classifier, **settings), far),
        LOCAL: (partial(local_classifier, **settings), (X, y)),
        "lightgbm.dask": (partial(lightgbm_dask, client, rounds, 2), far),
        "xgboost.dask": (partial(xgboost_dask, client, rounds, max_depth=1), far),
    }
    by_turns(run, client, "stumps", fits)
    close(client)


def rows_of_stumps(run, found):
    n, rounds = run.scaled(1_000_000), run.rounds(100)
    what = f"{n:,} × 50 float32, 10 classes, {rounds} rounds of stumps"
    detail = found.detail()
    for name, goal in (("lightgbm.dask", 5.0), ("xgboost.dask", 1.0)):
        if found.has(name, "cwboost.dask"):
            ratio = found.seconds(name) / found.seconds("cwboost.dask")
            yield Row(f"{what}, over {name}", goal, ratio, "x", detail)
            what, detail = "the same", "the same fits"
    if found.has("cwboost.dask", LOCAL):
        ratio = found.seconds("cwboost.dask") / found.seconds(LOCAL)
        yield Row(f"{what}, time over one process", 1.5, ratio, "x", detail, at_most=True)


ROUNDS = 200


def overhead(run):
    """Time per round beyond that of one process, on data that cost next to nothing."""
    X, y = blobs(1_000, 10, 3)
    client = cluster()
    far = collections(client, X, y)
    data = {dask_classifier: far, local_classifier: (X, y)}
    fits = {}
    for make, own in data.items():
        for n in (10, 10 + run.rounds(ROUNDS)):
            settings = {**STUMPS, "n_estimators": n, "learning_rate": 0.1}
            fits[f"{make.__name__}, {n} rounds"] = partial(make, **settings), own
    for make, own in list(fits.values())[::2]:
        fitted(make, *own)
    by_turns(run, client, "overhead", fits)
    close(client)


def rows_of_overhead(run, found):
    rounds, ms = run.rounds(ROUNDS), []
    for make in (dask_classifier, local_classifier):
        short, long = (f"{make.__name__}, {n} rounds" for n in (10, 10 + rounds))
        if not found.has(short, long):
            return
        ms.append(1e3 * (found.seconds(long) - found.seconds(short)) / rounds)
    detail = f"{number(ms[0])} ms per round, one process {number(ms[1])} ms"
    what = "overhead per round of stumps, 1,000 × 10, 3 classes"
    yield Row(what, 15.0, ms[0] - ms[1], "ms", detail, at_most=True)


def memory(run):
    """Memory that training adds to the workers, over X as float32."""
    n = run.scaled(1_000_000)
    for n_partitions in (8, 2):
        client = cluster()
        before = client.run(resident, "VmRSS")
        far = on_workers(n, 50, 10, n_partitions)
        fitted(partial(dask_classifier, **STUMPS, n_estimators=10), *far)
        measured = {"idle": max(before.values()) / 2**20}
        for name, figure in {"ratio": "VmHWM", "after": "VmRSS"}.items():
            added = sum(client.run(resident, figure).values()) - sum(before.values())
            measured[name] = added / (4 * 50 * n)
        close(client)
        run.append("memory", f"{n_partitions} partitions", wall=0.0, cpu=0.0, **measured)


def rows_of_memory(run, found):
    n = run.scaled(1_000_000)
    for name, fits in found.fits.items():
        ratio, after, idle = (median(f[key] for f in fits) for key in ("ratio", "after", "idle"))
        detail = f"after training {number(after)} x; idle worker {number(idle)} MB"
        what = f"peak memory of the workers over X, {n:,} × 50, 10 classes, {name}"
        yield Row(what, 2.5, ratio, "x", detail, at_most=True)


LARGER, LIMIT = 10_000_000, 4e9
"""Number of rows, whose X takes 10 GB, and memory limit of the worker in bytes."""


def larger(run):
    """Trees on one worker from a memory map that is larger than its memory."""
    n, d, rounds = run.scaled(LARGER), 125, run.rounds(10)
    with tempfile.TemporaryDirectory(dir=run.data) as folder:
        data = mapped(Path(folder, "X.npy"), n, d, 2)
        client = cluster(1, memory_limit=round(LIMIT))
        idle = sum(client.run(resident, "VmRSS").values())
        cpu, start = processor_seconds(client), perf_counter()
        settings = {"weak_learner": TreeFamily(8), "init": None, "probability_scale": 2.0}
        fitted(partial(dask_classifier, **settings, n_estimators=rounds), *data)
        wall, cpu = perf_counter() - start, processor_seconds(client) - cpu
        peak = sum(client.run(resident, "VmHWM").values())
        close(client)
    measured = {"peak": peak, "idle": idle, "limit": LIMIT, "bytes": 8 * n * d}
    run.append("larger", "memory map", wall=wall, cpu=cpu, **measured)


def rows_of_larger(run, found):
    n, rounds = run.scaled(LARGER), run.rounds(10)
    if not found.has("memory map"):
        return
    keys = ("peak", "idle", "limit", "bytes")
    peak, idle, limit, given = (found.median("memory map", key) for key in keys)
    detail = (
        f"X {number(given / 1e6)} MB, limit {number(limit / 1e6)} MB, idle worker "
        f"{number(idle / 1e6)} MB, peak {number(peak / 1e6)} MB; {found.detail()}"
    )
    what = f"one worker, {n:,} × 125 float64 of a memory map, {rounds} rounds of trees: peak memory"
    yield Row(f"{what} over X", 0.4, peak / given, "x", detail, at_most=True)


TABLES = ((60_000, 20, 5), (10_000, 64, 10), (1_000_000, 50, 5))
"""Numbers of rows, features and classes."""


def trees(run):
    """Trees without an init model: on one worker, on partitions, in one process, and the peers'."""
    rounds = run.rounds(50)
    for n, d, k in TABLES:
        X, y = blobs(run.scaled(n) + n // 6, d, k)
        X_test, y_test, X, y = X[-n // 6 :], y[-n // 6 :], X[: -n // 6], y[: -n // 6]
        client = cluster()
        far = collections(client, X, y)
        ours = {"n_estimators": rounds, "init": None, "probability_scale": 2.0}
        ours["random_state"] = SEED
        fits = {
            "cwboost.dask": partial(dask_classifier, **ours),
            "cwboost.dask, partitions": partial(OnPartitions, **ours),
            LOCAL: partial(local_classifier, **ours),
            "lightgbm.dask": partial(lightgbm_dask, client, rounds, 31),
            "xgboost.dask": partial(xgboost_dask, client, rounds, max_leaves=31, max_depth=0),
        }
        fits = {
            f"{n:,} × {d}, {name}": (f, (X, y) if name == LOCAL else far)
            for name, f in fits.items()
        }
        by_turns(run, client, "trees", fits, partial(examined, X_test, y_test))
        close(client)


def rows_of_trees(run, found):
    rounds = run.rounds(50)
    for n, d, k in TABLES:
        own = found.of(f"{n:,} × {d}, ")
        if not own.has("cwboost.dask", "cwboost.dask, partitions", "lightgbm.dask", LOCAL):
            continue
        errors = ", ".join(f"{name} {own.median(name, 'error'):.2f}%" for name in own.fits)
        sent = {name: own.median(name, "sent") / rounds / 2e6 for name in own.fits if name != LOCAL}
        both = ", ".join(f"{name} {number(each)} MB" for name, each in sent.items())
        ours = own.seconds("cwboost.dask")
        what = f"{n:,} × {d}, {k} classes, {rounds} rounds of trees: time over one process"
        detail = f"{own.detail()}; errors {errors}"
        yield Row(what, 0.7, ours / own.seconds(LOCAL), "x", detail, at_most=True)
        ratio = ours / own.seconds("lightgbm.dask")
        yield Row(
            "the same, over lightgbm.dask, 31 leaves",
            0.8,
            ratio,
            "x",
            "the same fits",
            at_most=True,
        )
        ratio = own.seconds("cwboost.dask, partitions") / own.seconds(LOCAL)
        what = "the same, on partitions, over one process"
        yield Row(what, 1.0, ratio, "x", "the same fits", at_most=True)
        what = "the same, bytes on partitions, over lightgbm.dask"
        ratio = sent["cwboost.dask, partitions"] / sent["lightgbm.dask"]
        yield Row(what, 1.0, ratio, "x", f"per round and worker: {both}", at_most=True)


ROWS = (2_000_000, 10_000_000)
"""Numbers of rows."""


def workers(run):
    """Rounds of trees on partitions of one and two workers of 2 GB, and in one process."""
    settings = {"weak_learner": TreeFamily(8), "init": None, "probability_scale": 2.0}
    sizes = (2, 2 + run.rounds(20))

    def fits(name, make, data):
        return {f"{name}, {k}": (partial(make, **settings, n_estimators=k), data) for k in sizes}

    for n in (run.scaled(n) for n in ROWS):
        for _ in range(run.repeats):
            for n_workers in (1, 2):
                client, far = cluster(n_workers, memory_limit=2 * 10**9), on_workers(n, 20, 2)
                made = fits(f"{n:,}, on {n_workers}", OnPartitions, far)
                if n_workers == 2:
                    near = [each.compute() for each in far]
                    made |= fits(f"{n:,}, here", local_classifier, near)
                by_turns(run.once(), client, "workers", made)
                close(client)


def rows_of_workers(run, found):
    rounds = run.rounds(20)
    for n in (run.scaled(n) for n in ROWS):
        seconds = {}
        for place in ("here", "on 1", "on 2"):
            short, long = (f"{n:,}, {place}, {k}" for k in (2, 2 + rounds))
            if not found.has(short, long):
                return
            seconds[place] = (found.seconds(long) - found.seconds(short)) / rounds
        detail = ", ".join(f"{place} {number(1e3 * each)} ms" for place, each in seconds.items())
        what = f"{n:,} × 20, 2 classes, a round of trees on partitions: one worker over one process"
        yield Row(what, 1.1, seconds["on 1"] / seconds["here"], "x", detail, at_most=True)
        ratio = seconds["on 1"] / seconds["on 2"]
        yield Row("the same: two workers, times as fast as one", 1.7, ratio, "x", "the same fits")


SETS = {"PENDIGITS": 200, "MNIST": 120}
"""Rounds by data set. With few rounds, errors differ by how many of them happen to grow trees."""


def errors(run):
    """Errors of the default models of clusters and of one process."""
    for name, rounds in SETS.items():
        file = Path(run.data, f"{name}.npz")
        X, y = training_rows(file)
        X, y = X[: run.scaled(len(X))], y[: run.scaled(len(X))]
        with np.load(file) as stored:
            X_test, y_test = stored["X_test"], stored["y_test"]
        client = cluster()
        far = collections(client, X, y, 4)
        for seed in range(min(3, run.repeats)):
            settings = {"n_estimators": run.rounds(rounds), "random_state": seed}
            settings["probability_scale"] = 2.0
            fits = {
                f"{name}, cwboost.dask": (partial(dask_classifier, **settings), far),
                f"{name}, {LOCAL}": (partial(local_classifier, **settings), (X, y)),
            }
            by_turns(run.once(), client, "errors", fits, partial(examined, X_test, y_test))
        close(client)


def rows_of_errors(run, found):
    for name, rounds in SETS.items():
        both = f"{name}, cwboost.dask", f"{name}, {LOCAL}"
        if not found.has(*both):
            continue
        far, near = (np.mean([fit["error"] for fit in found.fits[key]]) for key in both)
        seconds = " and ".join(f"{number(found.seconds(key))} s" for key in both)
        detail = f"{far:.2f}% on the cluster, {near:.2f}% in one process; {seconds}"
        n_fits = len(found.fits[both[0]])
        what = f"error on {name}, {run.rounds(rounds)} rounds of the default, less the local one"
        what += f", mean of {n_fits} seeds" if n_fits > 1 else ""
        yield Row(what, 0.1, far - near, "points", detail, at_most=True)
        ratio = found.seconds(both[0]) / found.seconds(both[1])
        yield Row("the same, time over one process", 0.8, ratio, "x", "the same fits", at_most=True)


NOISE = (0.0, 1.0, 3.0)
"""Factors of the noise in the scores that labels follow: the last one hides half of them."""


def noisy(noise, n, seed):
    """Return rows of 20 features, and labels of three classes."""
    rng = np.random.default_rng([SEED, seed])
    slopes = np.random.default_rng(SEED).normal(size=(20, 3)) / np.sqrt(5)
    X = rng.normal(size=(n, 20))
    scores = X @ slopes + X[:, :3] * X[:, 1:4] + noise * rng.gumbel(size=(n, 3))
    return X, scores.argmax(axis=1)


def labels(run):
    """Labels and errors of partitions, of one process, and of one process with another seed."""
    client, rounds = cluster(), run.rounds(100)
    settings = {"weak_learner": TreeFamily(6), "init": None, "probability_scale": 2.0}
    settings |= {"n_estimators": rounds, "learning_rate": 0.1}
    for noise in NOISE:
        for seed in range(run.repeats):
            X, y = noisy(noise, 6_000, seed)
            X_test, y_test = noisy(noise, 20_000, 1_000 + seed)
            near = [local_classifier(**settings, random_state=k).fit(X, y) for k in range(2)]
            far = OnPartitions(**settings, random_state=0)
            far = far.fit(*collections(client, X, y, 4)).to_local()
            here, again, there = (model.predict(X_test) for model in (*near, far))
            errors = {"local": here, "again": again, "there": there}
            errors = {k: 100 * float(np.mean(v != y_test)) for k, v in errors.items()}
            other = {"other_labels": there, "labels_of_seeds": again}
            other = {k: 100 * float(np.mean(v != here)) for k, v in other.items()}
            run.append("labels", f"noise {noise:g}", wall=0.0, cpu=0.0, **errors, **other)
    close(client)


def rows_of_labels(run, found):
    for name, fits in found.fits.items():
        mean = {key: np.mean([fit[key] for fit in fits]) for key in ("local", "again", "there")}
        most = {
            key: max(abs(fit[key] - fit["local"]) for fit in fits) for key in ("again", "there")
        }
        shares = [found.median(name, key) for key in ("other_labels", "labels_of_seeds")]
        detail = (
            f"another seed in one process: {shares[1]:.1f}%; errors {mean['there']:.2f}%, one "
            f"process {mean['local']:.2f}%, its other seed {mean['again']:.2f}%, means of "
            f"{len(fits)} data sets; of one at most {most['there']:.2f} points from partitions and "
            f"{most['again']:.2f} from the seed"
        )
        what = f"6,000 × 20, 3 classes, {name}: labels on partitions that one process has otherwise"
        yield Row(what, 1.1 * shares[1], shares[0], "%", detail, at_most=True)


GROUPS = {
    "overhead": (overhead, rows_of_overhead),
    "memory": (memory, rows_of_memory),
    "larger": (larger, rows_of_larger),
    "errors": (errors, rows_of_errors),
    "labels": (labels, rows_of_labels),
    "stumps": (stumps, rows_of_stumps),
    "trees": (trees, rows_of_trees),
    "workers": (workers, rows_of_workers),
}
