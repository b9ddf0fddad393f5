"""Scaling of the cost per round, speed-up by a second thread, memory, overhead."""

from math import log
from pathlib import Path
from statistics import median

from data import blobs, load
from models import LARGE_C, cwboost_stumps, fit, fitting
from report import Row, number
from timing import alternate, peak_memory, seconds


def round_seconds(X, y, rounds, threads, correction="stagewise"):
    """Return the median seconds per round in pricing and solver."""
    history = fit(cwboost_stumps(rounds, threads, correction), X, y).history_
    return median(history["pricing_seconds"] + history["solver_seconds"])


def classes(settings):
    n_samples, n_features = (5_000, 64)
    sizes = (10, 100)
    data = {k: blobs(n_samples, n_features, k) for k in sizes}
    costs = {k: [] for k in sizes}
    for _ in range(settings.repeats):
        for k in sizes:
            costs[k].append(round_seconds(*data[k], settings.rounds(30), settings.threads))
    few, many = (median(costs[k]) for k in sizes)
    yield Row(
        f"cost of a round, classes 10 to 100, {n_samples:,} x {n_features}",
        4.0,
        many / few,
        "x",
        f"{number(1e3 * few)} ms and {number(1e3 * many)} ms",
        at_most=True,
    )


def samples(settings):
    sizes = (10_000, 1_000_000)
    costs = []
    for n in sizes:
        X, y = blobs(n, 16, 10)
        costs.append(round_seconds(X, y, settings.rounds(30), settings.threads))
    few, many = costs
    yield Row(
        "cost of a round, n_samples 10,000 to 1,000,000, slope (log over log)",
        1.2,
        log(many / few) / log(sizes[1] / sizes[0]),
        "",
        f"{number(1e3 * few)} ms and {number(1e3 * many)} ms per round, 16 features, 10 classes",
        at_most=True,
    )


def threads(settings):
    for name in settings.names(["MNIST", "MFEAT", "ISOLET"]):
        X, _, y, _ = load(settings.data, name)
        rounds = settings.rounds(200)
        times = alternate(
            {n: fitting(X, y, "cwboost_stumps", rounds, n, C=LARGE_C) for n in (1, 2)},
            settings.repeats,
        )
        yield Row(
            f"two threads over one, fit, stumps, stagewise, {name}",
            1.7,
            times[1] / times[2],
            "x",
            f"{number(times[1])} s and {number(times[2])} s",
        )


def memory(settings):
    path = Path(settings.data, "MNIST.npz")
    rounds = settings.rounds(200)
    ours, ours_before = peak_memory(
        "cwboost_stumps", path, {"rounds": rounds, "correction": "total"}
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


def overhead(settings):
    """Measure the time per round outside pricing and solver; take the minimum over the fits."""
    X, _, y, _ = load(settings.data, "VOWEL")
    rounds = settings.rounds(200)
    lowest = float("inf")
    for _ in range(max(5, settings.repeats)):
        model = cwboost_stumps(rounds, settings.threads)
        whole = seconds(lambda model=model: fit(model, X, y))
        history = model.history_
        inside = history["pricing_seconds"].sum() + history["solver_seconds"].sum()
        lowest = min(lowest, (whole - inside) / rounds)
    yield Row(
        f"overhead of a round outside the kernels, VOWEL, {rounds} rounds, whole fit",
        100.0,
        1e6 * lowest,
        "us",
        "fit less pricing and solver, over the rounds",
        at_most=True,
    )
