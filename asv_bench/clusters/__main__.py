"""Training on a cluster of two processes, against lightgbm.dask, xgboost.dask and one process.

    python -m pip install -r asv_bench/requirements-peers.txt "cwboost[dask]"
    python asv_bench/clusters --data FOLDER [--groups stumps trees] [--write]

FOLDER holds PENDIGITS.npz and MNIST.npz as for asv_bench/peers. The fits of a group alternate, on
one `LocalCluster` of two workers with one thread each; a ratio is that of medians. Every fit is
appended to the results file as soon as it ends, and the table is made of all fits in the file that
have the same --rounds and --scale, so that a run may be stopped, and made in pieces. --write puts
the table into docs/scaling.md. Beside the wall time stands the processor time of all processes,
which other programs disturb less; --cpu compares it.
"""

import argparse
import copy
import datetime
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

from fits import SEED  # noqa: F401  (puts asv_bench/peers on the path)
from groups import GROUPS
from report import machine, number, table

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"
BEGIN, END = "<!-- clusters: begin -->", "<!-- clusters: end -->"
HEAD = ["measure", "goal", "found", "", "medians: wall (processor)"]


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
        return self._median(name, self._clock)

    def detail(self):
        return ", ".join(
            f"{name} {number(self._median(name, 'wall'))} s ({number(self._median(name, 'cpu'))} s)"
            for name in self.fits
        )

    def _median(self, name, key):
        return median(fit[key] for fit in self.fits[name])


def report(run):
    """Return the table of all rows, and a line on the conditions."""
    rows, loads, dates = [], [], set()
    for group, (_, rows_of) in GROUPS.items():
        found = run.found(group)
        rows += rows_of(run, found)
        for fits in found.fits.values():
            loads += [fit["load"] for fit in fits]
            dates |= {fit["date"] for fit in fits}
    if not rows:
        return "No row is complete."
    versions = ", ".join(
        f"{name} {version(name)}" for name in ("cwboost", "lightgbm", "xgboost", "distributed")
    )
    clock = "processor" if run.clock == "cpu" else "wall"
    met = sum(row.met for row in rows)
    return (
        f"{table(HEAD, [row.cells() for row in rows])}\n\n"
        f"{met} of {len(rows)} rows met, by {clock} time. {', '.join(sorted(dates))}; {machine()}; "
        f"{versions}; load average {number(min(loads))} to {number(max(loads))}, of which these "
        "fits make two."
    )


def write(text):
    """Replace the text between the two markers of the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{PAGE.name} lacks the markers {BEGIN} and {END}")
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=".", help="folder of the .npz files")
    parser.add_argument("--groups", nargs="*", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--fits", nargs="*", help="only fits whose name contains one of these")
    parser.add_argument("--results", type=Path, default=Path("clusters.jsonl"))
    parser.add_argument("--write", action="store_true", help="put the table into docs/scaling.md")
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
    text = report(run)
    print(text)
    print(f"{perf_counter() - start:.0f} s")
    if options.write:
        write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
