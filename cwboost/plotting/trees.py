"""Drawings of single trees."""

from itertools import count
from numbers import Integral

import numpy as np

from cwboost.ensemble.describing import LISTED, terms_of
from cwboost.ensemble.tables import tree_rows
from cwboost.plotting.axes import new_axes
from cwboost.support.checks import check_number


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
    places = _places(drawn)
    width, depth = 1.3 * len({x for x, _ in places.values()}), max(-y for _, y in places.values())
    # Side by side, boxes of about 25 characters need this much.
    ax = new_axes(ax, figsize=(max(6.4, width), max(2.5, 1.0 + 0.9 * depth)))
    for node, row in drawn.items():
        x, y = places[node]
        if row["left"] is None:
            is_plus = row["output"] > 0
            text = f"{row['output']:+d}"
            if trees.output.ndim == 2:
                score = int(np.abs(steps[node]).argmax())
                is_plus = steps[node, score] > 0
                text = f"{classifier.classes_[score]}\n{steps[node, score]:+.2g}"
            colour = "C0" if is_plus else "C3"
        elif row["left"] not in drawn:
            colour, text = "0.6", f"{n_leaves[node]} leaves"
        else:
            colour, text = "0.3", _comparison(row)
            for child in (row["left"], row["right"]):
                ax.plot([x, places[child][0]], [y, places[child][1]], color="0.7", zorder=1)
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colour}
        ax.text(x, y, text, ha="center", va="center", fontsize="small", color=colour, bbox=box)
    for child, answer in ((rows[0]["left"], "no"), (rows[0]["right"], "yes")):
        if child in drawn:
            middle = [(a + b) / 2 for a, b in zip(places[0], places[child])]
            ax.text(*middle, answer, ha="center", color="0.3", fontsize="small")
    ax.set(xlim=(-0.7, max(x for x, _ in places.values()) + 0.7))
    ax.set(ylim=(-depth - 0.5, 0.5))
    ax.set_title(f"Weak learner {learner}")
    ax.set_axis_off()
    return ax


def _leaves_below(rows) -> list[int]:
    """Return the number of leaves below each node, one for a leaf."""
    n_leaves = [1] * len(rows)
    for row in reversed(rows):
        if row["left"] is not None:
            n_leaves[row["node"]] = n_leaves[row["left"]] + n_leaves[row["right"]]
    return n_leaves


def _comparison(row) -> str:
    if row["categories"] is not None:
        names = list(map(str, row["categories"]))
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        text = f"{row['feature']} in\n{{{', '.join(names[:LISTED])}{more}}}"
    else:
        compared = row["feature"] if row["direction"] is None else terms_of(row["direction"])
        text = f"{compared} > {row['threshold']:.4g}"
    return f"{text}\nor missing" if row["missing"] == "right" else text


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
