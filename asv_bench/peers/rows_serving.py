"""The default at scale: many classes, memory of a large fit, single rows of a frame.

Times are processor times on one thread, which other programs on the machine disturb little.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from data import blobs
from models import MAKERS, fit
from report import Row, number
from timing import peak_memory, spent

CALLS = 30


def many_classes(settings):
    n_samples, n_features, n_classes = 20_000, 50, 1_000
    X, y = blobs(n_samples, n_features, n_classes)
    seconds = []
    # The default has no holdout run below 20 rounds.
    for maker, rounds, options in (
        ("cwboost_default", (5, 15), {}),
        ("lightgbm", (1, 3), {"num_leaves": 31}),
    ):
        first, last = (
            spent(lambda n=n, m=maker, o=options: fit(MAKERS[m](n, **o), X, y), n_bytes=2**31)
            for n in rounds
        )
        seconds.append((last - first) / (rounds[1] - rounds[0]))
    ours, theirs = seconds
    shape = f"{n_samples:,} x {n_features}, {n_classes:,} classes"
    yield Row(
        f"a round of the default over one of LightGBM's, {shape}",
        40.0,
        theirs / ours,
        "x",
        f"{number(ours)} s, LightGBM {number(theirs)} s",
    )
    yield added(X, y, 5, f"memory that the default adds, {shape}", 2_000.0, "MB", 1.0)
    X, y = blobs(25_000, 50, 5_000)
    seconds = spent(lambda: fit(MAKERS["cwboost_default"](2), X, y), n_bytes=2**32)
    shape = "2 rounds of the default, 25,000 x 50, 5,000 classes"
    yield Row(shape, 5.0, seconds, "s", "processor time", at_most=True)
    yield added(X, y, 2, f"memory that they add: {shape}", 4_000.0, "MB", 1.0)


def large_memory(settings):
    X, y = blobs(1_000_000, 50, 5)
    measure = "memory that the default adds over X as float32, 1,000,000 x 50, 5 classes"
    yield added(X, y, 20, measure, 1.5, "x", X.nbytes / 2**20)


def added(X, y, rounds, measure, goal, unit, over):
    """Return the row of what a fit adds to the peak memory of a process."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "data.npz")
        np.savez(path, X=X, y=y)
        after, before = peak_memory("cwboost_default", path, {"rounds": rounds})
    detail = f"{after - before:,.0f} MB; {before:,.0f} before the fit"
    return Row(measure, goal, (after - before) / over, unit, detail, at_most=True)


def one_row(settings):
    """Compare `predict_proba` of one row; the least of a few turns, since calls are short."""
    rng, n = np.random.default_rng(0), 4_000
    X = pd.DataFrame({f"number {k}": rng.normal(size=n) for k in range(8)})
    for k in range(7):
        X[f"category {k}"] = pd.Categorical(rng.integers(0, 5 + 3 * k, n).astype(str))
    y = (X["number 0"] + 0.2 * X["category 3"].cat.codes + rng.normal(size=n) > 0.5).astype(int)
    X.columns = X.columns.str.replace(" ", "_")
    makers = MAKERS["cwboost_default"](20), MAKERS["lightgbm"](100, num_leaves=31)
    models = [fit(model, X, y) for model in makers]
    row, turns = X[:1], []
    for _ in range(max(5, settings.repeats)):
        turns.append(
            [spent(lambda m=m: [m.predict_proba(row) for _ in range(CALLS)]) for m in models]
        )
    ours, theirs = np.min(turns, axis=0) / CALLS
    yield Row(
        "predict_proba of a row of a frame with 7 categories and 8 numbers, over LightGBM's",
        1.0,
        ours / theirs,
        "x",
        f"{number(1e3 * ours)} ms, LightGBM {number(1e3 * theirs)} ms",
        at_most=True,
    )
