"""Work of one revision for ``compare.py``: counts, and the time of one call after another.

Reads names of workloads from the standard input, a line each, and answers each with the seconds of
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

import numpy as np
from benchmarks.common import SEED, bound, columns, labelled, weights

from cwboost import CWBoostClassifier, solve_master
from cwboost.datasets import load_pendigits

ROWS = 400
TURN = 0.03


def pendigits():
    return load_pendigits(return_X_y=True)


def default(n_rows=ROWS):
    X, y = pendigits()
    return CWBoostClassifier(random_state=0, n_jobs=1).fit(X[:n_rows], y[:n_rows])


def pricing(family, n_samples):
    X = np.random.default_rng(SEED).normal(size=(n_samples, 20))
    R = weights(labelled(n_samples, 8), 8)
    pricer = bound(family, X, 8)
    return lambda: pricer.price(R)


def solving():
    H, y = columns(1_000, 6, 20)
    return lambda: solve_master(H, y, 1e3, epsilon=1e-6, max_working_sets=10_000, random_state=0)


def fitting():
    X, y = pendigits()
    X, y = X[:ROWS], y[:ROWS]
    return lambda: CWBoostClassifier(
        "tree", init=None, n_estimators=30, random_state=0, n_jobs=1
    ).fit(X, y)


def predicting():
    model, (X, _) = default(), pendigits()
    return lambda: model.decision_function(X[:4_000])


WORKLOADS = {
    "search for stumps": lambda: pricing("stump", 40_000),
    "growing trees": lambda: pricing("tree", 8_000),
    "coordinate descent": solving,
    "fit of trees": fitting,
    "prediction": predicting,
}
"""Functions that prepare a workload and return what is timed."""


def counts():
    """Return numbers by name that a change of the code alone can change."""
    H, y = columns(1_000, 6, 20)
    found = {}
    for epsilon in (0.1, 1e-3, 1e-6):
        solved = solve_master(H, y, 1e3, epsilon=epsilon, max_working_sets=10_000, random_state=0)
        found[f"updates to {epsilon:g}"] = solved.n_updates
    model = default()
    found["rounds of the default"] = model.n_iter_
    trees = model.ensemble_.learners.flat_form()
    found["nodes of the default"] = len(trees.feature)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.cwb")
        model.save(path)
        # Before compression, which shortens the times in the history by chance.
        members = zipfile.ZipFile(path).infolist()
        found["bytes of the default"] = sum(member.file_size for member in members)
    X, y = pendigits()
    found["test errors of the default"] = int((model.predict(X[-2_000:]) != y[-2_000:]).sum())
    return found


def shortest(function):
    """Return the seconds of the shortest call, of as many as fit into `TURN` seconds."""
    times, end = [], process_time() + TURN
    while not times or process_time() < end:
        start = process_time()
        function()
        times.append(process_time() - start)
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
                    ready[name]()
                answer = shortest(ready[name])
        except Exception as error:  # an old revision may lack what is asked for
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
