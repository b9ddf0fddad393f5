"""Mixed tables: errors and log losses of cwboost's default and of other packages' defaults.

    python asv_bench/peers_tables.py FOLDER [--tables A,B] [--models A,B] [--splits N]
        [--most ROWS] [--results FILE]

FOLDER holds one gzipped CSV per table, whose last column is ``target``, and ``tables.json``, which
names the categorical columns. Every run is one line of JSON in the results file; runs that the file
has are skipped; pages.py shows them. Categories are native in every package that has them; what a
package refuses is recorded as such and left out of means.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from peers import two_classes
from peers.report import append, conditions, read
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

ROOT = Path(__file__).resolve().parent
CHOSEN_ON = {
    *("otto", "diabetes130", "prudential", "incident_first", "student_dropout", "obesity"),
    *("soybean", "anneal_orig", "mic_outcome", "steel_plates", "cardiotocography10"),
}
"""Tables on whose training parts settings were chosen: no evidence for the default."""

FLATTERS = {"mice_protein"}
"""Tables with several rows per subject, which random splits put in both parts: not in the means."""

NAMES_CATEGORIES = {"CatBoost", "ChimeraBoost"}
"""Packages whose `fit` is told which columns hold categories, as text."""

SMALLEST = 1e-15


def load(folder, name):
    """Return a frame whose categorical columns have that dtype, and the classes."""
    if folder is None:
        return two_classes.load(name)
    categorical = json.loads((folder / "tables.json").read_text())[name]["cat_cols"]
    frame = pd.read_csv(folder / f"{name}.csv.gz", low_memory=False)
    y = np.unique(frame.pop("target").astype(str), return_inverse=True)[1]
    for column in frame:
        if column in categorical:
            text = frame[column].map(str, na_action="ignore").astype(object)
            frame[column] = text.where(frame[column].notna(), None).astype("category")
        else:
            frame[column] = frame[column].astype(float)
    return frame, y


def cwboost(seed):
    from cwboost import CWBoostClassifier

    return CWBoostClassifier(random_state=seed, n_jobs=1)


def trees_alone(seed):
    from cwboost import CWBoostClassifier

    return CWBoostClassifier(init=None, random_state=seed, n_jobs=1)


def lightgbm(seed):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)


def xgboost(seed):
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1, enable_categorical=True)


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


MODELS = {
    "cwboost": (cwboost, "cwboost"),
    "cwboost, no init": (trees_alone, "cwboost"),
    "LightGBM": (lightgbm, "lightgbm"),
    "XGBoost": (xgboost, "xgboost"),
    "HistGradientBoosting": (hist_gradient_boosting, "scikit-learn"),
    "CatBoost": (catboost, "catboost"),
    "ChimeraBoost": (chimeraboost, "chimeraboost"),
}


def prepared(name, X, X_test):
    """Return the frames as a package takes them."""
    X, X_test = X.copy(), X_test.copy()
    categorical = [c for c in X if str(X[c].dtype) == "category"]
    for column in categorical:
        if name in NAMES_CATEGORIES:
            for frame in (X, X_test):
                frame[column] = frame[column].astype(object).fillna("missing")
        else:
            X_test[column] = X_test[column].astype(X[column].cat.remove_unused_categories().dtype)
            X[column] = X[column].cat.remove_unused_categories()
    if name in ("LightGBM", "XGBoost"):  # they refuse some characters in names
        X.columns = X_test.columns = [f"column {k}" for k in range(X.shape[1])]
    return X, X_test, {"cat_features": categorical} if name in NAMES_CATEGORIES else {}


def run(folder, table, model, seed, most):
    """Return the record of one model on one split."""
    frame, y = load(folder, table)
    parts = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=seed)
    train, test = parts
    if len(train) > most:
        train, _ = train_test_split(train, train_size=most, stratify=y[train], random_state=seed)
    classes = np.unique(y[train])
    test = test[np.isin(y[test], classes)]
    make = MODELS[model][0]
    record = {"table": table, "model": model, "seed": seed, "n": len(train)}
    X, X_test, fit = prepared(model, frame.iloc[train], frame.iloc[test])
    labels, wanted = np.searchsorted(classes, y[train]), np.searchsorted(classes, y[test])
    try:
        start = time.process_time()
        fitted = make(seed).fit(X, labels, **fit)
        fit_seconds, start = time.process_time() - start, time.process_time()
        p = np.clip(fitted.predict_proba(X_test), SMALLEST, 1)
        predict_seconds = time.process_time() - start
    except Exception as error:  # what a package refuses is a result
        return record | {"refused": f"{type(error).__name__}: {error}"[:200]}
    p /= p.sum(axis=1, keepdims=True)
    own = -np.log(p[np.arange(len(wanted)), wanted])
    error = float(np.mean(p.argmax(axis=1) != wanted))
    record |= {"error": error, "log_loss": float(own.mean())}
    if len(classes) == 2:
        record["auc"] = float(roc_auc_score(wanted, p[:, 1]))
    return record | {"fit_seconds": fit_seconds, "predict_seconds": predict_seconds}


def report(records):
    """Return the page's table: per table and model, error in percent and log loss."""
    models = [name for name in MODELS if any(r["model"] == name for r in records)]
    lines = ["| table | " + " | ".join(models) + " |", "|---" * (len(models) + 1) + "|"]
    ratios = {name: [] for name in models}
    for table in dict.fromkeys(r["table"] for r in records):
        cells = {}
        for name in models:
            own = [r for r in records if (r["table"], r["model"]) == (table, name)]
            known = [(r["error"], r["log_loss"], r["fit_seconds"]) for r in own if "error" in r]
            cells[name] = np.mean(known, axis=0) if known else None
        shown = ["–" if c is None else f"{100 * c[0]:.1f} / {c[1]:.3f}" for c in cells.values()]
        mark = " (chosen on)" if table in CHOSEN_ON else ""
        lines.append(f"| {table}{mark} | " + " | ".join(shown) + " |")
        if cells["LightGBM"] is not None and table not in CHOSEN_ON | FLATTERS:
            for name in models:
                if cells[name] is not None:
                    ratios[name].append((cells[name] + 1e-9) / (cells["LightGBM"] + 1e-9))
    means = []
    for name in models:
        error, loss, seconds = np.exp(np.mean(np.log(ratios[name]), axis=0))
        means.append(f"{error:.2f} / {loss:.2f} ({seconds:.2f} of the time)")
    lines.append("| over LightGBM, geometric means | " + " | ".join(means) + " |")
    splits = len({r["seed"] for r in records})
    note = (
        f"Test error in percent / log loss, mean of {splits} splits, at most "
        f"{max(r['n'] for r in records):,} training rows, defaults of all packages, one thread "
        f"({conditions(records)}). Means leave out the tables chosen on and "
        f"{', '.join(sorted(FLATTERS))}, whose rows repeat subjects."
    )
    return "\n".join([note, "", *lines])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--tables")
    parser.add_argument("--models", default="cwboost,LightGBM,XGBoost")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--most", type=int, default=4_000)
    parser.add_argument("--results", type=Path)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    study = "two_classes" if args.folder is None else "tables"
    results = args.results or ROOT / "results" / f"{study}.jsonl"
    done = {(r["table"], r["model"], r["seed"]) for r in read(results)}
    names = list(two_classes.TABLES)
    if args.folder is not None:
        names = list(json.loads((args.folder / "tables.json").read_text()))
    for table in args.tables.split(",") if args.tables else names:
        for seed in range(args.splits):
            for model in args.models.split(","):
                if (table, model, seed) in done:
                    continue
                found = run(args.folder, table, model, seed, args.most)
                print(append(results, found, MODELS[model][1]), flush=True)


if __name__ == "__main__":
    main()
