"""Prediction time compared with LightGBM and XGBoost, alternating, on one thread.

    taskset -c 0 python asv_bench/peers_predict.py FOLDER [--rounds N] [--models FOLDER]

FOLDER holds MNIST.npz. All packages train on 1,000 examples per class and predict the raw scores of
the 10,000 test rows; each gets the type of array that it reads without a copy. --models keeps the
fitted models for the next run; pages.py shows the results. Needs the packages of
requirements-peers.txt.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import joblib
import numpy as np
from peers.data import a_class
from peers.models import MAKERS, fit
from peers.report import append, conditions, number, table
from peers.timing import alternate

RESULTS = Path(__file__).resolve().parent / "results" / "predict.jsonl"
HEAD = ["microseconds per row", "cwboost, uint8", "cwboost, float64", "LightGBM", "XGBoost"]
LEAVES = 31
TREE_ROUNDS = 100
CALLS = 200  # calls with one row per turn


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=500, help="rounds of stumps")
    parser.add_argument("--repeats", type=int, default=7, help="turns per median")
    parser.add_argument("--models", type=Path, help="folder of fitted models, created if absent")
    options = parser.parse_args()
    with np.load(options.folder / "MNIST.npz") as stored:
        X, y, X_test = (stored[name] for name in ("X_train", "y_train", "X_test"))
    chosen = a_class(y, 1_000)
    with TemporaryDirectory() as temporary:
        folder = options.models or Path(temporary)
        models = Models(folder, X[chosen], y[chosen])
        lines = [
            *stumps(models, X_test, options.rounds, options.repeats),
            *trees(models, X_test, options.repeats),
            *one_row(models, X_test, options.rounds, options.repeats, folder),
        ]
        after_each = staged(models, X_test, options.rounds, options.repeats)
    record = {"lines": lines, "rounds": options.rounds, "staged_seconds": after_each}
    found = append(RESULTS, record, "cwboost", "lightgbm", "xgboost", "numpy")
    print(report([found]))


class Models:
    """Fitted models, loaded from the folder if it has them."""

    def __init__(self, folder, X, y):
        self.folder, self.X, self.y = folder, X, y
        folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, maker, rounds, **options):
        name = "-".join(map(str, [maker, rounds, *options.values()]))
        path = self.folder / f"{name}.joblib"
        if not path.exists():
            joblib.dump(fit(MAKERS[maker](rounds, **options), self.X, self.y), path)
        return joblib.load(path)


def peers(lightgbm, xgboost, X, rounds=None):
    """Return functions for raw scores of LightGBM and XGBoost without scikit-learn's checks."""
    booster = xgboost.get_booster()
    booster.set_param({"nthread": 1})
    single = X.astype(np.float32)
    return {
        "LightGBM": lambda: lightgbm.booster_.predict(
            single, raw_score=True, num_threads=1, num_iteration=rounds
        ),
        "XGBoost": lambda: booster.inplace_predict(single, predict_type="margin"),
    }


def stumps(models, X, rounds, repeats):
    """Yield a line for stumps on many rows."""
    ours = models("cwboost_stumps", rounds, correction="stagewise")
    others = peers(
        models("lightgbm", rounds, num_leaves=2), models("xgboost", rounds, max_depth=1), X
    )
    wide = X.astype(np.float64)
    times = alternate(
        {
            "cwboost": lambda: ours.decision_function(X),
            "cwboost, float64": lambda: ours.decision_function(wide),
            **others,
        },
        repeats,
    )
    yield [f"stumps, {rounds} rounds, 10,000 rows", *cells(times, 1e6 / len(X))]


def staged(models, X, rounds, repeats):
    """Return the seconds of staged prediction for both corrections."""
    functions = {
        correction: follow(models("cwboost_stumps", rounds, correction=correction), X)
        for correction in ("stagewise", "total")
    }
    return alternate(functions, repeats)


def follow(model, X):
    def predictions():
        for _ in model.staged_predict(X):
            pass

    return predictions


def trees(models, X, repeats):
    """Yield a line for trees, with as many rounds as give LightGBM's number of leaves."""
    lightgbm = models("lightgbm", TREE_ROUNDS, num_leaves=LEAVES)
    n_leaves = sum(tree["num_leaves"] for tree in lightgbm.booster_.dump_model()["tree_info"])
    ours = models(
        "cwboost_trees",
        TREE_ROUNDS * 3 // 2,
        learning_rate=0.1,
        max_leaf_nodes=LEAVES,
        max_depth=None,
    )
    learners, path = ours.ensemble_.learners, ours.ensemble_.path
    leaves = np.add.reduceat(learners.feature < 0, learners.offsets[:-1])
    in_round = path.n_learners * np.arange(1, path.n_rounds + 1) // path.n_rounds
    rounds = 1 + int(np.argmin(np.abs(np.cumsum(leaves)[in_round - 1] - n_leaves)))
    n_ours = np.cumsum(leaves)[in_round - 1][rounds - 1]
    others = peers(lightgbm, models("xgboost", TREE_ROUNDS, max_depth=6), X)
    wide = X.astype(np.float64)
    times = alternate(
        {
            "cwboost": lambda: ours.decision_function(X, rounds),
            "cwboost, float64": lambda: ours.decision_function(wide, rounds),
            **others,
        },
        repeats,
    )
    yield [
        f"trees, {n_ours:,} leaves in {rounds} rounds (LightGBM {n_leaves:,} in {TREE_ROUNDS}; "
        f"XGBoost of depth 6, {TREE_ROUNDS} rounds), 10,000 rows",
        *cells(times, 1e6 / len(X)),
    ]


def one_row(models, X, rounds, repeats, folder):
    """Yield a line for the latency of one row, for a model that was saved and loaded."""
    from cwboost import load_model

    models("cwboost_stumps", rounds, correction="stagewise").save(folder / "stumps.cwb")
    ours = load_model(folder / "stumps.cwb")
    row = X[:1]
    others = peers(
        models("lightgbm", rounds, num_leaves=2), models("xgboost", rounds, max_depth=1), row
    )
    wide = row.astype(np.float64)
    functions = {
        "cwboost": lambda: ours.predict(row),
        "cwboost, float64": lambda: ours.predict(wide),
        **others,
        "validation": lambda: ours._check_predict(row),
    }
    calls = {name: repeated(function, CALLS) for name, function in functions.items()}
    times = {name: value / CALLS for name, value in alternate(calls, repeats).items()}
    beyond = times["cwboost"] - times.pop("validation")
    yield [
        f"one row, stumps, {rounds} rounds (cwboost {number(1e6 * beyond)} beyond validation)",
        *cells(times, 1e6),
    ]


def repeated(function, times):
    """Return a callable that calls `function` `times` times."""

    def calls():
        for _ in range(times):
            function()

    return calls


def cells(times, unit):
    ours = times["cwboost"]
    figures = [number(unit * value) for value in times.values()]
    return [*figures, *(f"{times[name] / ours:.3g}" for name in ("LightGBM", "XGBoost"))]


def report(records):
    """Return the table of the last run."""
    last = records[-1]
    seconds = last["staged_seconds"]
    head = [*HEAD, "LightGBM / cwboost", "XGBoost / cwboost"]
    return (
        f"{table(head, last['lines'])}\n\n"
        f"`staged_predict` of all {last['rounds']} rounds of stumps on the 10,000 rows: "
        f"{seconds['stagewise']:.2f} s after stage-wise training, {seconds['total']:.2f} s after "
        f"total correction.\n\n{conditions([last])}."
    )


if __name__ == "__main__":
    main()
