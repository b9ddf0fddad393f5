"""The tables: methods, errors by round, compactness, sparsity, solvers."""

from __future__ import annotations

import numpy as np

from cwboost.experiments.protocols import PROTOCOLS
from cwboost.experiments.reporting.summary import (
    Curve,
    error_differences,
    excess_over_reference,
    rounds_to_reach,
    solver_ratios,
)

__all__ = ["method_tables", "solver_tables"]

ABSENT = "not run: data absent"
AT_ROUNDS = (10, 25, 50, 100, 200, 500)
AT_ROUNDS_OF_PASSES = (10, 20, 40, 100)


def method_tables(plan, gathered, absent) -> dict[str, str]:
    """Return the tables of the plan's methods by name; "methods" names the absent data."""
    pairs = [
        (protocol.name, method.name)
        for protocol in plan.protocols()
        for method in plan.methods_of(protocol)
        if method.name in gathered.get(protocol.name, {})
    ]
    curves = [(name, method, gathered[name][method]) for name, method in pairs]
    missing = [
        [protocol.name, ABSENT]
        for protocol in plan.protocols()
        if protocol.name not in gathered and protocol.name in absent
    ]
    if not (curves or missing):
        return {}
    header = "data", "method", "test error %", "rounds", "training s", "in the solver s"
    header += ("rest per round ms", "C", "choice of C s", "runs")
    tables = {"methods": _table(header, [_method_row(*one) for one in curves] + missing)}
    if curves:
        header = ("data", "method", *(f"{n}" for n in AT_ROUNDS), "runs")
        tables["rounds"] = _table(header, [_error_row(*one) for one in curves])
    paired = [
        _paired_row(name, method, curve, gathered[name]["CW"])
        for name, method, curve in curves
        if method != "CW" and "CW" in gathered[name]
    ]
    if paired:
        header = ("data", "CW less", *(f"{n}" for n in AT_ROUNDS), "lower at the end", "runs")
        tables["paired"] = _table(header, paired)
    compact = [
        _compact_row(name, method, curve, gathered[name]["MultiBoost"])
        for name, method, curve in curves
        if "MultiBoost" in gathered[name]
    ]
    if compact:
        header = "data", "method", "rounds", "weak learners", "non-zero coefficients"
        header += ("training s", "over MultiBoost's", "MultiBoost's error %", "runs")
        tables["compact"] = _table(header, compact)
        sparse = [_sparse_row(*one) for one in curves if one[1] == "MultiBoost"]
        grid = next(c for _, m, c in curves if m == "MultiBoost").records[0]["selection_nonzero"]
        header = ("data", *(f"C = {C}" for C in grid), "chosen C, last round", "runs")
        tables["sparse"] = _table(header, sparse)
    return tables


def solver_tables(gathered, absent) -> dict[str, str]:
    """Return the tables of the solver study by name."""
    finals = [[name.split()[0], ABSENT] for name in absent if "(solver)" in name]
    passes = []
    for name in PROTOCOLS:
        curves = gathered.get(name, {})
        ratios, excesses = solver_ratios(curves), excess_over_reference(curves, "FCD-20")
        for solver, curve in curves.items():
            finals.append(_solver_row(name, solver, curve, ratios.get(solver, {})))
            if solver in excesses:
                at = [_at(excesses[solver], n) for n in AT_ROUNDS_OF_PASSES]
                cells = [_or_dash(100 * value, "+.1f") for value in at]
                passes.append([name, solver, *cells, str(curve.n_runs)])
    header = "data", "solver", "rounds", "objective", "over L-BFGS-B's", "solver s"
    header += ("over L-BFGS-B's", "to its objective within 0.1%", "test error %", "runs")
    tables = {"solvers": _table(header, finals)}
    if passes:
        header = ("data", "solver", *(f"round {n}" for n in AT_ROUNDS_OF_PASSES), "runs")
        tables["passes"] = _table(header, passes)
    return tables


def _method_row(name, method, curve: Curve) -> list[str]:
    seconds = [sum(r["selection_seconds"].values()) for r in curve.records if "C" in r]
    spent, in_solver = curve.last("cpu_seconds"), curve.last("solver_cpu_seconds")
    return [
        name,
        method,
        _mean(100 * curve.last("test_error"), 2),
        _range(curve.rounds) + ("*" if curve.stopped else ""),
        _mean(spent, 2),
        _mean(in_solver, 2),
        _mean(1e3 * (spent - in_solver) / curve.rounds, 1),
        " ".join(f"{C:.0e}".replace("e+0", "e") for C in curve.C) or "-",
        _mean(np.array(seconds), 2) if seconds else "-",
        str(curve.n_runs),
    ]


def _error_row(name, method, curve: Curve) -> list[str]:
    errors = 100 * curve.mean("test_error")
    # A run that ended by itself before a round keeps its model.
    cells = [_or_dash(_at(errors, n, ended=not curve.stopped), ".1f") for n in AT_ROUNDS]
    return [name, method, *cells, str(curve.n_runs)]


def _paired_row(name, method, curve: Curve, cw: Curve) -> list[str]:
    """Return CW's test error less a method's on the same splits, with standard errors."""
    differences = 100 * error_differences(cw, curve, AT_ROUNDS)
    n_runs = len(differences)
    cells = []
    for values in differences.T:
        spread = f" ± {values.std(ddof=1) / n_runs**0.5:.1f}" if n_runs > 1 else ""
        cells.append(f"{values.mean():+.1f}{spread}" if not np.isnan(values).any() else "-")
    n_lower = int(np.count_nonzero(differences[:, -1] < 0))
    return [name, method, *cells, f"{n_lower} of {n_runs}", str(n_runs)]


def _compact_row(name, method, curve: Curve, multiboost: Curve) -> list[str]:
    target = multiboost.last("test_error").mean()
    n_rounds = rounds_to_reach(curve, target)
    if n_rounds is None:
        cells = ["never", "-", "-", "-", "-"]
    else:
        at = n_rounds - 1
        own = multiboost.mean("cpu_seconds")[rounds_to_reach(multiboost, target) - 1]
        seconds = curve.mean("cpu_seconds")[at]
        cells = [
            str(n_rounds),
            f"{curve.mean('n_learners')[at]:.0f}",
            f"{curve.mean('n_nonzero')[at]:.0f}",
            f"{seconds:.2f}",
            f"{seconds / own:.3g}",
        ]
    return [name, method, *cells, f"{100 * target:.2f}", str(curve.n_runs)]


def _sparse_row(name, method, curve: Curve) -> list[str]:
    records = curve.records
    cells = []
    for C in records[0]["selection_nonzero"]:
        ratios = [r["selection_nonzero"][C] / r["selection_learners"][C] for r in records]
        cells.append(_mean(np.array(ratios), 2))
    last = curve.last("n_nonzero") / curve.last("n_learners")
    return [name, *cells, _mean(last, 2), str(curve.n_runs)]


def _solver_row(name, solver, curve: Curve, ratio) -> list[str]:
    return [
        name,
        solver,
        _range(curve.rounds),
        f"{curve.last('objective').mean():.5g}",
        _or_dash(ratio.get("objective", np.nan), "+.2%"),
        _mean(curve.last("solver_cpu_seconds"), 3),
        _or_dash(ratio.get("seconds", np.nan), ".3g"),
        _or_dash(ratio.get("seconds_to_same", np.nan), ".3g"),
        _mean(100 * curve.last("test_error"), 2),
        str(curve.n_runs),
    ]


def _table(header, rows) -> str:
    """Return a Markdown table; short rows get empty cells."""
    lines = [list(header), ["---"] * len(header), *rows]
    full = [[*line, *[""] * (len(header) - len(line))] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in full)


def _at(values, n_rounds, ended=False) -> float:
    """Return the value after a round, the last one of training that `ended` earlier, or NaN."""
    if n_rounds <= len(values):
        return values[n_rounds - 1]
    return values[-1] if ended else np.nan


def _range(numbers) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def _mean(values, digits):
    if np.isnan(values).any():
        return "-"
    spread = f" ± {values.std(ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{spread}"


def _or_dash(value, form):
    return "-" if np.isnan(value) else format(value, form)
