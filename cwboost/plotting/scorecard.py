"""All tables of a scorecard in one figure."""

import numpy as np

from cwboost.plotting.axes import colours, folded, plain, short
from cwboost.support.extras import extra

COLUMNS, HEIGHT, WIDTH = 3, 3.0, 3.6
"""Axes per row, and their size in inches."""

MOST_LABELS, LONGEST = 5, 20
"""Labels of an axis, evenly spaced ones of more, and the length of a name."""


def plot_scorecard(classifier, *, n_tables=12):
    """Plot what every column, or pair of columns, adds to the scores: the whole model.

    Parameters
    ----------
    classifier : fitted classifier with a `scorecard`
    n_tables : int, default=12
        Number of tables to draw, those of the largest range of points first.

    Returns
    -------
    matplotlib Figure
        A column is a step per interval or category, with a line per class; a pair is a map of the
        points of the class that it moves most. The last part of an axis is that of missing values.
    """
    if not isinstance(n_tables, int) or n_tables < 1:
        raise ValueError(f"n_tables must be a positive integer, got {n_tables!r}")
    card = classifier.scorecard()
    with extra("plot", "plotting needs matplotlib"):
        from matplotlib import pyplot
        from matplotlib.lines import Line2D
    tables = card.tables[:n_tables]
    n_rows = max(1, -(-len(tables) // COLUMNS))
    fig, grid = pyplot.subplots(
        n_rows, COLUMNS, figsize=(COLUMNS * WIDTH, n_rows * HEIGHT), layout="constrained"
    )
    labels = [str(label) for label in card.classes[-len(card.constant) :]]
    colour = colours(len(labels))
    for ax, table in zip(grid.flat, tables):
        if len(table.axes) == 1:
            _steps(ax, table, card.names, colour)
        else:
            _map(fig, ax, table, card.names, labels)
    for ax in grid.flat[len(tables) :]:
        ax.set_axis_off()
    handles = [Line2D([], [], color=c) for c in colour]
    numbers = list(map(str, range(len(handles))))
    where = {"loc": "outside lower center", "ncols": min(4, len(handles))}
    legend = fig.legend(handles, numbers, title="class", fontsize="small", **where)
    for text, label in zip(legend.get_texts(), labels):
        text.set(text=short(label, LONGEST), parse_math=False)
    fig.suptitle(folded(plain(card.meaning, 120), 90))
    return fig


def _steps(ax, table, names, colour) -> None:
    """Draw the points of one column, a line per class."""
    (axis,) = table.axes
    edges = np.arange(len(axis.names) + 1) - 0.5
    for points, c in zip(table.points.T, colour):
        ax.stairs(points, edges, baseline=None, color=c)
    ax.set_title(plain(names[axis.column]), fontsize="medium")
    _label(ax.xaxis, axis)


def _map(fig, ax, table, names, labels) -> None:
    """Draw the points of a pair of columns for the class that they move most."""
    first, second = table.axes
    ranges = np.ptp(table.points.reshape(-1, table.points.shape[-1]), axis=0)
    k = int(ranges.argmax())
    points = table.points[..., k].T
    most = np.abs(points).max() or 1.0
    scale = {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
    image = ax.imshow(points, origin="lower", aspect="auto", interpolation="nearest", **scale)
    fig.colorbar(image, ax=ax)
    ax.set_title(plain(labels[k], LONGEST), fontsize="medium")
    for ticks, axis in ((ax.xaxis, first), (ax.yaxis, second)):
        ticks.set_label_text(plain(names[axis.column], LONGEST), fontsize="small")
        _label(ticks, axis)


def _label(ticks, axis) -> None:
    """Label the thresholds between intervals, or the categories, and the missing values."""
    if axis.ends is None:
        places, names = np.arange(len(axis.names) - 1), axis.names[:-1]
    else:
        places, names = np.arange(len(axis.ends)) + 0.5, [f"{end:.4g}" for end in axis.ends]
    places, names = [*places, len(axis.names) - 1], [*names, axis.names[-1]]
    chosen = np.unique(np.linspace(0, len(places) - 1, MOST_LABELS).round().astype(int))
    ticks.set_ticks([places[i] for i in chosen], [plain(names[i], LONGEST) for i in chosen])
    ticks.set_tick_params(labelsize="x-small", labelrotation=90 if ticks.axis_name == "x" else 0)
