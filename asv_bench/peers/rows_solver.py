"""Comparison of the solver with L-BFGS-B on real restricted masters; one coordinate update."""

from statistics import median
from time import process_time

import numpy as np
from data import load
from models import cwboost_stumps
from report import Row, number
from scipy.optimize import minimize
from timing import alternate, numpy_pass

from cwboost import pack_outputs, unpack_outputs
from cwboost.master import RestrictedMaster
from cwboost.solvers.fcd import fcd, update_working_set
from cwboost.solvers.lbfgsb import lbfgsb

WITHIN = 1e-3


def against_lbfgsb(settings):
    """Compare the time to within 1e-3 of the optimum over the columns of the last round.

    Both solvers start from zero and use the same compiled objective and gradient. The minimum
    number of passes (iterations) that reach the target is found first; only a run of that number
    is timed. The second row is SciPy's solver on an objective in NumPy, as users would run it.
    """
    for name, goal in (("USPS", 20.0), ("VOWEL", 5.0)):
        if name not in settings.names([name]):
            continue
        X, _, y, _ = load(settings.data, name)
        problem, dense = last_round(X, y, settings.rounds(500))
        best = problem()
        fcd(best, layers(best), epsilon=1e-7, max_working_sets=2_000, rng=generator())
        target = best.objective * (1 + WITHIN)

        def by_fcd(passes, problem=problem):
            master = problem()
            start = process_time()
            fcd(master, layers(master), epsilon=1e-9, max_working_sets=passes, rng=generator())
            return process_time() - start, master.objective

        def by_lbfgsb(iterations, problem=problem):
            master = problem()
            start = process_time()
            lbfgsb(master, max_iter=iterations)
            return process_time() - start, master.objective

        passes = fewest(lambda n, run=by_fcd, goal=target: run(n)[1] <= goal)
        iterations = fewest(lambda n, run=by_lbfgsb, goal=target: run(n)[1] <= goal)
        times = {"fcd": [], "lbfgsb": [], "numpy": []}
        for _ in range(min(5, settings.repeats)):
            times["fcd"].append(by_fcd(passes)[0])
            times["lbfgsb"].append(by_lbfgsb(iterations)[0])
            times["numpy"].append(timed_in_numpy(dense, np.bincount(y), iterations, target))
        ours, theirs = median(times["fcd"]), median(times["lbfgsb"])
        sizes = [len(coef) for coef in best.coef]
        yield Row(
            f"FCD over L-BFGS-B to within {WITHIN:g} of the optimum, {name}, "
            f"{min(sizes)} to {max(sizes)} columns per class, C = 1e4",
            goal,
            theirs / ours,
            "x",
            f"{number(1e3 * ours)} ms in {passes} passes, L-BFGS-B {number(1e3 * theirs)} ms in "
            f"{iterations} iterations",
        )
        yield Row(
            f"the same, {name}, L-BFGS-B on an objective in NumPy",
            goal,
            median(times["numpy"]) / ours,
            "x",
            f"L-BFGS-B {number(1e3 * median(times['numpy']))} ms",
        )


def timed_in_numpy(outputs, counts, iterations, target):
    """Return the seconds of SciPy's L-BFGS-B for `iterations` on dense outputs (K arrays)."""
    own = np.repeat(np.arange(len(counts)), counts), np.arange(counts.sum())
    bounds = np.cumsum([len(h) for h in outputs])[:-1]
    weight = 1e4 / (counts.sum() * (len(counts) - 1))

    def objective(coef):
        scores = np.stack([w @ h for w, h in zip(np.split(coef, bounds), outputs)])
        mu = np.exp(scores - scores[own])
        mu[own] = 0.0
        r = -mu
        r[own] = mu.sum(axis=0)
        edges = np.concatenate([h @ row for h, row in zip(outputs, r)])
        return coef.sum() + weight * mu.sum(), 1.0 - weight * edges

    start = process_time()
    n = sum(map(len, outputs))
    found = minimize(
        objective, np.zeros(n), jac=True, method="L-BFGS-B", bounds=[(0, None)] * n,
        options={"maxiter": iterations, "maxfun": 10 * iterations, "ftol": 0.0, "gtol": 0.0},
    )  # fmt: skip
    seconds = process_time() - start
    if found.fun > target * 1.01:
        raise RuntimeError(f"L-BFGS-B in NumPy ended at {found.fun}, the target is {target}")
    return seconds


def coordinate_update(settings):
    """Compare one coordinate update with one NumPy pass over as many doubles, in cache."""
    n_samples, n_classes, n_columns = 8_000, 10, 20
    rng = generator()
    master = RestrictedMaster([n_samples // n_classes] * n_classes, 1e4)
    for c in range(n_classes):
        bits = pack_outputs(rng.choice([-1, 1], size=(n_samples, n_columns)))
        master.add(np.full(n_columns, c), bits)
    classes = np.repeat(np.arange(n_classes), n_columns)
    rows = np.tile(np.arange(n_columns), n_classes)
    layer = np.zeros(n_classes, dtype=int)

    times = alternate(
        {
            "pass": lambda: update_working_set(master, classes, rows, "permutation", rng),
            "layer": lambda: master.update_layer(layer),
        },
        50,
    )
    one_pass = numpy_pass(n_samples)
    single = times["pass"] / (n_classes * n_columns)
    yield Row(
        f"one coordinate update over a NumPy pass `a *= s`, n_samples = {n_samples:,}, "
        f"in a pass over {n_columns} columns of each of {n_classes} classes",
        2.0,
        single / one_pass,
        "x",
        f"{number(1e6 * single)} us, NumPy {number(1e6 * one_pass)} us; "
        f"in a layer of {n_classes} {number(1e6 * times['layer'] / n_classes)} us each",
        at_most=True,
    )


def last_round(X, y, rounds):
    """Return a maker of the restricted master over the columns of a totally corrective fit, and
    their outputs as float64 arrays, one per class."""
    # Not `models.fit`, which requires all rounds: stumps on VOWEL reach the optimum earlier.
    clf = cwboost_stumps(rounds, correction="total", C=1e4).fit(X, y)
    path = clf.ensemble_.path
    owner = np.full(path.n_learners, -1)
    owner[path.column] = path.score_index
    order = np.argsort(y, kind="stable")
    packed = pack_outputs(clf.ensemble_.learners.outputs(X[order]))
    counts = np.bincount(y)

    def make():
        master = RestrictedMaster(counts, 1e4)
        master.add(owner[owner >= 0], packed[owner >= 0])
        return master

    dense = [
        unpack_outputs(packed[owner == c], len(y)).T.astype(float, order="C")
        for c in range(len(counts))
    ]
    return make, dense


def layers(master):
    """Return all columns as a first working set: the j-th columns of all classes form a layer."""
    sizes = np.array([len(coef) for coef in master.coef])
    return [np.where(j < sizes, j, -1) for j in range(sizes.max())]


def fewest(reaches, most=4_096):
    """Return the minimum number of passes that reach the target, to within a twentieth."""
    high = 2
    while not reaches(high):
        if high >= most:
            raise RuntimeError(f"target not reached in {most} passes")
        high *= 2
    low = high // 2
    while high - low > max(1, high // 20):
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def generator():
    return np.random.default_rng(0)
