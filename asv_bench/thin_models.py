"""Compare thin models with truncation and retraining: size, prediction time and error.

    python asv_bench/thin_models.py FOLDER [--sets A,B] [--splits N] [--results FILE]

FOLDER holds one .npz file per data set. Each result is appended to the results file immediately,
and a run skips results that the file has. pages.py shows them.
"""

import argparse
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from peers import sets
from peers.report import append, conditions, read, table
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier

RESULTS = Path(__file__).resolve().parent / "results" / "thin.jsonl"
SETS = ["VOWEL", "digits", "SATIMAGE", "PENDIGITS", "MFEAT", "USPS"]
WEAK_LEARNERS = ["stump", "projection"]
"""Trees of stage-wise training are not among them: all classes share one, and fewer rounds make the
better small model."""
ROUNDS = 300
RATES = (0.1, 0.3, 1.0)
"""Learning rates of the retrained model; held-out examples choose."""
CALLS = 5


def measure(folder, name, weak_learner, seed):
    """Return sizes, errors in percent and prediction times of one split."""
    frame, y = sets.load("numeric", folder, name)
    X, X_test, y, y_test = train_test_split(
        frame.to_numpy(), y, test_size=0.25, stratify=y, random_state=seed
    )
    X, X_val, y, y_val = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)

    def make(**parameters):
        model = CWBoostClassifier(
            weak_learner,
            init=None,
            random_state=seed,
            probability_scale=2.0,
            tol=0.0,
            **parameters,
        )
        return model.fit(X, y)

    def error(model):
        return 100 * float(np.mean(model.predict(X_test) != y_test))

    start = time.process_time()
    full = make(n_estimators=ROUNDS)
    trained = time.process_time()
    thin = full.thin(X, y, X_val=X_val, y_val=y_val)
    thinned = time.process_time()
    n_full, n_thin = len(full.ensemble_.learners), len(thin.ensemble_.learners)
    # The first rounds with at least as many columns.
    columns = full.ensemble_.path.learners_offsets
    n_rounds = max(1, int(np.searchsorted(columns, n_thin)))
    short = [make(n_estimators=n_rounds, learning_rate=rate) for rate in RATES]
    retrained = max(short, key=lambda model: model.score(X_val, y_val))
    truncated = list(full.staged_predict(X_test))[n_rounds - 1]
    return {
        "n_test": len(y_test),
        "n_full": n_full,
        "n_thin": n_thin,
        "n_rounds": n_rounds,
        "C": float(thin.history_["C"][0]),
        "rate": retrained.learning_rate,
        "full": error(full),
        "thin": error(thin),
        "retrained": error(retrained),
        "truncated": 100 * float(np.mean(truncated != y_test)),
        "full_us": microseconds(full, X_test),
        "thin_us": microseconds(thin, X_test),
        "fit_s": trained - start,
        "thin_s": thinned - trained,
    }


def microseconds(model, X):
    """Return the processor time of `predict` per row, the least of a few calls."""
    model.predict(X[:2])
    spent = []
    for _ in range(CALLS):
        start = time.process_time()
        model.predict(X)
        spent.append(time.process_time() - start)
    return 1e6 * min(spent) / len(X)


def report(rows):
    """Return the Markdown table: per weak learner, geometric means over the sets."""
    lines = []
    for weak_learner in WEAK_LEARNERS:
        own = [row for row in rows if row["weak_learner"] == weak_learner]
        names = sorted({row["set"] for row in own})
        means = {
            key: np.array([np.mean([r[key] for r in own if r["set"] == name]) for name in names])
            for key, value in own[0].items()
            if isinstance(value, float | int)
        }
        pairs = [
            ("n_thin", "n_full"),
            *((key, "full") for key in ("thin", "truncated", "retrained")),
        ]
        pairs += [("thin_us", "full_us"), ("thin_s", "fit_s")]
        ratios = [np.exp(np.log(means[a] / means[b]).mean()) for a, b in pairs]
        lines.append([weak_learner, *(f"{ratio:.2f}" for ratio in ratios)])
    head = ["weak learner", "columns", "error of thin", "of truncated", "of retrained"]
    head += ["time of a prediction", "time of `thin` over `fit`"]
    return f"{table(head, lines)}\n\n{len(names)} sets. {conditions(rows)}."


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    done = {(row["weak_learner"], row["set"], row["seed"]) for row in read(args.results)}
    for seed, name, weak_learner in product(
        range(args.splits), args.sets.split(","), WEAK_LEARNERS
    ):
        if (weak_learner, name, seed) in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = measure(args.folder, name, weak_learner, seed)
        row = {"set": name, "weak_learner": weak_learner, "seed": seed, **found}
        print(append(args.results, row, "cwboost"), flush=True)
    print(report(read(args.results)))


if __name__ == "__main__":
    main()
