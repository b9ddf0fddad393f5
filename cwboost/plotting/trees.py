"""Drawings of single trees."""

from itertools import count
from numbers import Integral
from textwrap import wrap

import numpy as np

from cwboost.ensemble.describing import LISTED, terms_of
from cwboost.ensemble.tables import tree_rows
from cwboost.plotting.axes import muted, new_axes, short
from cwboost.support.checks import check_number

WIDEST = 18
"""Characters of a line in a box."""


def plot_tree(classifier, learner: int = 0, *, max_depth: int = 4, ax=None):
    """Draw the first levels of one weak learner as a tree of comparisons.

    Parameters
    ----------
    classifier : fitted classifier
        Of learners that compare features, or sums of features, with thresholds.
    learner : int, default=0
        Index of the learner among all of the model, as in the column ``learner`` of
        ``to_frame`` and in ``class_columns(label).index``.
    max_depth : int, default=4
        Nodes at this depth that have children are drawn as the number of leaves below them.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        Each inner node has its comparison; examples for which it holds go right, as labelled at
        the root. A leaf has its output, -1 or +1; in a tree shared by the classes, the class
        whose score it moves most, and by how much.
    """
    ensemble = classifier.ensemble_
    learners = ensemble.learners
    if not len(learners):
        raise ValueError("classifier must have weak learners, got a model of 0 rounds")
    check_number("learner", learner, Integral, 0, len(learners) - 1)
    check_number("max_depth", max_depth, Integral, 0)
    trees = learners.take([learner]).flat_form()
    if trees is None:
        raise TypeError(
            "plot_tree needs learners that compare features, or sums of features: those of type "
            f"{type(learners).__name__} have no flat form"
        )
    rows = tree_rows(trees, 0, *classifier._compared)
    n_leaves = _leaves_below(rows)
    drawn = {row["node"]: row for row in rows if row["depth"] <= max_depth}
    steps = trees.output.reshape(len(rows), -1) * ensemble.coef()[[learner]].toarray()
    places, texts = _places(drawn), {}
    for node, row in drawn.items():
        if row["left"] is None and trees.output.ndim == 2:
            score = int(np.abs(steps[node]).argmax())
            moved = steps[node, score]
            texts[node] = f"{_wrapped(classifier.classes_[score])}\n{moved:+.2g}", moved
        elif row["left"] is None:
            texts[node] = f"{row['output']:+d}", row["output"]
        elif row["left"] not in drawn:
            texts[node] = f"{n_leaves[node]} leaves", 0
        else:
            texts[node] = _comparison(row), 0
    ax, size = _sized_axes(ax, places, [text for text, _ in texts.values()])
    for node, (text, moved) in texts.items():
        x, y = places[node]
        if "left" in drawn[node] and drawn[node]["left"] in drawn:
            for child in (drawn[node]["left"], drawn[node]["right"]):
                ax.plot(
                    [x, places[child][0]], [y, places[child][1]], color=muted(ax, 0.4), zorder=1
                )
        edge = muted(ax, 0.6) if moved == 0 else "C0" if moved > 0 else "C3"
        box = {"boxstyle": "round", "facecolor": ax.figure.get_facecolor(), "edgecolor": edge}
        ax.text(
            x, y, text, ha="center", va="center", size=size, bbox=box | {"lw": 1 + (moved != 0)}
        )
    for child, answer in ((rows[0]["left"], "no"), (rows[0]["right"], "yes")):
        if child in drawn:
            middle = [(a + b) / 2 for a, b in zip(places[0], places[child])]
            ax.text(*middle, answer, ha="center", size=size)
    ax.set_title(f"Weak learner {learner}")
    return ax


def _sized_axes(ax, places, texts):
    """Return Axes in which the boxes of all nodes stand beside each other, and the size of text.

    A new figure is as large as that needs; in given Axes, the text gets small.
    """
    from matplotlib import rcParams
    from matplotlib.font_manager import font_scalings

    size = rcParams["font.size"] * font_scalings["small"]
    n_lowest, depth = len({x for x, _ in places.values()}), max(-y for _, y in places.values())
    lines = [line for text in texts for line in text.split("\n")]
    inches = size / 72.0  # per line; a character has about half its width
    width = (0.62 * max(map(len, lines)) + 1.6) * inches * n_lowest
    height = (1.3 * max(text.count("\n") + 1 for text in texts) + 2.2) * inches * (depth + 1)
    if ax is None:
        ax = new_axes(ax, figsize=(max(4.0, width), max(2.0, height + 0.5)))
    else:
        box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        size *= min(1.0, box.width / width, box.height / height)
    ax.set_axis_off()
    left, right = min(x for x, _ in places.values()), max(x for x, _ in places.values())
    ax.set(xlim=(left - 0.5, right + 0.5), ylim=(-depth - 0.5, 0.5))
    return ax, size


def _leaves_below(rows) -> list[int]:
    """Return the number of leaves below each node, one for a leaf."""
    n_leaves = [1] * len(rows)
    for row in reversed(rows):
        if row["left"] is not None:
            n_leaves[row["node"]] = n_leaves[row["left"]] + n_leaves[row["right"]]
    return n_leaves


def _comparison(row) -> str:
    if row["categories"] is not None:
        names = [str(name) for name in row["categories"]]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        members = _wrapped(", ".join(names[:LISTED]) + more, 3)
        text = f"{_wrapped(row['feature'])} in\n{members}"
    elif row["direction"] is not None:
        text = f"{_wrapped(terms_of(row['direction']), 4)}\n> {row['threshold']:.4g}"
    else:
        text = f"{_wrapped(row['feature'])}\n> {row['threshold']:.4g}"
    return f"{text}\nor missing" if row["missing"] == "right" else text


def _wrapped(text, most: int = 2) -> str:
    """Return text in short lines, about as many as `most`."""
    text = short(text, most * WIDEST - 4)  # lines end where words do
    lines = wrap(text, WIDEST, max_lines=most + 1, placeholder="...")
    return "\n".join(lines).replace("$", r"\$")


def _places(drawn) -> dict[int, tuple[float, float]]:
    """Return x and y per node: the lowest side by side, a node between its children."""
    places: dict[int, tuple[float, float]] = {}
    lowest = count()

    def place(node: int) -> float:
        left, right = drawn[node]["left"], drawn[node]["right"]
        x = float(next(lowest)) if left not in drawn else (place(left) + place(right)) / 2
        places[node] = x, -float(drawn[node]["depth"])
        return x

    place(0)
    return places
