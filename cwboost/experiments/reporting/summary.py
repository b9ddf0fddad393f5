"""Results as tables of pandas: a row per data set, method and run, a column per round."""

from __future__ import annotations

import numpy as np
import pandas as pd

__all__ = ["GROUP", "Results", "mean", "rounds_to_reach"]

GROUP = ["data", "method"]
CURVES = ("test_error", "objective", "cpu_seconds", "n_nonzero", "n_learners")


class Results:
    """The last results of the plan's settings, of its methods or of the study of solvers.

    Parameters
    ----------
    plan : Plan
    kind : {"run", "solver"}

    Attributes
    ----------
    runs : DataFrame
        The records, with a row for each.
    """

    def __init__(self, plan, kind: str = "run"):
        self._n_rounds = plan.rounds
        latest = {}
        names = {p.name: [m.name for m in plan.methods_of(p, kind)] for p in plan.protocols(kind)}
        for record in plan.records.read():
            key = record["key"]
            if key["kind"] == kind and _is_of(plan, key):
                latest[key["protocol"], key["method"], key["run"]] = record
        index = [
            (data, method, run)
            for data, methods in names.items()
            for method in methods
            for run in range(plan.runs)
            if (data, method, run) in latest
        ]
        rows = pd.MultiIndex.from_tuples(index, names=[*GROUP, "run"]) if index else []
        self.runs = pd.DataFrame([latest[row] for row in index], index=rows)

    def at(self, name: str) -> pd.DataFrame:
        """Return a number per run and round.

        A run that the time limit cut has NaN for the rounds that it lacks. A run that ended because
        no weak learner was left keeps its last number, as its model would. "solver_cpu_seconds" is
        the part of "cpu_seconds" spent in the solver, by its fraction of each round.
        """
        table = np.full((len(self.runs), self._n_rounds), np.nan)
        for row, (_, run) in zip(table, self.runs.iterrows()):
            values = _curve(run, name)
            row[: len(values)] = values
            row[len(values) :] = np.nan if run["stopped"] else values[-1]
        return pd.DataFrame(table, self.runs.index, range(1, self._n_rounds + 1))

    def last(self, name: str) -> pd.Series:
        """Return the number after the last round that each run did."""
        return self.at(name).ffill(axis=1).iloc[:, -1]


def _curve(run, name: str) -> np.ndarray:
    if name != "solver_cpu_seconds":
        return np.array(run[name], dtype=np.float64)
    solver = np.array(run["solver_seconds"])
    timed = solver + np.array(run["pricing_seconds"])
    spent = np.diff(run["cpu_seconds"], prepend=0.0)
    return np.cumsum(spent * solver / np.maximum(timed, 1e-12))


def _is_of(plan, key) -> bool:
    settings = {
        "rounds": plan.rounds,
        "selection_rounds": plan.selection_rounds,
        "seed": plan.seed,
        "n_jobs": plan.n_jobs,
        "weak_learner": plan.weak_learner,
    }
    return all(key.get(name) in (None, value) for name, value in settings.items())


def mean(values):
    """Return the means over the runs, NaN where a run has none."""
    groups = values.groupby(level=GROUP, sort=False)
    complete = groups.count().eq(groups.size(), axis=0)
    return groups.mean().where(complete)


def rounds_to_reach(errors: pd.DataFrame, targets: pd.Series) -> pd.Series:
    """Return the first round at which a mean error is at most the target of its data, or NaN."""
    target = targets.reindex(errors.index.get_level_values("data")).to_numpy()[:, None]
    # Means of equal counts can differ in the last bit.
    reached = errors.to_numpy() <= target + 1e-12
    first = np.where(reached.any(axis=1), errors.columns[reached.argmax(axis=1)], np.nan)
    return pd.Series(first, errors.index)
