"""Complete fits of stumps compared with those of LightGBM with two leaves."""

from functools import partial

from data import NAMES, load
from models import LARGE_C, ended, fitting
from report import Row, number
from timing import alternate

GOALS = {
    "stagewise": dict.fromkeys(NAMES, 10.0) | {"USPS": 7.0},
    "total": dict.fromkeys(NAMES, 3.0),
}
"""Speed-ups over LightGBM that are asked for."""


def stumps(settings):
    """Compare 200 rounds of stumps, stage-wise and totally corrective, with 2 leaves.

    With a given scale of the probabilities, a fit has no holdout run that learns it.
    """
    for name in settings.names(NAMES):
        X, _, y, _ = load(settings.data, name)
        rounds, given = settings.rounds(200), {"probability_scale": 2.0}
        models = {}
        fits = {
            "stagewise": fitting(X, y, "cwboost_stumps", rounds, C=LARGE_C, **given),
            "total": fitting(X, y, "cwboost_stumps", rounds, correction="total", C=1e4, **given),
            "lightgbm": fitting(X, y, "lightgbm", rounds),
        }
        times = alternate(
            {key: partial(keep, models, key, run) for key, run in fits.items()},
            settings.repeats,
            settings.budget,
        )
        for correction in ("stagewise", "total"):
            yield Row(
                f"fit, stumps, {correction}, {rounds} rounds, {name}, over LightGBM num_leaves=2",
                GOALS[correction][name],
                times["lightgbm"] / times[correction],
                "x",
                f"{number(times[correction])} s{ended(models[correction])}, LightGBM "
                f"{number(times['lightgbm'])} s",
            )


def keep(models, key, run):
    models[key] = run()
