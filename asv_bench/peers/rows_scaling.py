"""Scaling of the cost per round with the classes, speed-up by a second thread, memory."""

from pathlib import Path
from statistics import median
from time import perf_counter

from data import blobs, load
from models import LARGE_C, cwboost_stumps, fit, fitting
from report import Row, number
from sklearn.datasets import make_classification
from timing import alternate, peak_memory


def round_seconds(X, y, rounds):
    """Return the median seconds per round in pricing and solver."""
    history = fit(cwboost_stumps(rounds), X, y).history_
    return median(history["pricing_seconds"] + history["solver_seconds"])


def classes(settings):
    n_samples, n_features = (5_000, 64)
    sizes = (10, 100)
    data = {k: blobs(n_samples, n_features, k) for k in sizes}
    costs = {k: [] for k in sizes}
    for _ in range(settings.repeats):
        for k in sizes:
            costs[k].append(round_seconds(*data[k], settings.rounds(30)))
    few, many = (median(costs[k]) for k in sizes)
    yield Row(
        f"cost of a round, classes 10 to 100, {n_samples:,} x {n_features}",
        4.0,
        many / few,
        "x",
        f"{number(1e3 * few)} ms and {number(1e3 * many)} ms",
        at_most=True,
    )


def threads(settings):
    for k in (5, 2):
        X, y = make_classification(
            *(100_000, 20), n_informative=12, n_classes=k, n_clusters_per_class=4, random_state=0
        )
        fits = {n: fitting(X, y, "cwboost_default", settings.rounds(60), n) for n in (1, 2)}
        what = f" of the default, 100,000 x 20, {k} classes"
        yield two_threads(what, fits, min(3, settings.repeats))
    for name in settings.names(["MNIST", "MFEAT", "ISOLET"]):
        X, _, y, _ = load(settings.data, name)
        rounds = settings.rounds(200)
        fits = {
            n: fitting(X, y, "cwboost_stumps", rounds, n, C=LARGE_C, probability_scale=2.0)
            for n in (1, 2)
        }
        yield two_threads(f", stumps, stagewise, {name}", fits, settings.repeats)


def two_threads(what, fits, repeats):
    """Return the row of fits by their number of threads."""
    times = alternate(fits, repeats, clock=perf_counter)
    detail = f"{number(times[1])} s and {number(times[2])} s"
    return Row(f"two threads over one, fit{what}", 1.7, times[1] / times[2], "x", detail)


def memory(settings):
    path = Path(settings.data, "MNIST.npz")
    rounds = settings.rounds(200)
    ours, ours_before = peak_memory(
        "cwboost_stumps", path, {"rounds": rounds, "correction": "total", "C": 1e4}
    )
    theirs, theirs_before = peak_memory("lightgbm", path, {"rounds": rounds})
    yield Row(
        f"peak memory over LightGBM's, MNIST 60,000 uint8, {rounds} rounds of stumps, total",
        1.0,
        ours / theirs,
        "x",
        f"{ours:,.0f} MB ({ours_before:,.0f} before the fit), "
        f"LightGBM {theirs:,.0f} MB ({theirs_before:,.0f})",
        at_most=True,
    )
