"""Test errors and log losses of cwboost's defaults and of other packages on the same splits.

    python asv_bench/peers_error.py FOLDER [--sets A,B] [--models "A;B"] [--seeds N]
        [--results FILE]

FOLDER holds one .npz file per data set, with `X, y` or `X_train, y_train, X_test, y_test`. Each
result is appended to the results file immediately, and a run skips results that the file has, so
that it may be stopped and run in pieces. pages.py shows them. Needs the packages of
requirements-peers.txt.
"""

import argparse
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from peers.data import a_class, pooled, traffic_signs
from peers.error_tables import Rows, against_goals, grid
from peers.report import append, conditions, read
from sklearn.datasets import load_digits, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

RESULTS = Path(__file__).resolve().parent / "results"
PACKAGES = {
    "cwboost": "cwboost",
    "LightGBM": "lightgbm",
    "XGBoost": "xgboost",
    "CatBoost": "catboost",
}
"""Packages by the first word of a model's name; that of the others is scikit-learn."""

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
    "generated",
]
ONE_SPLIT = ["SATIMAGE", "MNIST", "GTSRB HOG"]
NOTE = (
    "Test error in percent, mean over splits, the lowest of a column in bold. A number in brackets "
    "is that of the splits, if it is not the column's. Splits are 75/25 of all examples, "
    "stratified; SATIMAGE and GTSRB have their official test sets, and so has MNIST, with 1,000 "
    "training examples per class; GTSRB has 100 per class, as HOG features. On these, runs differ "
    "in `random_state` only, and models that draw nothing have one. Two sets are generated. "
    "*noisy*: 6,000 training examples, 20 features, 3 classes, an error of 40% at best. "
    "*generated*: 180,000 training examples of 5 classes in 50 features, 10% with random labels. "
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


def clusters(n_samples):
    """Return five classes of four clusters each, in 15 of 50 features, with wrong labels."""
    return make_classification(
        n_samples,
        50,
        n_informative=15,
        n_redundant=10,
        n_classes=5,
        n_clusters_per_class=4,
        class_sep=1.2,
        flip_y=0.1,
        random_state=3,
    )


def split(folder, name, seed):
    """Return training and test parts; the official ones where the note says so."""
    if name == "GTSRB HOG":
        return traffic_signs(folder / "GTSRB_gray32.npz")
    if name in ONE_SPLIT:
        with np.load(folder / f"{name}.npz") as stored:
            X, y, X_test, y_test = (stored[k] for k in ("X_train", "y_train", "X_test", "y_test"))
        rows = a_class(y, 1_000) if name == "MNIST" else slice(None)
        return X[rows], X_test, y[rows], y_test
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    elif name == "noisy":
        X, y = noisy()
    elif name == "generated":
        X, y = clusters(240_000)
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


def measure(split, names, models, n_seeds, results):
    """Make the runs that the results file lacks; `split` takes a name and a seed."""
    done = {(row["set"], row["model"], row["seed"]) for row in read(results)}
    for name in names:
        for seed in range(n_seeds):
            missing = [model for model in models if (name, model, seed) not in done]
            parts = split(name, seed) if missing else None
            for model in missing:
                found = fit(MODELS[model](seed), *parts)
                row = {"set": name, "model": model, "seed": seed, **sizes(*parts), **found}
                package = PACKAGES.get(model.split()[0].strip(","), "scikit-learn")
                print(append(results, row, package), flush=True)


def sizes(X, X_test, y, y_test):
    """Return the sizes of a split, as the tables show them."""
    n_classes = len(np.unique(y))
    return {"n_train": len(y), "n_test": len(y_test), "d": X.shape[1], "n_classes": n_classes}


def fit(estimator, X, X_test, y, y_test):
    """Return the test error in percent, the log loss, and processor times.

    ``seconds`` is that of the fit, ``predict_ms`` the milliseconds per 1,000 test examples of a
    second prediction, which finds the model prepared.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        estimator.fit(X, y)
        fitted = time.process_time()
        wrong = np.ravel(estimator.predict(X_test)) != y_test
        prepared = time.process_time()
        estimator.predict(X_test)
        predicted = time.process_time()
        found = {
            "error": 100 * float(wrong.mean()),
            "seconds": fitted - start,
            "first_predict_ms": 1e6 * (prepared - fitted) / len(X_test),
            "predict_ms": 1e6 * (predicted - prepared) / len(X_test),
        }
        if hasattr(estimator, "predict_proba"):
            probabilities = np.clip(estimator.predict_proba(X_test), 1e-15, 1)
            found["log_loss"] = float(log_loss(y_test, probabilities, labels=np.unique(y)))
    return found


# -------------------------------------------------------------------- the page


def report(found):
    """Return the tables of errors, log losses and times."""
    rows = Rows(found, SETS, MODELS, ONE_SPLIT)
    return "\n".join(
        [
            NOTE,
            "",
            grid(rows, "error", "{:.2f}"),
            "",
            "Log loss on the same splits:",
            "",
            grid(rows, "log_loss", "{:.3f}"),
            "",
            "Processor seconds of a fit on one thread:",
            "",
            grid(rows, "seconds", "{:.1f}"),
            "",
            "Processor milliseconds of a prediction per 1,000 test examples, on one thread. The "
            "first one of a model, which may prepare the model, is left out:",
            "",
            grid(rows, "predict_ms", "{:.1f}"),
            "",
            "The default against the others. Ratios are those of means over the splits that both "
            "have; below 1 the default is ahead.",
            "",
            against_goals(rows, "cwboost"),
            "",
            f"{conditions(found)}.",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models", help="names separated by semicolons; default: all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=RESULTS / "error.jsonl")
    options = parser.parse_args()
    models = options.models.split(";") if options.models else list(MODELS)
    parts = partial(split, options.folder)
    measure(parts, options.sets.split(","), models, options.seeds, options.results)
    print(report(read(options.results)))


if __name__ == "__main__":
    main()
