"""Test errors and log losses of cwboost's defaults and of other packages on the same splits.

    python asv_bench/peers_error.py FOLDER [--sets A,B] [--models "A;B"] [--seeds N]
        [--results FILE] [--write]

FOLDER holds one .npz file per data set, with `X, y` or `X_train, y_train, X_test, y_test`. Each
result is appended to the results file immediately, and a run skips results that the file has, so
that it may be stopped and run in pieces. --write puts the table of the file into
docs/benchmarks.md. Needs the packages of requirements-peers.txt.
"""

import argparse
import json
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from peers.data import a_class, pooled, traffic_signs
from peers.report import machine, table
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

BEGIN, END = "<!-- error: begin -->", "<!-- error: end -->"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
SETS = [
    "VOWEL",
    "PENDIGITS",
    "digits",
    "SATIMAGE",
    "MFEAT",
    "USPS",
    "ISOLET",
    "MNIST",
    "YALEB",
    "GTSRB HOG",
    "noisy",
]
NOTE = (
    "Test error in percent, mean over splits (their number in brackets), the lowest of a row in "
    "bold. Splits are 75/25 of all examples, stratified; SATIMAGE and GTSRB have their official "
    "test sets, and so has MNIST, with 1,000 training examples per class; GTSRB has 100 per class, "
    "as HOG features. *noisy* is generated: 20 features, 3 classes, an error of 40% at best. "
    "cwboost: `CWBoostClassifier()`; cwboost trees: `CWBoostClassifier("
    'weak_learner="tree")`; cwboost, the paper: `CWBoostClassifier(weak_learner="stump", '
    'correction="total", n_estimators=200)`. The other packages have their defaults, forests 500 '
    "trees; tuned: 500 rounds of learning rate 0.05, 70% of the examples and half of the features "
    "per round, LightGBM with 15 leaves, XGBoost of depth 6; SVC: RBF kernel, C = 10, on "
    "standardised or raw features. A dash: not run, for its time."
)


def noisy(n_samples=8_000):
    """Return examples whose classes are drawn from known probabilities."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_samples, 20))
    scores = [X[:, 0] + X[:, 1] * X[:, 2], X[:, 3] - X[:, 4], X[:, 5] * X[:, 6] + 0.5 * X[:, 7]]
    p = np.exp(0.9 * np.column_stack(scores))
    p /= p.sum(axis=1, keepdims=True)
    return X, (p.cumsum(axis=1) < rng.random((n_samples, 1))).sum(axis=1)


def split(folder, name, seed):
    """Return training and test parts; the official ones where the note says so."""
    if name == "GTSRB HOG":
        return traffic_signs(folder / "GTSRB_gray32.npz")
    if name in ("SATIMAGE", "MNIST"):
        with np.load(folder / f"{name}.npz") as stored:
            X, y, X_test, y_test = (stored[k] for k in ("X_train", "y_train", "X_test", "y_test"))
        rows = a_class(y, 1_000) if name == "MNIST" else slice(None)
        return X[rows], X_test, y[rows], y_test
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    elif name == "noisy":
        X, y = noisy()
    else:
        X, y = pooled(folder / f"{name}.npz")
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)


# -------------------------------------------------------------------- the models


def cwboost(**params):
    def make(seed):
        from cwboost import CWBoostClassifier

        return CWBoostClassifier(random_state=seed, n_jobs=1, **params)

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
        thread_count=1, verbose=0, random_seed=seed, allow_writing_files=False
    )


def hist_gradient_boosting(seed):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def extra_trees(seed):
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(500, n_jobs=1, random_state=seed)


def random_forest(seed):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(500, n_jobs=1, random_state=seed)


def support_vectors(*steps):
    def make(seed):
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import SVC

        return make_pipeline(*(step() for step in steps), SVC(C=10))

    return make


def standardised():
    from sklearn.preprocessing import StandardScaler

    return StandardScaler()


TUNED = {"learning_rate": 0.05, "subsample": 0.7, "colsample_bytree": 0.5, "n_estimators": 500}
MODELS = {
    "cwboost": cwboost(),
    "cwboost trees": cwboost(weak_learner="tree"),
    "cwboost, the paper": cwboost(weak_learner="stump", correction="total", n_estimators=200),
    "LightGBM": lightgbm(),
    "LightGBM tuned": lightgbm(subsample_freq=1, num_leaves=15, **TUNED),
    "XGBoost": xgboost(),
    "XGBoost tuned": xgboost(max_depth=6, tree_method="hist", **TUNED),
    "CatBoost": catboost,
    "HistGradientBoosting": hist_gradient_boosting,
    "ExtraTrees": extra_trees,
    "RandomForest": random_forest,
    "SVC, standardised": support_vectors(standardised),
    "SVC, raw": support_vectors(),
}


# -------------------------------------------------------------------- runs


def measure(folder, names, models, n_seeds, results):
    """Make the runs that the results file lacks."""
    done = {(row["set"], row["model"], row["seed"]) for row in read(results)}
    for name in names:
        for seed in range(n_seeds):
            missing = [model for model in models if (name, model, seed) not in done]
            parts = split(folder, name, seed) if missing else None
            for model in missing:
                found = fit(MODELS[model](seed), *parts)
                row = {"set": name, "model": model, "seed": seed, **found}
                with results.open("a") as file:
                    print(json.dumps(row), file=file)
                print(row, flush=True)


def fit(estimator, X, X_test, y, y_test):
    """Return the test error in percent, the log loss, and processor times in seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        estimator.fit(X, y)
        fitted = time.process_time()
        wrong = np.ravel(estimator.predict(X_test)) != y_test
        predicted = time.process_time()
        found = {
            "error": 100 * float(wrong.mean()),
            "seconds": fitted - start,
            "predict_seconds": predicted - fitted,
        }
        if hasattr(estimator, "predict_proba"):
            probabilities = np.clip(estimator.predict_proba(X_test), 1e-15, 1)
            found["log_loss"] = float(log_loss(y_test, probabilities, labels=np.unique(y)))
    return found


def read(results):
    return [json.loads(line) for line in results.open()] if results.exists() else []


# -------------------------------------------------------------------- the table


def means(rows, measure):
    """Return names of sets and models that occur, and (mean, number of runs) by set and model."""
    names = [name for name in SETS if any(row["set"] == name for row in rows)]
    models = [model for model in MODELS if any(row["model"] == model for row in rows)]
    cells = {}
    for name in names:
        for model in models:
            ours = [r for r in rows if r["set"] == name and r["model"] == model]
            values = [r[measure] for r in ours if measure in r]
            if values:
                cells[name, model] = float(np.mean(values)), len(values)
    return names, models, cells


def grid(rows, measure, form):
    """Return a table of means per data set and model, the lowest of a row in bold."""
    names, models, cells = means(rows, measure)
    models = [model for model in models if any((name, model) in cells for name in names)]
    lines = []
    for name in names:
        lowest = min(mean for (other, _), (mean, _) in cells.items() if other == name)
        line = [name]
        for model in models:
            mean, n = cells.get((name, model), (None, 0))
            text = "-" if mean is None else form.format(mean, n)
            line.append(f"**{text}**" if mean is not None and mean <= lowest + 1e-9 else text)
        lines.append(line)
    return table(["data", *models], lines)


def report(rows):
    """Return the tables of errors, log losses and times."""
    packages = ["cwboost", "lightgbm", "xgboost", "catboost", "scikit-learn", "numpy"]
    return "\n".join(
        [
            BEGIN,
            NOTE,
            "",
            grid(rows, "error", "{:.2f} ({})"),
            "",
            "Log loss on the same splits:",
            "",
            grid(rows, "log_loss", "{:.3f}"),
            "",
            "Processor seconds of a fit on one thread:",
            "",
            grid(rows, "seconds", "{:.1f}"),
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
    parser.add_argument("--models", help="names separated by semicolons; default: all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=Path("peers_error.jsonl"))
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    options = parser.parse_args()
    models = options.models.split(";") if options.models else list(MODELS)
    measure(options.folder, options.sets.split(","), models, options.seeds, options.results)
    rows = read(options.results)
    print(report(rows))
    if options.write:
        write(rows)


if __name__ == "__main__":
    main()
