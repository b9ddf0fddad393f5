"""The curves of a few benchmarks over the history, as one figure."""

import itertools
import json
from datetime import datetime, timezone

__all__ = ["curves", "draw"]

SHOWN = {
    "fit of the default, pendigits": ("fit.Default.time_fit", ["'pendigits'"]),
    "fit of stumps, total, pendigits": (
        "fit.Fit.time_fit",
        ["'pendigits'", "'stump'", "'total'"],
    ),
    "coordinate descent to 1e-6": ("fcd.ToEpsilon.time_solve", ["1e-06"]),
    "search for stumps, 100,000 examples": ("stump_search.Samples.time_price", ["100000"]),
    "growing trees, 100,000 examples": ("tree_growth.Samples.time_price", ["100000"]),
    "prediction of trees": ("predict.Predict.time_all_rows", ["'tree'"]),
}
"""The curves: benchmark, and the values of its parameters, as asv writes them."""


def curves(folder):
    """Return dates and seconds by name of the curve, from the results of a machine.

    Parameters
    ----------
    folder : Path
        Of one machine, in asv's folder of results.

    Returns
    -------
    dict of str to list of (datetime, float)
        In the order of the commits; those at which a benchmark failed or did not exist are left
        out.
    """
    found = {name: [] for name in SHOWN}
    for path in folder.glob("*-*.json"):
        stored = json.loads(path.read_text())
        date = datetime.fromtimestamp(stored["date"] / 1000, timezone.utc)
        for name, (benchmark, values) in SHOWN.items():
            seconds = _value(stored, benchmark, values)
            if seconds is not None:
                found[name].append((date, seconds))
    return {name: sorted(points) for name, points in found.items()}


def draw(folder, path):
    """Write the figure of `curves` to a file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(10, 5), sharex=True, layout="constrained")
    for ax, (name, points) in zip(axes.flat, curves(folder).items()):
        dates, seconds = zip(*points) if points else ((), ())
        ax.plot(dates, [1e3 * value for value in seconds], "o-", markersize=3)
        ax.set_title(name, fontsize=9)
        ax.set_ylim(bottom=0)
        ax.tick_params(axis="x", labelrotation=30, labelsize=7)
    for ax in axes[:, 0]:
        ax.set_ylabel("milliseconds")
    figure.savefig(path, dpi=100)
    plt.close(figure)


def _value(stored, benchmark, values):
    """Return the result of a benchmark at some values of its parameters, None without one."""
    columns = dict(zip(stored["result_columns"], stored["results"].get(benchmark, [])))
    if not columns.get("result"):
        return None
    combinations = list(itertools.product(*columns["params"]))
    place = combinations.index(tuple(values)) if tuple(values) in combinations else None
    return None if place is None else columns["result"][place]
