"""Measure errors against the time of a fit, on one thread, of cwboost and peers on large sets.

    python asv_bench/time_to_error.py [--data FOLDER] [--sets A,B] [--models A,B] [--results FILE]

The grid of a package has numbers of rounds and sizes of trees. A run is one line of JSON with the
processor time and the test error after some of its rounds. FOLDER holds ``tables``, as for
study.py, which has the data sets and their splits. Runs that the file of results has are skipped.
pages.py shows the time of each package to the error of LightGBM's default, and to its lowest one.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from peers import sets
from peers.report import append, conditions, read, table
from peers.study_report import CHOSEN_ON
from study import prepared, split
from threadpoolctl import threadpool_limits

RESULTS = Path(__file__).resolve().parent / "results" / "time_to_error.jsonl"

SETS = {
    "otto": "mixed",
    "diamonds, clarity": "large",
    "flights, carrier": "large",
    "friedman": "large",
    "clusters, 4 classes": "large",
}
"""The sets and the studies that load them."""

ROUNDS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 55, 75, 100, 150, 200, 300)
"""Rounds after which time and error are recorded."""

MOST_SECONDS = 60.0
"""Processor time in seconds after which a fit ends, if its package has callbacks."""


class Clock:
    """Record of the processor time since its creation at some rounds.

    Its methods are the callbacks of the packages.
    """

    def __init__(self):
        self.start = time.process_time()
        self.noted = []

    def is_over(self, n_rounds):
        """Record the end of a round; return True if the time is up."""
        seconds = time.process_time() - self.start
        is_last = seconds > MOST_SECONDS
        if n_rounds in ROUNDS or is_last:
            self.noted.append((n_rounds, seconds))
        return is_last

    def on_round_end(self, state):
        """Return True to end a fit of cwboost."""
        return self.is_over(state.round)

    def lightgbm(self, env):
        from lightgbm.callback import EarlyStopException

        if self.is_over(env.iteration + 1):
            raise EarlyStopException(env.iteration, [])

    def xgboost(self):
        from xgboost.callback import TrainingCallback

        class Callback(TrainingCallback):
            def after_iteration(_, model, epoch, log):
                return self.is_over(epoch + 1)

        return Callback()

    def after_iteration(self, info):
        """Return True to continue a fit of CatBoost."""
        return not self.is_over(info.iteration)


def cwboost(X, y, X_test, fit, max_depth="auto", **parameters):
    """Yield the one point of the default, or with parameters those of a fit of fixed rounds."""
    from cwboost import CWBoostClassifier, TreeFamily

    clock = Clock()
    if parameters:
        # As in the others, no examples are left out for the scale of the probabilities.
        parameters |= {"n_estimators": ROUNDS[-1], "probability_scale": 2.0, "callbacks": [clock]}
    model = CWBoostClassifier(TreeFamily(max_depth), random_state=0, n_jobs=1, **parameters)
    model.fit(X, y)
    if not parameters:
        yield model.n_iter_, time.process_time() - clock.start, model.predict(X_test)
        return
    seconds = dict(clock.noted)
    for n_rounds, predicted in enumerate(model.staged_predict(X_test), 1):
        if n_rounds in seconds:
            yield n_rounds, seconds[n_rounds], predicted


def lightgbm(X, y, X_test, fit, num_leaves):
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(
        n_estimators=ROUNDS[-1], num_leaves=num_leaves, random_state=0, n_jobs=1, verbose=-1
    )
    clock = Clock()
    model.fit(X, y, callbacks=[clock.lightgbm])
    scores, done = 0.0, 0
    for n_rounds, seconds in clock.noted:
        more = {"start_iteration": done, "num_iteration": n_rounds - done}
        scores, done = scores + model.predict(X_test, raw_score=True, **more), n_rounds
        yield n_rounds, seconds, model.classes_[scores.argmax(axis=1)]


def xgboost(X, y, X_test, fit, max_depth):
    from xgboost import XGBClassifier

    clock = Clock()
    model = XGBClassifier(
        n_estimators=ROUNDS[-1],
        max_depth=max_depth,
        random_state=0,
        n_jobs=1,
        enable_categorical=True,
        callbacks=[clock.xgboost()],
    )
    model.fit(X, y)
    for n_rounds, seconds in clock.noted:
        yield n_rounds, seconds, model.predict(X_test, iteration_range=(0, n_rounds))


def catboost(X, y, X_test, fit, depth):
    from catboost import CatBoostClassifier

    clock = Clock()
    model = CatBoostClassifier(
        # The learning rate of CatBoost's default depends on the number of rounds.
        iterations=1000,
        depth=depth,
        random_seed=0,
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
    )
    model.fit(X, y, callbacks=[clock], **fit)
    for n_rounds, seconds in clock.noted:
        yield n_rounds, seconds, model.predict(X_test, ntree_end=n_rounds)[:, 0]
    if clock.noted[-1][0] == ROUNDS[-1]:
        yield model.tree_count_, time.process_time() - clock.start, model.predict(X_test)[:, 0]


def hist_gradient_boosting(X, y, X_test, fit, max_leaf_nodes):
    """Yield the points of a fit, as if all rounds after the first took the same time."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    most, seconds = 200, []
    for n_rounds in (1, most):
        clock = Clock()
        model = HistGradientBoostingClassifier(
            max_iter=n_rounds,
            max_leaf_nodes=max_leaf_nodes,
            categorical_features="from_dtype",
            early_stopping=False,
            random_state=0,
        )
        model.fit(X, y)
        seconds.append(time.process_time() - clock.start)
    each = (seconds[1] - seconds[0]) / (most - 1)
    for n_rounds, predicted in enumerate(model.staged_predict(X_test), 1):
        if n_rounds in ROUNDS:
            yield n_rounds, seconds[0] + each * (n_rounds - 1), predicted


GRID = {
    "cwboost": (
        cwboost,
        "cwboost",
        [
            {},
            {"learning_rate": 0.1},
            *(
                {"learning_rate": rate, "max_depth": depth, "init": None}
                for rate in (0.1, 0.3)
                for depth in ("auto", 4, 16)
            ),
        ],
    ),
    "LightGBM": (lightgbm, "lightgbm", [{"num_leaves": n} for n in (31, 15, 127)]),
    "XGBoost": (xgboost, "xgboost", [{"max_depth": n} for n in (6, 4, 10)]),
    "CatBoost": (catboost, "catboost", [{"depth": n} for n in (6, 4, 8)]),
    "HistGradientBoosting": (
        hist_gradient_boosting,
        "scikit-learn",
        [{"max_leaf_nodes": n} for n in (31, 15, 127)],
    ),
}
"""By package: its curve, the distribution that has a version, and the settings; the first one is
the package's default."""

LIGHTGBM_ROUNDS = 100
"""The default of LightGBM."""


def run(frame, y, model, setting):
    """Return the points of one run: lists of rounds, seconds and errors."""
    train, test = split(frame, y, seed=0, most=len(y))
    X, X_test, fit = prepared(model, frame.iloc[train], frame.iloc[test])
    points = list(GRID[model][0](X, y[train], X_test, fit, **setting))
    errors = [float(np.mean(predicted != y[test])) for *_, predicted in points]
    rounds, seconds = ([point[k] for point in points] for k in range(2))
    return {"n": len(train), "rounds": rounds, "seconds": seconds, "errors": errors}


def time_to(records, name, model, error):
    """Return the least time of a package to an error, None if no point has it."""
    times = [
        seconds
        for r in records
        if (r["set"], r["model"]) == (name, model)
        for seconds, reached in zip(r["seconds"], r["errors"])
        if reached <= error
    ]
    return min(times, default=None)


def report(records):
    """Return the table of times to two errors, with geometric means of ratios to cwboost."""
    lines, ratios = [], {}
    models = [model for model in GRID if any(r["model"] == model for r in records)]
    for name in dict.fromkeys(r["set"] for r in records):
        own = [r for r in records if (r["set"], r["model"]) == (name, "LightGBM")]
        if not own:
            continue
        default = next(r for r in own if r["setting"] == GRID["LightGBM"][2][0])
        at = default["errors"][default["rounds"].index(LIGHTGBM_ROUNDS)]
        for target, error in (("default", at), ("lowest", min(min(r["errors"]) for r in own))):
            times = [time_to(records, name, model, error) for model in models]
            ran = {r["model"] for r in records if r["set"] == name}
            cells = [
                f"{seconds:.1f}" if seconds else "never" if model in ran else "not run"
                for model, seconds in zip(models, times)
            ]
            mark = " (chosen on)" if name in CHOSEN_ON else ""
            lines.append(
                [f"{name}{mark}", f"{own[0]['n']:,}", f"{target}: {100 * error:.1f}", *cells]
            )
            for model, seconds in zip(models, times):
                pair = seconds, times[models.index("cwboost")]
                if None not in pair:
                    ratios.setdefault((target, model), []).append(pair[0] / pair[1])
    for target in ("default", "lowest"):
        found = [ratios.get((target, model), []) for model in models]
        means = [f"{np.exp(np.mean(np.log(r))):.1f} ({len(r)})" if r else "" for r in found]
        lines.append(["over cwboost", "", target, *means])
    note = (
        "never: not by any setting and number of rounds; in the last rows, geometric means of the "
        "time over that of cwboost, on as many sets as both packages reach the error"
    )
    head = ["set", "rows", "LightGBM's error, %", *(f"{model}, s" for model in models)]
    return f"{table(head, lines)}\n\n{note}. {conditions(records)}."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", default=";".join(SETS), help="names with semicolons between")
    parser.add_argument("--models", default=",".join(GRID))
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    done = [(r["set"], r["model"], r["setting"]) for r in read(args.results)]
    for name in args.sets.split(";"):
        frame, y = sets.load(SETS[name], args.data, name)
        for model in args.models.split(","):
            for setting in GRID[model][2]:
                if (name, model, setting) not in done:
                    found = {"set": name, "model": model, "setting": setting}
                    found |= run(frame, y, model, setting)
                    print(append(args.results, found, GRID[model][1]), flush=True)
    print(report(read(args.results)))


if __name__ == "__main__":
    with threadpool_limits(1):  # of BLAS: processor times are those of one thread
        main()
