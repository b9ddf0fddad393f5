"""Comparison with the code of the paper's authors: depth-2 trees, 500 rounds, one core.

Their program needs software that cannot be installed here, so its seconds are constants that were
measured once on a machine of this class. A NumPy pass over 100,000 doubles is the yardstick. Pass
its time on the machine of the constants by ``--yardstick`` (in microseconds) to scale them by the
time here over that time. By default they are not scaled, and the page states the yardstick of this
machine. If training ends before the last round, their seconds count for as many rounds as ours.
"""

from functools import partial

from data import pooled, training_rows
from models import LARGE_C, ended, fitting
from report import Row, number
from rows_fit import keep
from sklearn.model_selection import train_test_split
from timing import alternate, numpy_pass, peak_memory

# data: training rows, seconds stage-wise and totally corrective, peak memory in MB
AUTHORS = {
    "PENDIGITS": (8_244, 13.0, 275.0, 1_500.0),
    "USPS": (6_974, 60.0, 287.0, 1_300.0),
    "MNIST": (10_000, 302.0, None, None),
}
YARDSTICK = 100_000


def authors(settings):
    scale = 1.0
    if settings.yardstick:
        scale = 1e6 * numpy_pass(YARDSTICK) / settings.yardstick
    for name in settings.names(list(AUTHORS)):
        n_rows, stagewise, total, peak = AUTHORS[name]
        X, y = rows_of(settings.data, name, n_rows)
        rounds = settings.rounds(500)
        tree = {"max_depth": 2, "max_features": None, "trim": 0.0}
        tree["C"] = LARGE_C  # with 1e4 total correction is at its end after 104 rounds
        for correction, theirs, goal in (("stagewise", stagewise, 10.0), ("total", total, 100.0)):
            if theirs is None:
                continue
            run, models = fitting(X, y, "cwboost_trees", rounds, 1, correction, **tree), {}
            ours = alternate(
                {"fit": partial(keep, models, "fit", run)}, min(3, settings.repeats), 60
            )["fit"]
            theirs = theirs * scale * models["fit"].n_iter_ / 500
            yield Row(
                f"depth-2 trees, {rounds} rounds, {correction}, {name} {n_rows:,} rows, "
                "over the authors' code, one core",
                goal,
                theirs / ours,
                "x",
                f"{number(ours)} s{ended(models['fit'])}, theirs {number(theirs)} s (constant)",
            )
        if peak:
            options = {"rounds": rounds, "correction": "total", "n_rows": n_rows, **tree}
            ours, _ = peak_memory("cwboost_trees", settings.file(name), options)
            yield Row(
                f"the same, peak memory, total, {name}",
                0.1,
                ours / peak,
                "x",
                f"{ours:,.0f} MB, theirs {peak:,.0f} MB (constant)",
                at_most=True,
            )


def rows_of(folder, name, n_rows):
    """Return a stratified sample of as many rows as the constants were measured on."""
    X, y = (
        training_rows(f"{folder}/{name}.npz") if name == "MNIST" else pooled(f"{folder}/{name}.npz")
    )
    X, _, y, _ = train_test_split(X, y, train_size=n_rows, stratify=y, random_state=0)
    return X, y
