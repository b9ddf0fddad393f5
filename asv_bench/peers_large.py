"""Test errors, log losses and times of the defaults on larger data.

    python asv_bench/peers_large.py [--sets "A;B"] [--models "A;B"] [--results FILE]

One split of each set, three quarters of it for training, and one thread. Each result is appended to
the results file immediately, and a run skips results that the file has. pages.py shows them.
Needs the packages of requirements-peers.txt.
"""

import argparse
from pathlib import Path

from peers import large
from peers.error_tables import Rows, by_set
from peers.report import conditions, read
from peers_error import RESULTS, measure
from sklearn.model_selection import train_test_split

NAMES = ["cwboost", "LightGBM", "XGBoost", "HistGradientBoosting"]


def split(name, seed):
    """Return training and test parts."""
    X, y = large.load(name)
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)


def report(found):
    """Return the tables."""
    rows = Rows(found, large.names(), NAMES)
    parts = []
    for title, kind, form in (
        ("Test error in percent", "error", "%.2f"),
        ("Log loss", "log_loss", "%.3f"),
        ("Processor seconds of a fit on one thread", "seconds", "%.1f"),
    ):
        lines = by_set(rows, kind, form)
        parts += [f"{title}, the lowest of a line in bold:", "", lines, ""]
    return "\n".join([*parts, f"{conditions(found)}."])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", help="names separated by semicolons; default: all")
    parser.add_argument("--models", help="names separated by semicolons")
    parser.add_argument("--results", type=Path, default=RESULTS / "large.jsonl")
    options = parser.parse_args()
    models = options.models.split(";") if options.models else NAMES
    sets = options.sets.split(";") if options.sets else large.names()
    measure(split, sets, models, 1, options.results)
    print(report(read(options.results)))


if __name__ == "__main__":
    main()
