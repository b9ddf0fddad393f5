"""Comparison of complete fits with LightGBM, and for information with XGBoost and CatBoost."""

from functools import partial

from data import NAMES, load
from models import LARGE_C, ended, fit, fitting, lightgbm
from report import Row, number
from timing import alternate

from cwboost import show_config

# Speed-ups over LightGBM that are asked for, and those asked for with AVX2 where they differ.
GOALS = {
    "stagewise": dict.fromkeys(NAMES, 10.0) | {"USPS": 7.0, "YALEB": 20.0, "GTSRB HOG": 20.0},
    "total": dict.fromkeys(NAMES, 3.0),
    "trees": dict.fromkeys(NAMES, 3.0),
}
AVX2_GOALS = {
    "stagewise": {"PENDIGITS": 8.0, "USPS": 15.0, "MNIST": 15.0, "ISOLET": 20.0, "YALEB": 25.0},
    "total": {"PENDIGITS": 3.0, "USPS": 8.0, "MNIST": 8.0, "ISOLET": 15.0, "YALEB": 20.0},
    "trees": {"PENDIGITS": 5.0, "USPS": 20.0, "MNIST": 20.0, "ISOLET": 30.0},
}


def goal_of(kind, name):
    other = AVX2_GOALS[kind] if show_config()["instruction_set"] == "avx2" else {}
    return other.get(name, GOALS[kind][name])


SCALE = {"probability_scale": 2.0}
"""With a given scale of the probabilities, a fit has no holdout run that learns it."""


def stumps(settings):
    """Compare 200 rounds of stumps, stage-wise and totally corrective, with 2 leaves."""
    for name in settings.names(NAMES):
        X, _, y, _ = load(settings.data, name)
        rounds, threads = settings.rounds(200), settings.threads
        fits = {
            "stagewise": fitting(X, y, "cwboost_stumps", rounds, threads, C=LARGE_C),
            "total": fitting(X, y, "cwboost_stumps", rounds, threads, "total"),
            "stagewise, fixed scale": fitting(
                X, y, "cwboost_stumps", rounds, threads, C=LARGE_C, **SCALE
            ),
            "total, fixed scale": fitting(
                X, y, "cwboost_stumps", rounds, threads, "total", **SCALE
            ),
            "lightgbm": fitting(X, y, "lightgbm", rounds, threads, limit=settings.limit),
        }
        models = {}
        times = alternate(
            {key: partial(keep, models, key, run) for key, run in fits.items()},
            settings.repeats,
            settings.budget,
        )
        for correction in ("stagewise", "total"):
            yield Row(
                f"fit, stumps, {correction}, {rounds} rounds, {name}, over LightGBM num_leaves=2",
                goal_of(correction, name),
                times["lightgbm"] / times[correction],
                "x",
                f"{number(times[correction])} s{ended(models[correction])}"
                f"{with_fixed_scale(times, correction)}, LightGBM {seconds_of(times, settings)}",
            )


# The trees of the goal and the default trees, each with the stage-wise parameters that the user
# guide recommends: one setting for all data sets, chosen on held-out training examples.
TREES = {
    "depth 5, sqrt, learning rate 0.3, all examples": {
        "max_depth": 5,
        "max_features": "sqrt",
        "learning_rate": 0.3,
        "C": LARGE_C,
    },
    "depth 8, the default, learning rate 0.1, half of the examples per round": {
        "max_depth": 8,
        "learning_rate": 0.1,
        "subsample": 0.5,
        "C": 1e12,
    },
}


def trees(settings):
    """Compare 200 rounds of trees with 31 leaves, at an error that is not higher."""
    for name in settings.names(NAMES):
        X, X_test, y, y_test = load(settings.data, name)
        rounds, threads = settings.rounds(200), settings.threads
        fits = {
            label + ending: fitting(X, y, "cwboost_trees", rounds, threads, **options, **tree)
            for label, tree in TREES.items()
            for ending, options in (("", {}), (", fixed scale", SCALE))
        }
        fits["lightgbm"] = fitting(
            X, y, "lightgbm", rounds, threads, num_leaves=31, limit=settings.limit
        )
        models = {}
        times = alternate(
            {key: partial(keep, models, key, run) for key, run in fits.items()},
            settings.repeats,
            settings.budget,
        )
        errors = {key: 100 * (1 - model.score(X_test, y_test)) for key, model in models.items()}
        done = models["lightgbm"].best_iteration_ or rounds
        for label in TREES:
            yield Row(
                f"fit, trees ({label}), {rounds} rounds, {name}, over LightGBM 31 leaves, "
                "error no higher",
                goal_of("trees", name),
                times["lightgbm"] / times[label],
                "x",
                f"{number(times[label])} s and {errors[label]:.2f}%"
                f"{with_fixed_scale(times, label)}, LightGBM "
                f"{seconds_of(times, settings)} and {errors['lightgbm']:.2f}%"
                + (f" (after {done} rounds: errors not comparable)" if done < rounds else ""),
                also=errors[label] <= errors["lightgbm"],
            )


def with_fixed_scale(times, key):
    """Return the seconds and the ratio of a fit whose scale of the probabilities is given."""
    own = times[f"{key}, fixed scale"]
    return f" (scale given: {number(own)} s, {number(times['lightgbm'] / own)} x)"


def keep(models, key, run):
    models[key] = run()


def seconds_of(times, settings):
    """Return LightGBM's seconds as text; "more than" if it was stopped, so the ratio is a bound."""
    stopped = times["lightgbm"] > settings.limit
    return f"{'more than ' if stopped else ''}{number(times['lightgbm'])} s"


def prediction(settings):
    """Compare prediction of 10,000 x 784 rows by 500 rounds of stumps, and of single rows."""
    X, X_test, y, _ = load(settings.data, "MNIST")
    rounds = settings.rounds(500)
    ours = fitting(X, y, "cwboost_stumps", rounds, settings.threads)()
    lgb = fit(lightgbm(rounds, settings.threads), X, y)
    xgb = fitting(X, y, "xgboost", rounds, settings.threads)()
    for model in (ours, lgb, xgb):
        model.set_params(n_jobs=1)
    ours.predict(X_test[:1])
    times = alternate(
        {
            "cwboost": lambda: ours.predict(X_test),
            "lightgbm": lambda: lgb.predict(X_test, raw_score=True),
            "xgboost": lambda: xgb.predict(X_test, output_margin=True),
        },
        settings.repeats,
        settings.budget,
    )
    for peer, goal in (("lightgbm", 20.0), ("xgboost", 1.0)):
        yield Row(
            f"predict, stumps, {rounds} rounds, MNIST test set, over {peer}, one thread",
            goal,
            times[peer] / times["cwboost"],
            "x",
            f"{number(1e3 * times['cwboost'])} ms, {peer} {number(1e3 * times[peer])} ms",
        )
