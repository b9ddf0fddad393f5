"""Figures laid out as in the paper: one row per data set; error, training and solver time.

Legends stand beside the panels. A curve ends where the time limit cut the first of its runs, and a
cross marks that end.
"""

from cwboost.experiments.methods import PRINTED
from cwboost.experiments.protocols import FIGURES
from cwboost.experiments.reporting.summary import GROUP, Results, mean
from cwboost.support.extras import extra
from cwboost.support.files import replacing

STYLES = {
    "CW": ("#b2182b", "-"),
    "CW-1": ("#ef8a62", "-"),
    "MultiBoost": ("#2166ac", "--"),
    "MultiBoost-LBFGSB": ("#67a9cf", "--"),
    "Ada.ECC": ("#4d9221", "-."),
    "Ada.MH": ("#762a83", ":"),
    "Ada.MH-real": ("#762a83", "-"),
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


def draw_figures(study) -> list:
    """Draw the study's figures as PNG and SVG; return the paths."""
    with extra("reporting", "figures need matplotlib"):
        from matplotlib.figure import Figure
    paths = []
    for figure in study.figures:
        results = Results(study, "solver" if figure == "solver" else "run")
        there = results.runs.index.unique("data") if len(results.runs) else []
        names = [name for name in FIGURES.get(figure, there) if name in there]
        if not names:
            continue
        if figure == "solver":
            drawing = _solver_figure(Figure, results, names)
        else:
            drawing = _rows_figure(Figure, results, names, PANELS[figure])
        study.out.mkdir(parents=True, exist_ok=True)
        for suffix in ("png", "svg"):
            paths.append(study.out / f"{figure}.{suffix}")
            with replacing(paths[-1]) as file:
                drawing.savefig(file, format=suffix, dpi=110)
    return paths


def _rows_figure(Figure, results, names, n_panels):
    figure = Figure(figsize=(4.0 * n_panels + 2.0, 3.2 * len(names)), layout="constrained")
    axes = figure.subplots(len(names), n_panels, squeeze=False)
    curves = ("test_error", "cpu_seconds", "solver_cpu_seconds")[:n_panels]
    means = [mean(results.at(name)) for name in curves]
    means[0] *= 100
    last = 100 * results.last("test_error")
    for row, name in zip(axes, names):
        finals = last[name].groupby("method", sort=False).agg(["mean", "std"])
        for method, (final, spread) in finals.iterrows():
            label = f"{method} {final:.1f}" + (f" ({spread:.1f})" if spread >= 0 else "")
            stopped = results.runs["stopped"].xs((name, method), level=GROUP).any()
            for panel, table in zip(row, means):
                if panel is not row[-1] or n_panels < 3 or not method.startswith("Ada."):
                    _draw(panel, table.loc[name, method], STYLES[method], label, stopped)
        titles = (f"{name}: test error, %", f"{name}: training, s", f"{name}: solver, s")
        for panel, title in zip(row, titles):
            panel.set(title=title, xlabel="rounds", xscale="log")
            panel.grid(alpha=0.3)
        _fit_errors(row[0], means[0].loc[name].iloc[:, 0], finals["mean"])
        for panel in row[1:]:
            panel.set_yscale("log")
        row[-1].legend(
            *row[0].get_legend_handles_labels(),
            fontsize=8,
            title="last error %, mean (std)",
            title_fontsize=8,
            loc="center left",
            bbox_to_anchor=(1.02, 0.5),
        )
    return figure


def _draw(panel, values, style, label, stopped):
    colour, dashes = style
    panel.plot(values.index, values, color=colour, linestyle=dashes, linewidth=1.4, label=label)
    done = values.last_valid_index()
    if stopped and done is not None:
        panel.plot(done, values[done], "x", color=colour, markersize=8)


def _fit_errors(panel, starts, finals):
    """Let the error axis omit the steep start of the slowest method."""
    low, high = finals.min(), finals.max()
    top = min(starts.max(), max(5.0 * low, 2.0 * high))
    panel.set_ylim(max(0.0, low - 0.1 * (top - low)), top)


def _solver_figure(Figure, results, names):
    figure = Figure(figsize=(5.6 * len(names) + 2.0, 8.6), layout="constrained")
    axes = figure.subplots(2, len(names), squeeze=False)
    objective = results.at("objective")
    lowest = objective.min(axis=1).groupby(["data", "run"]).transform("min")
    excess = mean(objective.div(lowest, axis=0) - 1.0)
    seconds = mean(results.at("solver_cpu_seconds"))
    for column, name in zip(axes.T, names):
        for solver in excess.loc[name].index:
            ours = solver.removesuffix(PRINTED)
            style = {
                "color": SOLVER_COLOURS[ours],
                "linewidth": 1.3,
                "linestyle": "--" if solver == "L-BFGS-B" else "-" if solver == ours else ":",
                "label": solver,
            }
            above = excess.loc[name, solver]
            column[0].plot(above.index, above.where(above > LEAST_EXCESS), **style)
            column[1].plot(above.index, seconds.loc[name, solver], **style)
        column[0].set(title=f"{name}: objective over the lowest one, less 1", xlabel="rounds")
        column[1].set(title=f"{name}: solver, s", xlabel="rounds")
        for panel in column:
            panel.set(xscale="log", yscale="log")
            panel.grid(alpha=0.3, which="both")
    axes[0, -1].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1.0))
    return figure
