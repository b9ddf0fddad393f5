"""Measure how often prediction sets of the default lack the true class.

    python asv_bench/prediction_sets.py FOLDER [--splits N] [--results FILE]

FOLDER is that of the studies. Each model has at most 1,200 training and as many test examples.
Each result is appended to the results file immediately, and a run skips results that the file has.
pages.py shows them.
"""

import argparse
from itertools import islice
from pathlib import Path

import numpy as np
from peers import sets
from peers.report import append, conditions, read, table

from cwboost import CWBoostClassifier

RESULTS = Path(__file__).resolve().parent / "results" / "prediction_sets.jsonl"
NUMERIC = ["VOWEL", "PENDIGITS", "digits", "SATIMAGE", "MFEAT", "USPS"]
N_EACH = 6
MOST, LEAST = 1200, 450  # examples to train on
ALPHAS = (0.05, 0.1, 0.2)
SMALL = 100  # training examples of a class that is small, a fifth of which calibrate its sets


def missed(X, y, seed):
    """Return what sets of the default lack, for each alpha.

    "missed" is the percentage of sets without the true class, "empty" that of sets without any;
    "small" that of sets by class without the true class, among the examples of small classes, or
    None if there are none.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    n = min(MOST, len(y) // 2)
    train, test = order[:n], order[n : 2 * n]
    clf = CWBoostClassifier(random_state=seed, n_jobs=1).fit(X.iloc[train], y[train])
    right = y[test, None] == clf.classes_
    small = np.isin(y[test], np.flatnonzero(np.bincount(y[train]) <= SMALL))
    found = {"missed": [], "empty": [], "small": [] if small.any() else None}
    for alpha in ALPHAS:
        plain, by_class = (clf.predict_set(X.iloc[test], alpha, kind) for kind in (False, True))
        found["missed"].append(100 - 100 * (plain & right).any(1).mean())
        found["empty"].append(100 * (~plain.any(1)).mean())
        if small.any():
            found["small"].append(100 - 100 * (by_class & right).any(1)[small].mean())
    return found


def large_enough(folder):
    """Yield the first sets of enough examples, numeric and mixed ones: name, X, y."""
    for study, names in (("numeric", NUMERIC), ("mixed", sets.names("mixed", folder))):
        loaded = ((name, *sets.load(study, folder, name)) for name in names)
        yield from islice((found for found in loaded if len(found[2]) >= 2 * LEAST), N_EACH)


def by_set(records, what):
    """Return percentages by data set, means over the splits, of the sets that have them."""
    records = [r for r in records if r[what] is not None]
    names = dict.fromkeys(r["set"] for r in records)
    return np.array([np.mean([r[what] for r in records if r["set"] == n], axis=0) for n in names])


def report(records):
    """Return the table of shares of sets without the class, by what was asked for."""
    shares, small = (by_set(records, what) for what in ("missed", "small"))
    columns = shares.mean(axis=0), shares.max(axis=0), small.mean(axis=0)
    lines = [
        [f"{alpha:.0%}", *(f"{column[k]:.1f}%" for column in columns)]
        for k, alpha in enumerate(ALPHAS)
    ]
    of_small = f"`by_class`, classes of at most {SMALL} training rows, {len(small)} data sets"
    head = ["`alpha`", f"mean of {len(shares)} data sets", "most on one", of_small]
    empty = by_set(records, "empty").mean(axis=0)[1]
    note = f"At 10%, {empty:.1f}% of the sets were empty. {conditions(records)}."
    return f"{table(head, lines)}\n\n{note}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    done = {(r["set"], r["seed"]) for r in read(args.results)}
    for name, X, y in large_enough(args.folder):
        for seed in range(args.splits):
            if (name, seed) not in done:
                found = {"set": name, "seed": seed, **missed(X, y, seed)}
                print(append(args.results, found, "cwboost"), flush=True)
    print(report(read(args.results)))


if __name__ == "__main__":
    main()
