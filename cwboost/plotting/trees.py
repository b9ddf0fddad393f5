"""Drawings of single trees."""

from __future__ import annotations

from itertools import count

from cwboost.ensemble.describing import terms_of
from cwboost.ensemble.tables import tree_rows
from cwboost.plotting.axes import new_axes

__all__ = ["plot_tree"]


def plot_tree(classifier, learner: int = 0, *, ax=None):
    """Draw one weak learner as a tree of comparisons.

    Parameters
    ----------
    classifier : fitted classifier
        Of learners that compare features, or sums of features, with thresholds.
    learner : int, default=0
        Index of the learner among all of the model, as in the column ``learner`` of
        ``to_frame`` and in ``class_columns(label).index``.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        Each inner node has its comparison; examples for which it holds go right, as the words at
        the root say. Leaves have the output, -1 or +1.
    """
    learners = classifier.ensemble_.learners
    if not 0 <= learner < len(learners):
        raise ValueError(f"learner must lie in 0..{len(learners) - 1}, got {learner!r}")
    trees = learners.take([learner]).flat_form()
    if trees is None:
        raise TypeError(
            "plot_tree needs learners that compare features, or sums of features: those of type "
            f"{type(learners).__name__} have no flat form"
        )
    rows = tree_rows(trees, 0, classifier._schema.feature_names, classifier._schema.categories)
    places = _places(rows)
    n_leaves = sum(row["left"] is None for row in rows)
    depth = max(row["depth"] for row in rows)
    # Side by side, boxes of about 25 characters need this much.
    ax = new_axes(ax, figsize=(max(6.4, 1.3 * n_leaves), max(2.5, 1.0 + 0.9 * depth)))
    for row in rows:
        x, y = places[row["node"]]
        if row["left"] is None:
            colour, text = ("C0" if row["output"] > 0 else "C3"), f"{row['output']:+d}"
        else:
            colour, text = "0.3", _comparison(row)
            for child in (row["left"], row["right"]):
                ax.plot([x, places[child][0]], [y, places[child][1]], color="0.7", zorder=1)
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colour}
        ax.text(x, y, text, ha="center", va="center", fontsize="small", color=colour, bbox=box)
    root = places[0]
    for child, answer in ((rows[0]["left"], "no"), (rows[0]["right"], "yes")):
        if child is not None:
            middle = [(a + b) / 2 for a, b in zip(root, places[child])]
            ax.text(*middle, answer, ha="center", color="0.3", fontsize="small")
    ax.set(xlim=(-0.7, max(x for x, _ in places.values()) + 0.7))
    ax.set(ylim=(min(y for _, y in places.values()) - 0.5, 0.5))
    ax.set_title(f"Weak learner {learner}")
    ax.set_axis_off()
    return ax


def _comparison(row) -> str:
    if row["categories"] is not None:
        text = f"{row['feature']} in {{{', '.join(map(str, row['categories']))}}}"
    else:
        compared = row["feature"] if row["direction"] is None else terms_of(row["direction"])
        text = f"{compared} > {row['threshold']:.4g}"
    return f"{text}\nor missing" if row["missing"] == "right" else text


def _places(rows) -> dict[int, tuple[float, float]]:
    """Return x and y per node: leaves side by side, a node between its children."""
    places: dict[int, tuple[float, float]] = {}
    leaves = count()

    def place(node: int) -> float:
        left, right = rows[node]["left"], rows[node]["right"]
        x = float(next(leaves)) if left is None else (place(left) + place(right)) / 2
        places[node] = x, -float(rows[node]["depth"])
        return x

    place(0)
    return places
