"""Results gathered by protocol and method: mean curves, final figures, ratios."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = [
    "Curve",
    "error_differences",
    "excess_over_best",
    "excess_over_reference",
    "gather",
    "rounds_to_reach",
    "solver_ratios",
]


@dataclass(frozen=True)
class Curve:
    """The runs of one method on one protocol.

    In `rows`, a run that the time limit cut has NaN for the rounds that it lacks. A run that ended
    because no weak learner was left keeps its last values, as its model would.
    """

    records: tuple[dict, ...]

    @property
    def n_runs(self) -> int:
        return len(self.records)

    @property
    def rounds(self) -> list[int]:
        """Number of rounds of each run."""
        return [record["rounds"] for record in self.records]

    @property
    def stopped(self) -> bool:
        """True if a time limit cut a run."""
        return any(record["stopped"] for record in self.records)

    @property
    def C(self) -> list[float]:
        """The chosen value per run; empty if the method chooses none."""
        return [record["C"] for record in self.records if "C" in record]

    def rows(self, name: str) -> np.ndarray:
        """Return a recorded list per run, shape (n_runs, n_rounds).

        "solver_cpu_seconds" is the part of "cpu_seconds" spent in the solver, by its fraction of
        each round.
        """
        rows = np.full((self.n_runs, max(self.rounds)), np.nan)
        for row, record in zip(rows, self.records):
            values = _values(record, name)
            row[: len(values)] = values
            if not record["stopped"]:
                row[len(values) :] = values[-1]
        return rows

    def mean(self, name: str) -> np.ndarray:
        """Return the mean over the runs per round, NaN from the first cut on."""
        return self.rows(name).mean(axis=0)

    def last(self, name: str) -> np.ndarray:
        """Return the value after the last round that each run did, shape (n_runs,)."""
        return np.array([_values(record, name)[-1] for record in self.records])


def _values(record, name) -> np.ndarray:
    if name == "solver_cpu_seconds":
        solver = np.array(record["solver_seconds"])
        timed = solver + np.array(record["pricing_seconds"])
        spent = np.diff(record["cpu_seconds"], prepend=0.0)
        return np.cumsum(spent * solver / np.maximum(timed, 1e-12))
    return np.array(record[name], dtype=np.float64)


def gather(records, plan, kind="run") -> dict[str, dict[str, Curve]]:
    """Return curves by protocol and method, for the plan's settings and "run" or "solver"."""
    found = {}
    for record in records:
        key = record["key"]
        if key["kind"] == kind and _is_of(plan, key):
            runs = found.setdefault(key["protocol"], {}).setdefault(key["method"], {})
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


def rounds_to_reach(curve: Curve, target: float) -> int | None:
    """Return the first round at which the mean test error of `curve` is at most `target`."""
    # Means of equal counts can differ in the last bit.
    reached = np.flatnonzero(curve.mean("test_error") <= target + 1e-12)
    return int(reached[0]) + 1 if reached.size else None


def error_differences(curve: Curve, other: Curve, rounds) -> np.ndarray:
    """Return the test errors of one method less those of another, on the runs that both have.

    A run that ended by itself before a round keeps its model. One that a time limit cut has NaN.

    Parameters
    ----------
    curve, other : Curve
        Each record has the number of its run in its key.
    rounds : sequence of int

    Returns
    -------
    ndarray of shape (n_common_runs, n_rounds)
    """
    runs = [
        {record["key"]["run"]: _errors_at(record, rounds) for record in one.records}
        for one in (curve, other)
    ]
    common = sorted(runs[0].keys() & runs[1].keys())
    differences = [runs[0][run] - runs[1][run] for run in common]
    return np.array(differences).reshape(len(common), len(rounds))


def _errors_at(record, rounds) -> np.ndarray:
    errors = record["test_error"]
    return np.array(
        [
            np.nan if n > len(errors) and record["stopped"] else errors[min(n, len(errors)) - 1]
            for n in rounds
        ]
    )


def excess_over_best(curves: dict[str, Curve]) -> dict[str, np.ndarray]:
    """Return each solver's relative excess over the lowest objective that any reached, per round.

    The lowest objective is that of the same run, over all solvers and rounds; the result is the
    mean over the runs that all solvers have.
    """
    n_runs = min(curve.n_runs for curve in curves.values())
    rows = {name: curve.rows("objective")[:n_runs] for name, curve in curves.items()}
    best = np.min([np.nanmin(one, axis=1) for one in rows.values()], axis=0)[:, None]
    return {name: (one / best - 1.0).mean(axis=0) for name, one in rows.items()}


def excess_over_reference(curves: dict[str, Curve], reference: str) -> dict[str, np.ndarray]:
    """Return each solver's relative excess over `reference` after the same round, mean of runs."""
    if reference not in curves:
        return {}
    wanted = curves[reference].mean("objective")
    found = {}
    for name, curve in curves.items():
        objective = curve.mean("objective")
        n_rounds = min(len(objective), len(wanted))
        found[name] = objective[:n_rounds] / wanted[:n_rounds] - 1.0
    return found


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
    target = reference.last("objective").mean()
    seconds = reference.last("solver_cpu_seconds").mean()
    ratios = {}
    for name, curve in curves.items():
        objective, spent = curve.mean("objective"), curve.mean("solver_cpu_seconds")
        reached = np.flatnonzero(objective <= 1.001 * target)
        ratios[name] = {
            "objective": float(curve.last("objective").mean() / target - 1),
            "seconds": float(curve.last("solver_cpu_seconds").mean() / seconds),
            "seconds_to_same": float(spent[reached[0]] / seconds) if reached.size else np.nan,
        }
    return ratios
