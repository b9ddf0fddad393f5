"""One revision's part in ``compare.py``: counts, and the time of one call after another.

Reads names of workloads from the standard input, one per line, and answers each with the seconds of
processor time of a call, "counts" with numbers that do not depend on the machine, as JSON. The
package is the one on PYTHONPATH, or the one that is installed.
"""

import json
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from time import process_time

from benchmarks.common import columns
from benchmarks.workloads import WORKLOADS

from cwboost import CWBoostClassifier, solve_master
from cwboost.datasets import load_pendigits

TURN = 0.03


def counts():
    """Return numbers by name that a change of the code alone can change."""
    H, y = columns(1_000, 6, 20)
    found = {}
    for epsilon in (0.1, 1e-3, 1e-6):
        solved = solve_master(H, y, 1e3, epsilon=epsilon, max_working_sets=10_000, random_state=0)
        found[f"updates to {epsilon:g}"] = solved.n_updates
    X, y = load_pendigits(return_X_y=True)
    model = CWBoostClassifier(random_state=0, n_jobs=1).fit(X[:400], y[:400])
    found["rounds of the default"] = model.n_iter_
    trees = model.ensemble_.learners.flat_form()
    found["nodes of the default"] = len(trees.feature)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.cwb")
        model.save(path)
        # Before compression, which shortens the times in the history by chance.
        members = zipfile.ZipFile(path).infolist()
        found["bytes of the default"] = sum(member.file_size for member in members)
    found["test errors of the default"] = int((model.predict(X[-2_000:]) != y[-2_000:]).sum())
    return found


class Stopwatch:
    """A meter of processor time."""

    def __enter__(self):
        self.start = process_time()

    def __exit__(self, *error):
        self.seconds += process_time() - self.start

    def time(self, work):
        """Return the seconds of one call of a workload."""
        self.seconds = 0.0
        work(self)
        return self.seconds


def shortest(work):
    """Return the seconds of the shortest call, of as many as fit into `TURN` seconds."""
    watch, times, end = Stopwatch(), [], process_time() + TURN
    while not times or process_time() < end:
        times.append(watch.time(work))
    return min(times)


def main():
    warnings.simplefilter("ignore")
    ready = {}
    for line in sys.stdin:
        name = line.strip()
        try:
            if name == "counts":
                answer = counts()
            else:
                if name not in ready:
                    ready[name] = WORKLOADS[name]()
                    shortest(ready[name])
                answer = shortest(ready[name])
        except Exception as error:  # an old revision may lack what is asked for
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
