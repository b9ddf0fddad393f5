"""Compare packages on small and odd data: repeated rows, plateaus, rare classes, noise, few rows.

    python asv_bench/regimes.py [--seeds N] [--results FILE]

All data are drawn here. Each result is appended to the results file immediately, and a run skips
results that the file has. pages.py shows them.
"""

import argparse
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from peers.report import append, conditions, read, table

RESULTS = Path(__file__).resolve().parent / "results" / "regimes.jsonl"
N_NEW = 3000
PACKAGES = ("cwboost", "LightGBM", "CatBoost", "class shares")


def labels_of(p, rng):
    """Draw a label for each row of probabilities."""
    return (rng.random(len(p))[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


def cells(n, rng, shape, n_classes, clear=0):
    """Rows that repeat the cells of a table, each with label frequencies of its own."""
    number = int(np.prod(shape))
    drawn = np.random.default_rng(7).dirichlet([0.5] * n_classes, size=number)
    p = np.eye(n_classes)[drawn.argmax(axis=1)] if clear else drawn
    at = rng.integers(number, size=n)
    return np.stack(np.unravel_index(at, shape), axis=1).astype(float), labels_of(p[at], rng)


def squares(n, rng, side, n_classes, noise=0.0):
    """Boxes in turn: no feature says anything alone."""
    X = rng.random((n, n_classes))
    y = np.floor(side * X).sum(axis=1).astype(int) % n_classes
    return X, np.where(rng.random(n) < noise, rng.integers(n_classes, size=n), y)


def rare(n, rng, n_rare, n_train):
    """A class with a few rows among those of training, and features that say nothing."""
    y = (np.arange(n) < n_rare).astype(int) if n == n_train else rng.random(n) < n_rare / n_train
    return rng.normal(size=(n, 10)), y.astype(int)


def few_of_each(n, rng, n_classes, n_train):
    """Many classes with as many rows each, and features that say nothing."""
    y = np.arange(n) % n_classes if n == n_train else rng.integers(n_classes, size=n)
    return rng.normal(size=(n, 10)), y


def smooth(n, rng, n_classes=2, spread=1.0):
    """Classes around a direction each, of more or less overlap."""
    X = rng.normal(size=(n, 6))
    scores = X[:, :n_classes] + spread * rng.normal(size=(n, n_classes))
    return X, scores.argmax(axis=1)


REGIMES = {
    "repeated rows, 60 levels": (3000, partial(cells, shape=(60,), n_classes=2)),
    "repeated rows, 12 x 12": (5000, partial(cells, shape=(12, 12), n_classes=2)),
    "repeated rows, 7 x 7 x 7": (6000, partial(cells, shape=(7, 7, 7), n_classes=3, clear=1)),
    "plateau, 4 x 4 squares": (2000, partial(squares, side=4, n_classes=2)),
    "plateau, 3 x 3 x 3 boxes, noise": (3000, partial(squares, side=3, n_classes=3, noise=0.1)),
    "2 rare rows of 30": (30, partial(rare, n_rare=2, n_train=30)),
    "2 rare rows of 400": (400, partial(rare, n_rare=2, n_train=400)),
    "50 classes of 2 rows": (100, partial(few_of_each, n_classes=50, n_train=100)),
    "noise, 100 rows": (100, partial(few_of_each, n_classes=2, n_train=100)),
    "noise, 300 rows": (300, partial(few_of_each, n_classes=3, n_train=300)),
    "30 rows": (30, smooth),
    "100 rows": (100, smooth),
    "300 rows": (300, partial(smooth, n_classes=3)),
    "300 rows, little overlap": (300, partial(smooth, n_classes=3, spread=0.2)),
}  # fmt: skip
"""Training rows, and the function that draws rows and labels of a regime."""


def classifiers(seed):
    """Return the default of each package, by its name."""
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier
    from sklearn.dummy import DummyClassifier

    from cwboost import CWBoostClassifier

    return {
        "cwboost": CWBoostClassifier(random_state=seed, n_jobs=1),
        "LightGBM": LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1),
        "CatBoost": CatBoostClassifier(
            random_seed=seed, thread_count=1, verbose=0, allow_writing_files=False
        ),
        "class shares": DummyClassifier(strategy="prior"),
    }


def losses(regime, seed):
    """Return the log loss of each package on new rows."""
    n, draw = REGIMES[regime]
    rng = np.random.default_rng(seed)
    (X, y), (X_new, y_new) = draw(n, rng), draw(N_NEW, rng)
    known, found = np.unique(y), {}
    for name, model in classifiers(seed).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            p = model.fit(X, y).predict_proba(X_new)
        own = p[np.arange(N_NEW), np.searchsorted(known, y_new)]
        found[name] = float(-np.log(np.maximum(own, 1e-15)).mean())
    return found


def report(records):
    """Return the table of mean log losses, and of that of cwboost over the least."""
    rows, ratios = [], []
    for regime in REGIMES:
        own = [r["losses"] for r in records if r["regime"] == regime]
        if not own:
            continue
        means = {name: np.mean([one[name] for one in own]) for name in PACKAGES}
        ratios.append(means["cwboost"] / min(means.values()))
        cells_of = [f"{means[name]:.3f}" for name in PACKAGES]
        rows.append([regime, f"{REGIMES[regime][0]:,}", *cells_of, f"{ratios[-1]:.2f}"])
    n_seeds = len({r["seed"] for r in records})
    within = sum(ratio <= 1.1 for ratio in ratios)
    return (
        f"Within 1.1 of the least in {within} of {len(rows)} regimes, {n_seeds} of each drawn.\n\n"
        + table(["regime", "rows", *PACKAGES, "cwboost over the least"], rows)
        + f"\n\n{conditions(records)}."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    done = {(r["regime"], r["seed"]) for r in read(args.results)}
    for seed in range(args.seeds):
        for regime in REGIMES:
            if (regime, seed) not in done:
                found = {"regime": regime, "seed": seed, "losses": losses(regime, seed)}
                found = append(args.results, found, "cwboost", "lightgbm", "catboost")
                print(found, flush=True)
    print(report(read(args.results)))


if __name__ == "__main__":
    main()
