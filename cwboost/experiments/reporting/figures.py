"""Figures laid out as in the paper: one row per data set; error, training and solver time.

Legends stand beside the panels. A curve ends where the time limit cut the first of its runs, and a
cross marks that end.
"""

from __future__ import annotations

import shutil

import numpy as np

from cwboost.experiments.methods import PRINTED
from cwboost.experiments.protocols import FIGURES
from cwboost.experiments.reporting.report import suffix_of
from cwboost.experiments.reporting.summary import excess_over_best, gather
from cwboost.support.extras import extra

__all__ = ["draw_figures"]

STYLES = {
    "CW": ("#b2182b", "-"),
    "CW-1": ("#ef8a62", "-"),
    "MultiBoost": ("#2166ac", "--"),
    "MultiBoost-LBFGSB": ("#67a9cf", "--"),
    "Ada.ECC": ("#4d9221", "-."),
    "Ada.MH": ("#762a83", ":"),
    "Ada.MO": ("#666666", (0, (5, 1, 1, 1, 1, 1))),
    "Ada.MO-all": ("#bbbbbb", (0, (5, 1, 1, 1, 1, 1))),
}
SOLVER_COLOURS = {
    "FCD-1": "#e7298a",
    "FCD-2": "#d95f02",
    "FCD-3": "#e6ab02",
    "FCD-5": "#66a61e",
    "FCD-10": "#1b9e77",
    "FCD-20": "#7570b3",
    "L-BFGS-B": "#222222",
}
LEAST_EXCESS = 1e-6
"""Smaller excesses are left out of the logarithmic axis."""
# Figures of two panels per data set omit the solver's time, as in the paper.
PANELS = {"uci": 3, "digits": 3, "images": 2, "scenes": 3, "traffic": 2}


def draw_figures(plan, page=None) -> list:
    """Draw the plan's figures as PNG and SVG; return the paths.

    Parameters
    ----------
    plan : Plan
    page : Path or None, default=None
        The PNG files are also written to the folder ``figures`` beside this page, with
        ``reproduction-`` before their names.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    with extra("plot", "figures need matplotlib"):
        from matplotlib.figure import Figure
    records = plan.records.read()
    paths = []
    for figure in plan.figures:
        found = gather(records, plan, "solver" if figure == "solver" else "run")
        shown = {name: found[name] for name in FIGURES.get(figure, found) if name in found}
        if not shown:
            continue
        if figure == "solver":
            drawing = _solver_figure(Figure, shown)
        else:
            drawing = _rows_figure(Figure, shown, PANELS[figure])
        name = f"{figure}{suffix_of(plan)}"
        plan.out.mkdir(parents=True, exist_ok=True)
        for suffix in ("png", "svg"):
            paths.append(plan.out / f"{name}.{suffix}")
            drawing.savefig(paths[-1], dpi=110)
        if page is not None:
            paths.append(page.parent / "figures" / f"reproduction-{name}.png")
            paths[-1].parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(plan.out / f"{name}.png", paths[-1])
    return paths


def _rows_figure(Figure, curves, n_panels):
    figure = Figure(figsize=(4.0 * n_panels + 2.0, 3.2 * len(curves)), layout="constrained")
    axes = figure.subplots(len(curves), n_panels, squeeze=False)
    for row, (name, methods) in zip(axes, curves.items()):
        for method in STYLES:
            if method in methods:
                _draw_method(row, method, methods[method])
        titles = (f"{name}: test error, %", f"{name}: training, s", f"{name}: solver, s")
        for panel, title in zip(row, titles):
            panel.set(title=title, xlabel="rounds", xscale="log")
            panel.grid(alpha=0.3)
        _fit_errors(row[0], methods)
        for panel in row[1:]:
            panel.set_yscale("log")
        handles, labels = row[0].get_legend_handles_labels()
        row[-1].legend(
            handles,
            labels,
            fontsize=8,
            title="last error %, mean (std)",
            title_fontsize=8,
            loc="center left",
            bbox_to_anchor=(1.02, 0.5),
        )
    return figure


def _draw_method(panels, method, curve):
    colour, dashes = STYLES[method]
    last = 100 * curve.last("test_error")
    spread = f" ({last.std(ddof=1):.1f})" if len(last) > 1 else ""
    label = f"{method} {last.mean():.1f}{spread}"
    names = ("test_error", "cpu_seconds", "solver_cpu_seconds")
    for panel, name in zip(panels, names):
        if name == "solver_cpu_seconds" and method.startswith("Ada."):
            continue  # it has no solver
        values = curve.mean(name) * (100 if name == "test_error" else 1)
        rounds = np.arange(1, len(values) + 1)
        panel.plot(rounds, values, color=colour, linestyle=dashes, linewidth=1.4, label=label)
        done = np.flatnonzero(~np.isnan(values))
        if curve.stopped and done.size:
            panel.plot(rounds[done[-1]], values[done[-1]], "x", color=colour, markersize=8)


def _fit_errors(panel, methods):
    """Limit the error axis so that it omits the steep start of the slowest method."""
    finals = [100 * curve.last("test_error").mean() for curve in methods.values()]
    starts = [100 * curve.mean("test_error")[0] for curve in methods.values()]
    low, high = min(finals), max(finals)
    top = min(max(starts), max(5.0 * low, 2.0 * high))
    panel.set_ylim(max(0.0, low - 0.1 * (top - low)), top)


def _solver_figure(Figure, curves):
    figure = Figure(figsize=(5.6 * len(curves) + 2.0, 8.6), layout="constrained")
    axes = figure.subplots(2, len(curves), squeeze=False)
    for column, (name, solvers) in zip(axes.T, curves.items()):
        excess = excess_over_best(solvers)
        for solver, curve in solvers.items():
            ours = solver.removesuffix(PRINTED)
            style = {
                "color": SOLVER_COLOURS[ours],
                "linewidth": 1.3,
                "linestyle": "--" if solver == "L-BFGS-B" else "-" if solver == ours else ":",
                "label": solver,
            }
            above = np.where(excess[solver] > LEAST_EXCESS, excess[solver], np.nan)
            column[0].plot(np.arange(1, len(above) + 1), above, **style)
            seconds = curve.mean("solver_cpu_seconds")
            column[1].plot(np.arange(1, len(seconds) + 1), seconds, **style)
        column[0].set(title=f"{name}: objective over the lowest one, less 1", xlabel="rounds")
        column[1].set(title=f"{name}: solver, s", xlabel="rounds")
        for panel in column:
            panel.set(xscale="log", yscale="log")
            panel.grid(alpha=0.3, which="both")
    axes[0, -1].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1.0))
    return figure
