"""Compare the installed package with a revision: counts, and times of two processes in turn.

    python asv_bench/compare.py [BASE]

Counts do not depend on the load of the machine: instructions of the workloads, if Valgrind is
installed, and sizes of what a training does. Times are ratios of processor time: two processes,
one per revision, take turns, and the shortest of their calls are compared; new pairs of processes
repeat this, since two processes of one program differ by how their memory lies. The exit status is
1 if a count grew by more than 1%, or a time by more than 5% in the middle one of the pairs, and by
more than 2% in all of them but one.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from statistics import median

from benchmarks.callgrind import NotCounted, instructions
from benchmarks.workloads import WORKLOADS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILDS = ROOT / ".asv" / "compare"

MOST_COUNT = 1.01
MOST_RATIO, LEAST_RATIO = 1.05, 1.02
N_PAIRS, N_TURNS = 5, 8


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("base", nargs="?", default="HEAD^", help="revision (default: HEAD^)")
    options = parser.parse_args()
    base = build(options.base)
    counts, ratios = compare(base, None)
    counts |= compared_instructions(base, None)
    print(report(counts, ratios))
    return 1 if slower(counts, ratios) else 0


def build(revision):
    """Build a revision, unless that is done; return the folder that holds the package."""
    commit = _git("rev-parse", "--verify", f"{revision}^{{commit}}").decode().strip()
    site, source = BUILDS / commit / "site", BUILDS / commit / "source"
    if not site.exists():
        with zipfile.ZipFile(io.BytesIO(_git("archive", "--format=zip", commit))) as archive:
            archive.extractall(source)
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
        subprocess.run([*pip, "--target", str(site), str(source)], check=True)
    return site


class Worker:
    """A process with the package in the folder `site`, or the installed one."""

    def __init__(self, site):
        single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **single, "PYTHONPATH": str(site or ""), "CWBOOST_PLUGINS": "0"},
        )

    def ask(self, name):
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def compare(base, head, workloads=WORKLOADS, n_pairs=N_PAIRS, n_turns=N_TURNS):
    """Return counts as pairs (base, head) by name, and ratios of head over base by workload.

    `base` and `head` are folders that hold the package; None is the installed one. What one of them
    cannot do is left out.
    """
    counts, ratios = {}, {name: [] for name in workloads}
    for pair in range(n_pairs):
        with Worker(base) as first, Worker(head) as second:
            if pair == 0:
                old, new = first.ask("counts"), second.ask("counts")
                if isinstance(old, dict) and isinstance(new, dict):
                    counts = {name: (old[name], new[name]) for name in old if name in new}
                else:
                    print(f"no counts: {old if isinstance(old, str) else new}", file=sys.stderr)
            for name in workloads:
                if (ratio := _ratio(first, second, name, n_turns)) is not None:
                    ratios[name].append(ratio)
    return counts, {name: found for name, found in ratios.items() if found}


def compared_instructions(base, head):
    """Return the instructions of the workloads as pairs (base, head), by name."""
    try:
        old, new = instructions(base), instructions(head)
    except NotCounted as reason:
        print(reason, file=sys.stderr)
        return {}
    return {f"instructions: {name}": (old[name], new[name]) for name in new if name in old}


def _ratio(first, second, name, n_turns):
    """Return the ratio of the shortest calls of two processes that take turns."""
    shortest = {first: float("inf"), second: float("inf")}
    for turn in range(n_turns):
        for worker in (first, second) if turn % 2 else (second, first):
            seconds = worker.ask(name)
            if isinstance(seconds, str):
                print(f"{name}: {seconds}", file=sys.stderr)
                return None
            shortest[worker] = min(shortest[worker], seconds)
    return shortest[second] / shortest[first]


def slower(counts, ratios):
    """Return the names of counts and workloads that grew by more than the limits."""
    grown = [name for name, (old, new) in counts.items() if new > MOST_COUNT * old]
    return grown + [name for name, found in ratios.items() if _is_slower(sorted(found))]


def _is_slower(ratios):
    return median(ratios) > MOST_RATIO and ratios[min(1, len(ratios) - 1)] > LEAST_RATIO


def report(counts, ratios):
    """Return a table of text."""
    flagged = slower(counts, ratios)
    lines = [f"{'':2}{'count':40}{'base':>12}{'head':>12}{'head/base':>12}"]
    for name, (old, new) in counts.items():
        ratio = f"{new / old:.4f}" if old else ""
        lines.append(f"{'!' if name in flagged else '':2}{name:40}{old:>12}{new:>12}{ratio:>12}")
    lines.append(f"{'':2}{'time':40}{'head/base':>12}{'of pairs':>24}")
    for name, found in ratios.items():
        pairs = " ".join(f"{ratio:.3f}" for ratio in sorted(found))
        lines.append(f"{'!' if name in flagged else '':2}{name:40}{median(found):>12.3f}  {pairs}")
    return "\n".join(lines)


def _git(*arguments):
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, stdout=subprocess.PIPE
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
