"""How often `predict_set` of the default, after its holdout run, lacks the true class.

    python asv_bench/coverage.py FOLDER [--splits N]

FOLDER is that of the studies. Each model trains on at most 1,200 examples and is tried on as many.
"""

import argparse
from pathlib import Path

import numpy as np
from peers import sets

from cwboost import CWBoostClassifier

NUMERIC = ["VOWEL", "PENDIGITS", "digits", "SATIMAGE", "MFEAT", "USPS"]
N_MIXED = 6
MOST, LEAST = 1200, 450  # examples to train on
ALPHAS = (0.05, 0.1, 0.2)


def missed(X, y, seed):
    """Return the share of the sets without the true class in percent, for each alpha."""
    order = np.random.default_rng(seed).permutation(len(y))
    n = min(MOST, len(y) // 2)
    train, test = order[:n], order[n : 2 * n]
    clf = CWBoostClassifier(random_state=seed, n_jobs=1).fit(X.iloc[train], y[train])
    right = y[test, None] == clf.classes_
    return [100 - 100 * (clf.predict_set(X.iloc[test], a) & right).any(1).mean() for a in ALPHAS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=5)
    args = parser.parse_args()
    loaded = [("numeric", name) for name in NUMERIC]
    loaded += [("mixed", name) for name in sets.names("mixed", args.folder)]
    rows = []
    for study, name in loaded:
        X, y = sets.load(study, args.folder, name)
        if len(rows) < len(NUMERIC) + N_MIXED and len(y) >= 2 * LEAST:
            rows.append(np.mean([missed(X, y, seed) for seed in range(args.splits)], axis=0))
            print(f"{name:16}", *(f"{share:6.1f}" for share in rows[-1]), flush=True)
    for what, of in (("mean", np.mean), ("largest", np.max)):
        print(f"{what:16}", *(f"{share:6.1f}" for share in of(rows, axis=0)))


if __name__ == "__main__":
    main()
