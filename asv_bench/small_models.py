"""Compare small models by log loss and number of terms: certified ones beside what people use.

    python asv_bench/small_models.py FOLDER [--splits N] [--results FILE]

FOLDER is that of the studies; needs interpret and imodels. At most 2,000 rows train. Each result
is appended to the results file immediately, and a run skips results that the file has. pages.py
shows them.

A term is what a reader has to read: a stump or tree with its coefficient, a bin of a feature of an
explainable boosting machine with a score that differs from the one before it (for each class), a
coefficient of a logistic regression, a leaf, a rule. All sizes but that of EBM are chosen on a
fifth of the training rows.
"""

import argparse
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from peers import sets
from peers.report import append, conditions, read, table
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from cwboost import CWBoostClassifier, TreeFamily

RESULTS = Path(__file__).resolve().parent / "results" / "small_models.jsonl"
SETS = [
    *("anneal_orig", "otto", "mice_protein", "soybean", "spotify_genre"),
    *("wall_robot", "prudential", "animal_shelter", "incident_first", "diabetes130"),
]
"""None of them decided on a setting of the path of C."""
MANY = ("otto", "mice_protein", "soybean", "spotify_genre", "prudential")
"""Sets of six classes or more, for which RuleFit, which has one model per class, takes too long."""
N_TRAIN, N_TEST, LEAST = 2000, 2000, 8
BINS = 8


def stumps(X, y):
    return certified("stump", X, y)


def stumps_one_se(X, y):
    return certified("stump", X, y, max_columns="one_se")


def pairs(X, y):
    return certified(TreeFamily(max_depth=2), X, y)


def certified(weak_learner, X, y, **parameters):
    clf = CWBoostClassifier(weak_learner, correction="total", random_state=0, **parameters)
    clf.fit(X, y)
    history = clf.history_
    proven = {"gap": float(history["gap"][-1] / history["objective"][-1])}
    return clf, int(history["n_nonzero"][-1]), proven


def default(X, y):
    clf = CWBoostClassifier(random_state=0).fit(X, y)
    return clf, int(clf.history_["n_nonzero"][clf.best_iteration_ - 1]), {}


def ebm(X, y):
    from interpret.glassbox import ExplainableBoostingClassifier

    clf = ExplainableBoostingClassifier(interactions=0, n_jobs=1, random_state=0).fit(X, y)
    scores = [term.reshape(len(term), -1) for term in clf.term_scores_]
    return clf, sum(int((np.abs(np.diff(term, axis=0)) > 1e-9).sum()) for term in scores), {}


def best_of(makers, X, y):
    """Return the model of lowest log loss on a fifth left out, fitted on all rows."""
    kept, left, y_kept, y_left = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    losses = [loss_of(make().fit(kept, y_kept), left, y_left) for make in makers]
    return makers[int(np.argmin(losses))]().fit(X, y)


def columns_of(X):
    categories = [name for name in X if str(X[name].dtype) == "category"]
    return [name for name in X if name not in categories], categories


def binned(X):
    """Return a transformer to bins of numbers and levels of categories."""
    numbers, categories = columns_of(X)
    bins = KBinsDiscretizer(BINS, strategy="quantile", quantile_method="averaged_inverted_cdf")
    missing = SimpleImputer(strategy="median", add_indicator=False, keep_empty_features=True)
    return make_column_transformer(
        (make_pipeline(missing, bins), numbers),
        (OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5), categories),
    )


def logistic(X, y):
    def made(C):
        model = LogisticRegression(C=C, l1_ratio=1.0, solver="liblinear")
        return make_pipeline(binned(X), OneVsRestClassifier(model))

    clf = best_of([lambda C=C: made(C) for C in (0.03, 0.1, 0.3, 1.0, 3.0)], X, y)
    return clf, sum(int(np.count_nonzero(one.coef_)) for one in clf[-1].estimators_), {}


def tree(X, y):
    def made(leaves):
        return make_pipeline(
            binned(X), DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)
        )

    clf = best_of([lambda n=n: made(n) for n in (4, 8, 16, 32, 64)], X, y)
    return clf, int(clf[-1].get_n_leaves()), {}


class Ranks:
    """Categories as ranks by frequency and gaps as medians, for models of numbers."""

    def fit(self, X, y):
        self._orders = {}
        for name in X:
            if str(X[name].dtype) == "category":
                self._orders[name] = {v: i for i, v in enumerate(X[name].value_counts().index)}
        self._medians = self._numbers(X).median().fillna(0.0)
        return self

    def _numbers(self, X):
        return pd.DataFrame(
            {
                str(name): X[name].astype(object).map(self._orders[name])
                if name in self._orders
                else X[name]
                for name in X
            }
        ).astype(float)

    def transform(self, X):
        return self._numbers(X).fillna(self._medians).to_numpy()


def rulefit(X, y):
    from imodels import RuleFitClassifier

    model = OneVsRestClassifier(RuleFitClassifier(random_state=0, max_rules=30))
    clf = make_pipeline(Ranks(), model).fit(X, y)
    return clf, sum(int(np.count_nonzero(one.coef)) for one in clf[-1].estimators_), {}


MODELS = {
    "certified stumps": stumps,
    "certified stumps, one_se": stumps_one_se,
    "certified trees of depth 2": pairs,
    "the default": default,
    "EBM, main effects": ebm,
    "L1 logistic on bins": logistic,
    "a decision tree": tree,
    "RuleFit, one against the rest": rulefit,
}


def loss_of(clf, X, y):
    return float(log_loss(y, clf.predict_proba(X), labels=clf.classes_))


def measure(folder, name, model, seed):
    """Return log loss, error, terms and time of one split."""
    X, y = sets.load("mixed", folder, name)
    counts = np.bincount(y)
    kept = np.flatnonzero(counts[y] >= len(y) * LEAST / N_TRAIN)
    X, y = X.iloc[kept].reset_index(drop=True), np.unique(y[kept], return_inverse=True)[1]
    n_train = min(N_TRAIN, int(0.7 * len(y)))
    X, X_test, y, y_test = train_test_split(
        X,
        y,
        train_size=n_train,
        test_size=min(N_TEST, len(y) - n_train),
        stratify=y,
        random_state=seed,
    )
    start = time.process_time()
    clf, terms, more = MODELS[model](X, y)
    seconds = time.process_time() - start
    p = clf.predict_proba(X_test)
    return {
        "log_loss": float(log_loss(y_test, p, labels=np.arange(p.shape[1]))),
        "error": 100 * float(np.mean(p.argmax(axis=1) != y_test)),
        "terms": terms,
        "seconds": seconds,
        "classes": int(p.shape[1]),
        **more,
    }


def mean_of(rows, model, name, what):
    found = [row[what] for row in rows if row["model"] == model and row["set"] == name]
    return float(np.mean(found)) if found else np.nan


def report(rows):
    """Return the table of models: log loss over that of EBM, terms and time, over the sets."""
    reference = "EBM, main effects"
    lines = []
    for model in MODELS:
        names = [n for n in SETS if np.isfinite(mean_of(rows, model, n, "log_loss"))]
        names = [n for n in names if np.isfinite(mean_of(rows, reference, n, "log_loss"))]
        if not names:
            continue
        loss, seconds = (
            np.array([mean_of(rows, model, n, k) / mean_of(rows, reference, n, k) for n in names])
            for k in ("log_loss", "seconds")
        )
        terms = [mean_of(rows, model, n, "terms") for n in names]
        gaps = [r["gap"] for r in rows if r["model"] == model and r["set"] in names and "gap" in r]
        lines.append(
            [
                model,
                str(len(names)),
                f"{np.median(loss):.2f}",
                f"{loss.min():.2f} to {loss.max():.2f}",
                f"{np.median(terms):,.0f}",
                f"{np.median(seconds):.2g}",
                f"{np.nanmedian(gaps):.1%}" if gaps else "",
            ]
        )
    head = ["model", "sets", "log loss over EBM's", "from, to", "terms", "time over EBM's", "gap"]
    return f"{table(head, lines)}\n\nMedians over the sets. {conditions(rows)}."


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    done = {(row["set"], row["model"], row["seed"]) for row in read(args.results)}
    for seed, name, model in product(range(args.splits), SETS, MODELS):
        if (name, model, seed) in done or (model.startswith("RuleFit") and name in MANY):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = measure(args.folder, name, model, seed)
        row = {"set": name, "model": model, "seed": seed, **found}
        print(append(args.results, row, "cwboost"), flush=True)
    print(report(read(args.results)))


if __name__ == "__main__":
    main()
