"""Results as tables of pandas: a row per data set, method and run, a column per round."""

import numpy as np
import pandas as pd

GROUP = ["data", "method"]


class Results:
    """The results of a study, of its methods or of its solvers (`kind` "solver")."""

    def __init__(self, study, kind: str = "run"):
        self._n_rounds = study.rounds
        cells = {
            (protocol.name, method.name, run): record
            for protocol in study.protocols(kind)
            for method in study.methods_of(protocol, kind)
            for run in range(study.runs)
            if (record := study.record(study.key(protocol, method, run)))
        }
        rows = pd.MultiIndex.from_tuples(cells, names=[*GROUP, "run"]) if cells else []
        self.runs = pd.DataFrame(list(cells.values()), index=rows)  # one row per record

    def at(self, name: str) -> pd.DataFrame:
        """Return a number per run and round.

        A run that the time limit cut has NaN for the rounds that it lacks; one that ended because
        no weak learner was left keeps its last number, as its model would.
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
    # The part of "cpu_seconds" spent in the solver, by its fraction of the wall time of each round,
    # of which the first has the binding of the data before it.
    spent, passed = (np.diff(run[name], prepend=0.0) for name in ("cpu_seconds", "seconds"))
    return np.cumsum(spent * np.array(run["solver_seconds"]) / np.maximum(passed, 1e-12))


def mean(values):
    """Return the means over the runs, NaN where a run has no number."""
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
