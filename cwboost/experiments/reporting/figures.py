"""Figures laid out as in the paper: one row per data set; error, training and solver time."""

from __future__ import annotations

from cwboost.experiments.protocols import FIGURES
from cwboost.experiments.reporting.summary import gather, gather_solvers
from cwboost.experiments.solver_study import PRINTED
from cwboost.support.extras import extra

__all__ = ["draw_figures"]

STYLES = {
    "CW": ("#b2182b", "-"),
    "CW-1": ("#ef8a62", "-"),
    "MultiBoost": ("#2166ac", "--"),
    "Ada.ECC": ("#4d9221", "-."),
    "Ada.MH": ("#762a83", ":"),
    "Ada.MO": ("#666666", (0, (5, 1, 1, 1, 1, 1))),
}
SOLVER_COLOURS = {
    "FCD-1": "#fdae6b",
    "FCD-2": "#f16913",
    "FCD-3": "#d94801",
    "FCD-5": "#a63603",
    "FCD-10": "#7f2704",
    "FCD-20": "#3f1302",
    "L-BFGS-B": "#2166ac",
}
# Figures of two panels per data set omit the solver's time, as in the paper.
PANELS = {"uci": 3, "digits": 3, "images": 2, "scenes": 3, "traffic": 2}


def draw_figures(plan) -> list:
    """Draw the plan's figures as PNG and SVG; return the paths.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    with extra("plot", "figures need matplotlib"):
        from matplotlib.figure import Figure
    records = plan.records.read()
    curves, solvers = gather(records, plan), gather_solvers(records, plan)
    paths = []
    for figure in plan.figures:
        if figure == "solver":
            names = list(solvers)
        else:
            names = [name for name in FIGURES[figure] if name in curves]
        if not names:
            continue
        if figure == "solver":
            drawing = _solver_figure(Figure, {name: solvers[name] for name in names})
        else:
            drawing = _rows_figure(Figure, {name: curves[name] for name in names}, PANELS[figure])
        for suffix in ("png", "svg"):
            path = plan.out / f"{figure}.{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            drawing.savefig(path, dpi=150)
            paths.append(path)
    return paths


def _rows_figure(Figure, curves, n_panels):
    figure = Figure(figsize=(4.4 * n_panels, 3.4 * len(curves)), layout="constrained")
    axes = figure.subplots(len(curves), n_panels, squeeze=False)
    for row, (name, methods) in zip(axes, curves.items()):
        for method in STYLES:
            if method in methods:
                _draw_method(row, method, methods[method])
        titles = (f"{name}: test error", f"{name}: training time", f"{name}: solver time")
        for panel, title, unit in zip(row, titles, ("test error", "seconds", "seconds")):
            panel.set(title=title, xlabel="rounds", ylabel=unit)
            panel.grid(alpha=0.3)
        row[0].legend(fontsize=7, title="last error, mean (std)", title_fontsize=7)
        _fit_errors(row[0], methods)
        for panel in row[1:]:
            panel.set_yscale("log")
            if panel.get_legend_handles_labels()[0]:
                panel.legend(fontsize=7)
    return figure


def _draw_method(panels, method, curve):
    colour, dashes = STYLES[method]
    style = {"color": colour, "linestyle": dashes, "linewidth": 1.4}
    rounds = range(1, curve.test_error.shape[1] + 1)
    last = curve.test_error[:, -1]
    spread = f" ({last.std(ddof=1):.3f})" if len(last) > 1 else ""
    panels[0].plot(
        rounds, curve.test_error.mean(axis=0), label=f"{method} {last.mean():.3f}{spread}", **style
    )
    panels[1].plot(rounds, curve.training_seconds.mean(axis=0), label=method, **style)
    if len(panels) > 2:
        solver = curve.solver_seconds.mean(axis=0)
        if method in ("CW", "CW-1", "MultiBoost"):
            panels[2].plot(rounds, solver, label=method, **style)


def _fit_errors(panel, methods):
    """Limit the error axis so that it omits the steep start of the slowest method."""
    finals = [curve.test_error.mean(axis=0)[-1] for curve in methods.values()]
    starts = [curve.test_error.mean(axis=0)[0] for curve in methods.values()]
    low, high = min(finals), max(finals)
    top = min(max(starts), max(2.5 * low, 1.3 * high))
    panel.set_ylim(max(0.0, low - 0.1 * (top - low)), top)


def _solver_figure(Figure, curves):
    figure = Figure(figsize=(4.4 * len(curves), 6.8), layout="constrained")
    axes = figure.subplots(2, len(curves), squeeze=False)
    for column, (name, solvers) in zip(axes.T, curves.items()):
        for solver, curve in solvers.items():
            ours = solver.removesuffix(PRINTED)
            style = {
                "color": SOLVER_COLOURS[ours],
                "linewidth": 1.4,
                "linestyle": "--" if solver == "L-BFGS-B" else "-" if solver == ours else ":",
                "label": solver,
            }
            rounds = range(1, curve.objective.shape[1] + 1)
            column[0].plot(rounds, curve.objective.mean(axis=0), **style)
            column[1].plot(rounds, curve.solver_seconds.mean(axis=0), **style)
        column[0].set(title=f"{name}: objective", xlabel="rounds", ylabel="objective")
        column[1].set(title=f"{name}: solver time", xlabel="rounds", ylabel="seconds")
        for panel in column:
            panel.set_yscale("log")
            panel.grid(alpha=0.3, which="both")
        column[0].legend(fontsize=7)
    return figure
