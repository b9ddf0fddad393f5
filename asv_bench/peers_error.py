"""Test errors of cwboost's trees and projections and of other packages on the same splits.

    python asv_bench/peers_error.py FOLDER [--sets A,B] [--seeds N] [--results FILE] [--write]

FOLDER holds one .npz file per data set, with `X, y` or `X_train, y_train, X_test, y_test`. Each
result is appended to the results file immediately, and a run skips results that the file has.
--write puts the table of the file into docs/benchmarks.md. Needs the packages of
requirements-peers.txt.
"""

import argparse
import json
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from peers.data import a_class, pooled
from peers.report import machine, table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

BEGIN, END = "<!-- error: begin -->", "<!-- error: end -->"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
SETS = ["VOWEL", "PENDIGITS", "digits", "SATIMAGE", "MFEAT", "USPS", "ISOLET", "MNIST"]
BIG = {"ISOLET", "MNIST", "USPS", "MFEAT"}  # the slowest peers skip these


def split(folder, name, seed):
    """Split a data set: SATIMAGE officially, MNIST with 1,000 per class, the others 75/25."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    elif name in ("SATIMAGE", "MNIST"):
        with np.load(folder / f"{name}.npz") as stored:
            X, y, X_test, y_test = (stored[k] for k in ("X_train", "y_train", "X_test", "y_test"))
        rows = a_class(y, 1_000) if name == "MNIST" else slice(None)
        return X[rows], X_test, y[rows], y_test
    else:
        X, y = pooled(folder / f"{name}.npz")
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)


TREES = {"weak_learner": "tree", "learning_rate": 0.1, "subsample": 0.5}
PROJECTIONS = {"weak_learner": "projection", "learning_rate": 0.3}


def cwboost(n_estimators, **params):
    def make(seed):
        from cwboost import CWBoostClassifier

        return CWBoostClassifier(
            n_estimators=n_estimators,
            correction="stagewise",
            C=1e12,
            random_state=seed,
            n_jobs=1,
            **params,
        )

    return make


def lightgbm(**params):
    def make(seed):
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed, **params)

    return make


def xgboost(**params):
    def make(seed):
        from xgboost import XGBClassifier

        return XGBClassifier(n_jobs=1, random_state=seed, **params)

    return make


def catboost(seed):
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        n_estimators=200, thread_count=1, verbose=0, random_seed=seed, allow_writing_files=False
    )


def extra_trees(seed):
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(500, n_jobs=1, random_state=seed)


def random_forest(seed):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(500, n_jobs=1, random_state=seed)


TUNED = {"learning_rate": 0.05, "subsample": 0.7, "colsample_bytree": 0.5, "n_estimators": 500}
MODELS = {
    "cwboost trees, 200": cwboost(200, **TREES),
    "cwboost trees, 500": cwboost(500, **TREES),
    "cwboost projections, 500": cwboost(500, **PROJECTIONS),
    "LightGBM, 100": lightgbm(n_estimators=100),
    "ExtraTrees, 500": extra_trees,
    "RandomForest, 500": random_forest,
    "LightGBM tuned, 500": lightgbm(subsample_freq=1, num_leaves=15, **TUNED),
    "XGBoost tuned, 500": xgboost(max_depth=6, tree_method="hist", **TUNED),
    "CatBoost, 200": catboost,
}
SLOW = {
    "cwboost projections, 500",
    "LightGBM tuned, 500",
    "XGBoost tuned, 500",
    "CatBoost, 200",
}


def measure(folder, names, n_seeds, results, with_slow):
    done = {(r["set"], r["model"], r["seed"]) for r in read(results)}
    for name in names:
        for seed in range(n_seeds):
            parts = split(folder, name, seed)
            for model, make in MODELS.items():
                slow = model in SLOW and name in BIG and not with_slow
                if slow or (name, model, seed) in done:
                    continue
                row = {"set": name, "model": model, "seed": seed, **fit(make(seed), *parts)}
                with results.open("a") as file:
                    print(json.dumps(row), file=file)
                print(row, flush=True)


def fit(estimator, X, X_test, y, y_test):
    """Return the test error in percent and the processor time of the fit in seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
        seconds = time.process_time() - start
        wrong = np.ravel(estimator.predict(X_test)) != y_test
    return {"error": 100 * float(wrong.mean()), "seconds": seconds}


def read(results):
    return [json.loads(line) for line in results.open()] if results.exists() else []


def report(rows):
    """Return the table of mean errors per model and data set, the lowest per set in bold."""
    names = [name for name in SETS if any(row["set"] == name for row in rows)]
    cells = {}
    for name in names:
        for model in MODELS:
            errors = [r["error"] for r in rows if r["set"] == name and r["model"] == model]
            if errors:
                cells[name, model] = np.mean(errors), len(errors)
    lines = []
    for name in names:
        lowest = min(error for (other, _), (error, _) in cells.items() if other == name)
        line = [name]
        for model in MODELS:
            error, n_seeds = cells.get((name, model), (None, 0))
            text = "-" if error is None else f"{error:.2f} ({n_seeds})"
            line.append(f"**{text}**" if error is not None and error <= lowest + 1e-9 else text)
        lines.append(line)
    packages = ["cwboost", "lightgbm", "xgboost", "catboost", "scikit-learn", "numpy"]
    return "\n".join(
        [
            BEGIN,
            "Test error in percent, mean over splits (their number in brackets), the lowest of a "
            "row in bold. Splits are 75/25 of all examples, stratified; SATIMAGE has its official "
            "split, MNIST 1,000 examples per class and the official test set. cwboost trees: "
            '`CWBoostClassifier(weak_learner="tree", correction="stagewise", C=1e12, '
            "learning_rate=0.1, subsample=0.5)`, all else default, with 200 and 500 rounds; "
            'projections: the same with `weak_learner="projection"`, `learning_rate=0.3` and all '
            "examples per round. Tuned: learning rate 0.05, 70% of the examples and half of the "
            "features per round, LightGBM with 15 leaves, XGBoost of depth 6. A dash: not run, for "
            "its time.",
            "",
            table(["data", *MODELS], lines),
            "",
            "; ".join(f"{name} {version(name)}" for name in packages) + f"; {machine()}.",
            END,
        ]
    )


def write(rows):
    text = PAGE.read_text()
    if BEGIN not in text:
        text = f"{text.rstrip()}\n\n## Error\n\n{BEGIN}\n{END}\n"
    before, rest = text.split(BEGIN)
    PAGE.write_text(before + report(rows) + rest.split(END)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=Path("peers_error.jsonl"))
    parser.add_argument("--slow", action="store_true", help="run every peer on the large sets too")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    measure(options.folder, options.sets.split(","), options.seeds, options.results, options.slow)
    rows = read(options.results)
    print(report(rows))
    if options.write:
        write(rows)


if __name__ == "__main__":
    main()
