"""Comparison of cwboost with other packages: print the table of goals and write the page.

    python -m pip install -r asv_bench/requirements-peers.txt
    python asv_bench/peers --data FOLDER
    CWBOOST_INSTRUCTION_SET=avx2 python asv_bench/peers --data FOLDER --groups stumps trees

FOLDER holds one .npz file per data set (``X_train``, ``y_train``, ``X_test``, ``y_test`` or ``X``,
``y``): VOWEL, PENDIGITS, MNIST, ISOLET, USPS, MFEAT, YALEB, GTSRB_gray32.
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import rows_authors
import rows_fit
import rows_scaling
import rows_solver
from data import blobs
from models import warm_up
from report import Row, page, write

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
GROUPS = {
    "stumps": rows_fit.stumps,
    "trees": rows_fit.trees,
    "solver": rows_solver.against_lbfgsb,
    "update": rows_solver.coordinate_update,
    "classes": rows_scaling.classes,
    "samples": rows_scaling.samples,
    "threads": rows_scaling.threads,
    "memory": rows_scaling.memory,
    "authors": rows_authors.authors,
    "overhead": rows_scaling.overhead,
    "predict": rows_fit.prediction,
}


@dataclass
class Run:
    """Settings of this run for the groups of rows."""

    data: str
    threads: int
    repeats: int
    budget: float
    limit: float
    quick: bool
    only: list
    yardstick: float | None

    def rounds(self, n):
        return max(10, n // 20) if self.quick else n

    def names(self, names):
        return [name for name in names if not self.only or name in self.only]

    def file(self, name):
        return Path(self.data, f"{name}.npz")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of the .npz files")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rounds, one turn")
    parser.add_argument("--groups", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--only", nargs="+", default=[], help="data sets to run")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5, help="turns per median")
    parser.add_argument("--budget", type=float, default=100.0, help="seconds after which turns end")
    parser.add_argument(
        "--limit", type=float, default=120.0,
        help="seconds after which a fit of LightGBM is stopped: the ratio is then a lower bound",
    )  # fmt: skip
    parser.add_argument("--yardstick", type=float, help="see rows_authors.py; microseconds")
    parser.add_argument("--keep", help="JSON file of rows, continued if it exists")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    if options.quick and options.write:
        parser.error("the page is written from a full run only")
    run = Run(
        options.data, options.threads, 1 if options.quick else options.repeats,
        options.budget, options.limit, options.quick, options.only, options.yardstick,
    )  # fmt: skip
    kept = Kept(options.keep)
    warm_up(*blobs(300, 4, 3))
    for group in options.groups:
        kept.add(group, GROUPS[group], run)
    rows = [row for group in GROUPS for row in kept.rows.get(group, [])]
    print(f"{sum(row.met for row in rows)} of {len(rows)} rows met")
    if options.write:
        notes = []
        if set(kept.rows) == set(GROUPS):
            notes = [
                ("Stumps of every package", rows_fit.other_packages(run)),
                ("The authors' code", rows_authors.yardstick_note()),
            ]
        write(PAGE, page(rows, notes, options.threads))
    return 0


class Kept:
    """Rows by group, stored in a file so that an interrupted run loses at most one group."""

    def __init__(self, path):
        self.path = Path(path) if path else None
        self.rows = {}
        if self.path and self.path.exists():
            stored = json.loads(self.path.read_text())
            self.rows = {group: [Row(**row) for row in rows] for group, rows in stored.items()}

    def add(self, group, measure, run):
        if group in self.rows:
            for row in self.rows[group]:
                print(" | ".join(row.cells()))
            return
        rows = []
        for row in measure(run):
            print(" | ".join(row.cells()), flush=True)
            rows.append(row)
        self.rows[group] = rows
        if self.path:
            stored = {name: [asdict(row) for row in rows] for name, rows in self.rows.items()}
            self.path.write_text(json.dumps(stored, indent=1))


if __name__ == "__main__":
    sys.exit(main())
