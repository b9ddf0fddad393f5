"""All tables of a scorecard in one figure."""

import numpy as np

from cwboost.plotting.axes import colours, plain, short
from cwboost.support.extras import extra

COLUMNS, HEIGHT, WIDTH = 3, 2.6, 3.4
"""Axes per row, and their size in inches."""

MOST_LABELS, LONGEST = 8, 16
"""Parts of an axis that have labels, evenly spaced ones of more, and their length."""


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
    tables = card.tables[:n_tables]
    n_rows = max(1, -(-len(tables) // COLUMNS))
    fig, grid = pyplot.subplots(
        n_rows, COLUMNS, figsize=(COLUMNS * WIDTH, n_rows * HEIGHT), layout="constrained"
    )
    labels = [str(label) for label in card.classes[-len(card.constant) :]]
    handles = []
    for ax, table in zip(grid.flat, tables):
        if len(table.axes) == 1:
            handles = _steps(ax, table, card.names)
        else:
            _map(fig, ax, table, card.names, labels)
    for ax in grid.flat[len(tables) :]:
        ax.set_axis_off()
    numbers = list(map(str, range(len(handles))))
    legend = fig.legend(handles, numbers, title="class", loc="outside right upper")
    for text, label in zip(legend.get_texts(), labels):
        text.set(text=short(label), parse_math=False)
    fig.suptitle(plain(card.meaning, 120))
    return fig


def _steps(ax, table, names) -> list:
    """Draw the points of one column; return a line per class."""
    (axis,) = table.axes
    edges = np.arange(len(axis.names) + 1) - 0.5
    n_points = table.points.shape[1]
    lines = [
        ax.stairs(table.points[:, k], edges, baseline=None, color=colour)
        for k, colour in enumerate(colours(n_points))
    ]
    ax.set_title(plain(names[axis.column]), fontsize="medium")
    _label(ax.xaxis, axis)
    return lines


def _map(fig, ax, table, names, labels) -> None:
    """Draw the points of a pair of columns for the class that they move most."""
    first, second = table.axes
    ranges = np.ptp(table.points.reshape(-1, table.points.shape[-1]), axis=0)
    k = int(ranges.argmax())
    points = table.points[..., k]
    most = np.abs(points).max() or 1.0
    image = ax.imshow(points.T, origin="lower", aspect="auto", cmap="RdBu_r", vmin=-most, vmax=most)
    fig.colorbar(image, ax=ax)
    both = f"{plain(names[first.column])}, {plain(names[second.column])}"
    ax.set_title(f"{both}: {plain(labels[k])}", fontsize="medium")
    _label(ax.xaxis, first)
    _label(ax.yaxis, second)


def _label(ticks, axis) -> None:
    """Name the parts of an axis, all or evenly spaced ones and the last."""
    n = len(axis.names)
    places = np.unique(np.linspace(0, n - 1, min(n, MOST_LABELS)).round().astype(int))
    shown = [plain(short(axis.names[place], LONGEST)) for place in places]
    ticks.set_ticks(places, shown, fontsize="x-small")
    if ticks.axis_name == "x":
        for text in ticks.get_ticklabels():
            text.set(rotation=30, ha="right")
