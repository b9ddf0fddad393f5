"""Results gathered by protocol and method: mean curves, final figures, ratios."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Curve", "gather", "gather_solvers", "rounds_to_reach", "solver_ratios", "time_ratio"]


@dataclass(frozen=True)
class Curve:
    """The runs of one method on one protocol, one row per run.

    A run that ended early (by a time limit, or because no column was left) keeps its last error
    for the remaining rounds, as its model would; its times end there.
    """

    records: tuple[dict, ...]

    @property
    def n_runs(self) -> int:
        return len(self.records)

    @property
    def rounds_done(self) -> int:
        """Number of rounds of the shortest run."""
        return min(record["rounds"] for record in self.records)

    @property
    def stopped(self) -> bool:
        """True if a time limit stopped a run."""
        return any(record["stopped"] for record in self.records)

    @property
    def test_error(self) -> np.ndarray:
        """Test error, shape (n_runs, n_rounds)."""
        return self._rows("test_error")

    @property
    def objective(self) -> np.ndarray:
        """Objective, shape (n_runs, n_rounds)."""
        return self._rows("objective")

    @property
    def training_seconds(self) -> np.ndarray:
        """Processor time of training so far, one row per run."""
        return self._rows("cpu_seconds")

    @property
    def solver_seconds(self) -> np.ndarray:
        """The part of `training_seconds` spent in the solver, by its fraction of each round."""
        return self._rows("solver_cpu_seconds")

    @property
    def C(self) -> list[float]:
        """The chosen value per run; empty if the method chooses none."""
        return [record["C"] for record in self.records if "C" in record]

    def _rows(self, name) -> np.ndarray:
        length = max(record["rounds"] for record in self.records)
        rows = np.full((self.n_runs, length), np.nan)
        for row, record in zip(rows, self.records):
            values = _values(record, name)
            row[: len(values)] = values
            row[len(values) :] = values[-1]
        return rows


def _values(record, name) -> np.ndarray:
    if name == "solver_cpu_seconds":
        solver = np.array(record["solver_seconds"])
        timed = solver + np.array(record["pricing_seconds"])
        spent = np.diff(record["cpu_seconds"], prepend=0.0)
        return np.cumsum(spent * solver / np.maximum(timed, 1e-12))
    return np.array(record[name], dtype=np.float64)


def gather(records, plan=None) -> dict[str, dict[str, Curve]]:
    """Return curves by protocol and method, for the plan's settings (all runs without a plan)."""
    return _gather(records, "run", "method", plan)


def gather_solvers(records, plan=None) -> dict[str, dict[str, Curve]]:
    """Return the curves of the solver study by protocol and solver."""
    return _gather(records, "solver", "solver", plan)


def _gather(records, kind, label, plan):
    found = {}
    for record in records:
        key = record["key"]
        if key["kind"] == kind and (plan is None or _is_of(plan, key)):
            runs = found.setdefault(key["protocol"], {}).setdefault(key[label], {})
            runs[key["run"]] = record
    return {
        protocol: {
            name: Curve(tuple(runs[run] for run in sorted(runs))) for name, runs in by_name.items()
        }
        for protocol, by_name in found.items()
    }


def _is_of(plan, key) -> bool:
    settings = {
        "rounds": plan.rounds,
        "selection_rounds": plan.selection_rounds,
        "seed": plan.seed,
        "n_jobs": plan.n_jobs,
        "weak_learner": plan.weak_learner,
    }
    return key["run"] < plan.runs and all(
        key.get(name) in (None, value) for name, value in settings.items()
    )


def rounds_to_reach(curve: Curve, other: Curve) -> int | None:
    """Return the first round at which `curve` is at most the final mean test error of `other`."""
    target = other.test_error[:, -1].mean()
    # Means of equal counts can differ in the last bit.
    reached = np.flatnonzero(curve.test_error.mean(axis=0) <= target + 1e-12)
    return int(reached[0]) + 1 if reached.size else None


def time_ratio(curve: Curve, other: Curve) -> float:
    """Return the mean training time of `curve` over that of `other`, to the last rounds."""
    return float(curve.training_seconds[:, -1].mean() / other.training_seconds[:, -1].mean())


def solver_ratios(curves: dict[str, Curve]) -> dict[str, dict[str, float]]:
    """Compare each solver with L-BFGS-B at the last round.

    Returns
    -------
    dict by solver of dicts
        ``objective``: relative difference of the mean objective from that of L-BFGS-B;
        ``seconds``: ratio of the mean solver times over all rounds;
        ``seconds_to_same``: the same ratio, with the solver's time only up to the first round at
        which its mean objective is at most 1.001 times the last one of L-BFGS-B (NaN if it never
        is).
    """
    if "L-BFGS-B" not in curves:
        return {}
    reference = curves["L-BFGS-B"]
    target = reference.objective.mean(axis=0)[-1]
    seconds = reference.solver_seconds.mean(axis=0)[-1]
    ratios = {}
    for name, curve in curves.items():
        objective = curve.objective.mean(axis=0)
        spent = curve.solver_seconds.mean(axis=0)
        reached = np.flatnonzero(objective <= 1.001 * target)
        ratios[name] = {
            "objective": float(objective[-1] / target - 1),
            "seconds": float(spent[-1] / seconds),
            "seconds_to_same": float(spent[reached[0]] / seconds) if reached.size else np.nan,
        }
    return ratios
