"""The Markdown table of the experiments."""

from __future__ import annotations

from collections import Counter

import numpy as np

from cwboost.experiments.protocols import PROTOCOLS
from cwboost.experiments.reporting.summary import (
    Curve,
    gather,
    gather_solvers,
    rounds_to_reach,
    solver_ratios,
    time_ratio,
)

__all__ = ["write_report"]

ABSENT = "not run: data absent"
HEADER = (
    "| data | method | test error % | rounds | training s | in the solver s | C | "
    "rounds to MultiBoost's last error | training time over MultiBoost's | runs |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)
SOLVER_HEADER = (
    "| data | solver | objective | over L-BFGS-B's | solver s | over L-BFGS-B's | "
    "to its objective within 0.1% | test error % | runs |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def write_report(plan, absent: dict[str, str]) -> str:
    """Write ``table.md`` in the plan's folder from the results of its settings; return the text.

    Parameters
    ----------
    plan : Plan
    absent : dict of str
        Message per protocol without data.
    """
    records = plan.records.read()
    gathered, solvers = gather(records, plan), gather_solvers(records, plan)
    parts = [_settings(plan), *_mixture(gathered, solvers)]
    rows = _rows(plan, gathered, absent)
    if rows:
        parts += [HEADER + "\n" + "\n".join(rows)]
    if "solver" in plan.figures:
        parts += [
            "## Solvers\n",
            SOLVER_HEADER + "\n" + "\n".join(_solver_rows(solvers, absent)),
        ]
    text = "\n\n".join(parts) + "\n"
    plan.out.mkdir(parents=True, exist_ok=True)
    (plan.out / "table.md").write_text(text, encoding="utf-8")
    return text


def _settings(plan):
    return (
        f"# Reproduction\n\n{plan.runs} runs, {plan.rounds} rounds, weak learner "
        f"{plan.weak_learner}, {plan.n_jobs} thread(s). Mean and standard deviation over the runs. "
        "Times are seconds of processor time; the solver's is its fraction of each round. C is "
        f"chosen after {min(plan.selection_rounds, plan.rounds)} rounds by the error on a quarter "
        f"of the training part. Stopped by a time limit (marked *): {_limits(plan)}."
    )


def _limits(plan):
    limits = f"AdaBoost.MO at {plan.seconds:g} s"
    if plan.budget is None:
        return limits
    return f"{limits}, every training and every choice of C at {plan.budget:g} s"


def _mixture(*gathered):
    """Return a warning if the table mixes results of several states of the code."""
    states = Counter(
        f"{record['version']} ({record.get('code', 'code unknown')})"
        for curves in gathered
        for by_name in curves.values()
        for curve in by_name.values()
        for record in curve.records
    )
    if len(states) < 2:
        return []
    counts = ", ".join(f"{state}: {count} runs" for state, count in states.items())
    return [f"**Warning: results of {len(states)} states of the code are mixed.** {counts}."]


def _rows(plan, gathered, absent):
    rows = []
    for protocol in plan.protocols():
        curves = gathered.get(protocol.name, {})
        if not curves and protocol.name in absent:
            rows.append(f"| {protocol.name} | {ABSENT} |" + " |" * 8)
        for method in plan.methods_of(protocol):
            if method in curves:
                rows.append(_row(protocol.name, method, curves[method], curves.get("MultiBoost")))
    return rows


def _row(name, method, curve: Curve, multiboost):
    solver = curve.solver_seconds[:, -1]
    reach = ratio = "-"
    if multiboost is not None and method != "MultiBoost":
        reached = rounds_to_reach(curve, multiboost)
        reach = "never" if reached is None else str(reached)
        ratio = f"{time_ratio(curve, multiboost):.3g}"
    cells = (
        name,
        method,
        _mean(100 * curve.test_error[:, -1], 2),
        f"{curve.rounds_done}{'*' if curve.stopped else ''}",
        _mean(curve.training_seconds[:, -1], 2),
        _mean(solver, 2),
        " ".join(f"{C:g}" for C in curve.C) or "-",
        reach,
        ratio,
        str(curve.n_runs),
    )
    return "| " + " | ".join(cells) + " |"


def _solver_rows(gathered, absent):
    rows = [f"| {name.split()[0]} | {ABSENT} |" + " |" * 7 for name in absent if "(solver)" in name]
    for name in PROTOCOLS:
        curves = gathered.get(name, {})
        ratios = solver_ratios(curves)
        for solver, curve in curves.items():
            ratio = ratios.get(
                solver, dict.fromkeys(("objective", "seconds", "seconds_to_same"), np.nan)
            )
            cells = (
                name,
                f"{solver}{'*' if curve.stopped else ''}",
                f"{curve.objective.mean(axis=0)[-1]:.5g}",
                _or_dash(ratio["objective"], "+.2%"),
                _mean(curve.solver_seconds[:, -1], 3),
                _or_dash(ratio["seconds"], ".3g"),
                _or_dash(ratio["seconds_to_same"], ".3g"),
                _mean(100 * curve.test_error[:, -1], 2),
                str(curve.n_runs),
            )
            rows.append("| " + " | ".join(cells) + " |")
    return rows


def _mean(values, digits):
    if np.isnan(values).any():
        return "-"
    spread = f" ± {values.std(ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{spread}"


def _or_dash(value, form):
    return "-" if np.isnan(value) else format(value, form)
