"""Training on a cluster of two processes, against lightgbm.dask, xgboost.dask and one process.

    python -m pip install -r asv_bench/requirements-peers.txt "cwboost[dask]"
    python asv_bench/clusters --data FOLDER [--groups stumps trees] [--record]

FOLDER holds PENDIGITS.npz and MNIST.npz as for asv_bench/peers. The fits of a group alternate, on
one `LocalCluster` of two workers with one thread each; a ratio is that of medians. Every fit is
appended to the file of fits as soon as it ends, and rows are made of all fits in the file that have
the same --rounds and --scale, so that a run may be stopped, and made in pieces. --record appends
the rows to asv_bench/results, which pages.py shows. Beside the wall time stands the processor time
of all processes, which other programs disturb less; --cpu compares it.
"""

import argparse
import copy
import datetime
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from statistics import median
from time import perf_counter

from fits import SEED  # noqa: F401  (puts asv_bench/peers on the path)
from groups import GROUPS
from report import append, number

from cwboost import show_config

RESULTS = Path(__file__).parents[1] / "results" / "clusters.jsonl"
PACKAGES = ("cwboost", "lightgbm", "xgboost", "distributed")


class Run:
    """Settings of this run, and the file of its results."""

    def __init__(self, options):
        self.data, self.repeats, self.budget = options.data, options.repeats, options.budget
        self.results, self.clock = options.results, "cpu" if options.cpu else "wall"
        self._names = options.fits
        self._size = {"rounds": options.rounds, "scale": options.scale}

    def rounds(self, n):
        return max(2, round(n * self._size["rounds"]))

    def scaled(self, n):
        return round(n * self._size["scale"])

    def wants(self, name):
        return not self._names or any(part in name for part in self._names)

    def once(self):
        """Return these settings with one turn."""
        other = copy.copy(self)
        other.repeats = 1
        return other

    def append(self, group, name, **measured):
        """Append one result to the file."""
        record = {"group": group, "fit": name, **self._size, **measured}
        record["load"] = os.getloadavg()[0]
        record["date"] = datetime.date.today().isoformat()
        with self.results.open("a") as file:
            file.write(json.dumps(record) + "\n")
        own = ", ".join(f"{key} {number(value)}" for key, value in measured.items())
        print(f"{group}: {name}: {own}", flush=True)

    def found(self, group):
        """Return the results of a group in the file, of the sizes of this run."""
        lines = self.results.read_text().splitlines() if self.results.exists() else []
        records = [json.loads(line) for line in lines]
        return Found([r for r in records if r["group"] == group and self._is_own(r)], self.clock)

    def _is_own(self, record):
        return all(record[name] == value for name, value in self._size.items())


class Found:
    """Results by the name of the fit."""

    def __init__(self, records, clock):
        self.fits, self._clock = {}, clock
        for record in records:
            self.fits.setdefault(record["fit"], []).append(record)

    def has(self, *names):
        return all(name in self.fits for name in names)

    def seconds(self, name):
        return self.median(name, self._clock)

    def detail(self):
        return ", ".join(
            f"{name} {number(self.median(name, 'wall'))} s ({number(self.median(name, 'cpu'))} s)"
            for name in self.fits
        )

    def of(self, start):
        """Return the results of the fits whose names begin so, without this beginning."""
        own = copy.copy(self)
        own.fits = {k.removeprefix(start): v for k, v in self.fits.items() if k.startswith(start)}
        return own

    def median(self, name, key):
        return median(fit[key] for fit in self.fits[name])


def record(run):
    """Append the rows of all finished groups to the results."""
    for group, (_, rows_of) in GROUPS.items():
        found = run.found(group)
        loads = [fit["load"] for fits in found.fits.values() for fit in fits]
        for row in rows_of(run, found):
            known = {"clock": run.clock, "loads": [min(loads), max(loads)], "threads": 1}
            known["instruction_set"] = show_config()["instruction_set"]
            append(RESULTS, {"group": group, "row": asdict(row), **known}, *PACKAGES)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=".", help="folder of the .npz files")
    parser.add_argument("--groups", nargs="*", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--fits", nargs="*", help="only fits whose name contains one of these")
    parser.add_argument("--results", type=Path, default=Path("clusters.jsonl"))
    parser.add_argument("--record", action="store_true", help="append the rows to the results")
    parser.add_argument("--repeats", type=int, default=3, help="turns per median")
    parser.add_argument(
        "--budget", type=float, default=240.0, help="seconds per group after which no turn begins"
    )
    parser.add_argument("--rounds", type=float, default=1.0, help="factor of the numbers of rounds")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the numbers of rows")
    parser.add_argument("--cpu", action="store_true", help="compare processor time")
    options = parser.parse_args()
    run, start = Run(options), perf_counter()
    for group in options.groups:
        GROUPS[group][0](run)
    for group in GROUPS:
        for row in GROUPS[group][1](run, run.found(group)):
            print(" | ".join(row.cells()))
    print(f"{perf_counter() - start:.0f} s")
    if options.record:
        record(run)
    return 0


if __name__ == "__main__":
    sys.exit(main())
