"""Results gathered by protocol and method: mean curves, final figures, ratios of the claims."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Curve", "gather", "gather_solvers", "rounds_to_reach", "solver_ratios", "time_ratio"]


@dataclass(frozen=True)
class Curve:
    """The runs of one method on one protocol, one row a run.

    A run that ended early (by the clock, or because no column was left) keeps its last error to
    the end of the others, as its model would; its times stop there.
    """

    records: tuple[dict, ...]

    @property
    def n_runs(self) -> int:
        return len(self.records)

    @property
    def rounds_done(self) -> int:
        """Rounds of the shortest run."""
        return min(record["rounds"] for record in self.records)

    @property
    def stopped(self) -> bool:
        """Whether a run ended by the clock."""
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
        """Processor time of training so far, a row a run."""
        return self._rows("cpu_seconds")

    @property
    def solver_seconds(self) -> np.ndarray:
        """The part of `training_seconds` spent in the solver, by its share of each round."""
        return self._rows("solver_cpu_seconds")

    @property
    def C(self) -> list[float]:
        """The values chosen, a run each; empty where nothing is chosen."""
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
    """Curves by protocol and method, for the runs of the plan's settings (all without a plan)."""
    return _gather(records, "run", "method", plan)


def gather_solvers(records, plan=None) -> dict[str, dict[str, Curve]]:
    """Curves of the solver study by protocol and solver."""
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
    """Rounds after which the mean test error of `curve` is at most the final one of `other`."""
    target = other.test_error[:, -1].mean()
    # Means of equal counts may differ in their last bit.
    reached = np.flatnonzero(curve.test_error.mean(axis=0) <= target + 1e-12)
    return int(reached[0]) + 1 if reached.size else None


def time_ratio(curve: Curve, other: Curve) -> float:
    """Mean processor time of training of `curve` over that of `other`, both to their last round."""
    return float(curve.training_seconds[:, -1].mean() / other.training_seconds[:, -1].mean())


def solver_ratios(curves: dict[str, Curve]) -> dict[str, dict[str, float]]:
    """Each solver against L-BFGS-B at the last round.

    Returns
    -------
    dict by solver of dicts
        ``objective``: relative difference of the mean objective from that of L-BFGS-B;
        ``seconds``: ratio of the mean solver times to the last round;
        ``seconds_to_same``: the same, but only to the round at which its mean objective is first
        down to 1.001 times the last of L-BFGS-B (NaN where it never is).
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
