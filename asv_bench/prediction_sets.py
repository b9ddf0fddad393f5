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
from peers.report import append, read

from cwboost import CWBoostClassifier

RESULTS = Path(__file__).resolve().parent / "results" / "prediction_sets.jsonl"
NUMERIC = ["VOWEL", "PENDIGITS", "digits", "SATIMAGE", "MFEAT", "USPS"]
N_EACH = 6
MOST, LEAST = 1200, 450  # examples to train on
ALPHAS = (0.05, 0.1, 0.2)


def missed(X, y, seed):
    """Return the percentage of sets without the true class for each alpha."""
    order = np.random.default_rng(seed).permutation(len(y))
    n = min(MOST, len(y) // 2)
    train, test = order[:n], order[n : 2 * n]
    clf = CWBoostClassifier(random_state=seed, n_jobs=1).fit(X.iloc[train], y[train])
    right = y[test, None] == clf.classes_
    return [100 - 100 * (clf.predict_set(X.iloc[test], a) & right).any(1).mean() for a in ALPHAS]


def large_enough(folder):
    """Yield the first sets of enough examples, numeric and mixed ones: name, X, y."""
    for study, names in (("numeric", NUMERIC), ("mixed", sets.names("mixed", folder))):
        loaded = ((name, *sets.load(study, folder, name)) for name in names)
        yield from islice((found for found in loaded if len(found[2]) >= 2 * LEAST), N_EACH)


def by_set(records):
    """Return the percentages by data set, means over the splits."""
    names = dict.fromkeys(r["set"] for r in records)
    return np.array(
        [np.mean([r["missed"] for r in records if r["set"] == name], axis=0) for name in names]
    )


def report(records):
    """Return means over the data sets and the largest values, for a sentence."""
    shares = by_set(records)
    mean, largest = (listed(of(shares, axis=0)) for of in (np.mean, np.max))
    wanted = listed([100 * alpha for alpha in ALPHAS], ".0f")
    return (
        f"on {len(shares)} data sets {mean}% of the sets then lacked the class for {wanted}%, at "
        f"most {largest}% on one"
    )


def listed(numbers, digits=".1f"):
    *first, last = (f"{number:{digits}}" for number in numbers)
    return f"{', '.join(first)} and {last}"


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
                found = {"set": name, "seed": seed, "missed": missed(X, y, seed)}
                print(append(args.results, found, "cwboost"), flush=True)
    print(report(read(args.results)))


if __name__ == "__main__":
    main()
