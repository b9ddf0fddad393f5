"""Comparison of cwboost with other packages: record and print the rows of goals.

    python -m pip install -r asv_bench/requirements-peers.txt
    python asv_bench/peers --data FOLDER
    CWBOOST_INSTRUCTION_SET=avx2 python asv_bench/peers --data FOLDER --groups stumps

FOLDER holds one .npz file per data set (``X_train``, ``y_train``, ``X_test``, ``y_test`` or ``X``,
``y``): VOWEL, PENDIGITS, MNIST, ISOLET, USPS, MFEAT. Times are processor times on one thread; in
the rows of two threads, of the wall.
"""

import argparse
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import rows_fit
import rows_scaling
import rows_serving
import rows_solver
from data import blobs
from models import warm_up
from report import PACKAGES, append, goals, read
from threadpoolctl import threadpool_limits

from cwboost import show_config

RESULTS = Path(__file__).resolve().parents[1] / "results" / "speed.jsonl"
GROUPS = {
    "stumps": rows_fit.stumps,
    "solver": rows_solver.against_lbfgsb,
    "update": rows_solver.coordinate_update,
    "classes": rows_scaling.classes,
    "threads": rows_scaling.threads,
    "memory": rows_scaling.memory,
    "many classes": rows_serving.many_classes,
    "large memory": rows_serving.large_memory,
    "one row": rows_serving.one_row,
}


@dataclass
class Run:
    """Settings of this run for the groups of rows."""

    data: str
    repeats: int
    budget: float
    quick: bool
    only: list

    def rounds(self, n):
        return max(10, n // 20) if self.quick else n

    def names(self, names):
        return [name for name in names if not self.only or name in self.only]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of the .npz files")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rounds, one turn")
    parser.add_argument("--groups", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--only", nargs="+", default=[], help="data sets to run")
    parser.add_argument("--repeats", type=int, default=5, help="turns per median")
    parser.add_argument("--budget", type=float, default=100.0, help="seconds after which turns end")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file, continued if present")
    options = parser.parse_args()
    if options.quick and options.results == RESULTS:
        parser.error("--quick needs --results: the pages show full runs only")
    run = Run(
        options.data, 1 if options.quick else options.repeats, options.budget, options.quick,
        options.only,
    )  # fmt: skip
    warm_up(*blobs(300, 4, 3))
    chosen = show_config()["instruction_set"]
    own = [r for r in read(options.results) if r["instruction_set"] == chosen]
    for group in options.groups:
        if any(record["group"] == group for record in own):
            continue
        for row in list(GROUPS[group](run)):
            record = {"group": group, "row": asdict(row), "instruction_set": chosen, "threads": 1}
            append(options.results, record, *PACKAGES)
            print(" | ".join(row.cells()), flush=True)
    print(goals(read(options.results)))
    return 0


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
