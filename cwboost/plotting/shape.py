"""The exact contribution of one feature to the scores."""

import numpy as np

from cwboost.ensemble.export_rules import require_votes
from cwboost.ensemble.inspection import additive
from cwboost.input.columns import place_of
from cwboost.input.labels import encode_labels
from cwboost.plotting.axes import (
    add_legend,
    colours,
    folded,
    muted,
    name_places,
    new_axes,
    plain,
    values_of,
)

MOST_COLOURED = 10
"""Without `classes`, the classes beyond these that the feature moves least are grey."""


def plot_shape(classifier, feature, *, classes=None, n_estimators=None, X=None, ax=None):
    """Plot the exact contribution of one feature to the scores of a stump model.

    Parameters
    ----------
    classifier : fitted classifier of stumps, without an init model
    feature : int or str
        Index, or name if the training data had names.
    classes : array-like of labels, optional
        Classes to draw in colour; by default the ten whose scores the feature moves most, and the
        others in grey.
    n_estimators : int, optional
        Use the first rounds only.
    X : array-like or sparse matrix of shape (n_samples, n_features), optional
        Examples: the plot spans their values of the feature, and ticks mark the deciles. Without
        them it spans the thresholds of the model. Not used for categories.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        A column of categories has a step for each of them.

    Raises
    ------
    TypeError
        If the scores are not sums of functions of one feature each: learners are no stumps, or
        there is an init model.
    """
    require_votes(classifier)
    if classifier.init_ is not None:
        raise TypeError(
            "classifier must be without an init model, whose scores are no sum of functions of one "
            f"feature each, got init={classifier.init_.model.name!r}: use plot_dependence"
        )
    names = getattr(classifier, "feature_names_in_", None)
    index = place_of(feature, names, classifier.n_features_in_, "feature")
    known = classifier.classes_
    given = None if classes is None else encode_labels(classes, known, "classes").tolist()
    _, functions = additive(classifier.ensemble_, n_estimators).functions()
    name = classifier._schema.feature_names[index]
    categories, model = classifier._schema.categories.get(index), classifier.model_
    ax = new_axes(ax)
    title = folded(f"What {plain(name)} adds to the scores")
    ax.set(title=title, xlabel=plain(name), ylabel="part of the score")
    column = np.arange(classifier.n_features_in_)
    column = column if model.statistics is None else model.statistics.column
    own = [f for f in np.flatnonzero(column == index).tolist() if f in functions]
    is_spanned = X is not None and categories is None
    seen = values_of(classifier, X, index) if is_spanned else np.empty(0)
    seen = seen[np.isfinite(seen)]
    if not own:
        _unused(ax, seen)
        return ax
    if categories is None:
        edges, values = _edges(functions[own[0]].thresholds, seen), functions[own[0]].values
    else:
        codes = np.arange(len(categories))
        rows = np.zeros((len(codes), classifier.n_features_in_))
        rows[:, index] = codes
        compared = model.features(rows)
        values = sum(functions[f](compared[:, f]) for f in own)
        edges = np.append(codes, len(codes)) - 0.5
        name_places(ax, categories)
    coloured = _most_moved(values) if given is None else given
    grey = set(range(values.shape[1])) - set(coloured) if given is None else set()
    pale = {"color": muted(ax, 0.25), "lw": 0.7}
    drawn = [ax.stairs(values[:, column], edges, baseline=None, **pale) for column in sorted(grey)]
    entries = [(line, f"{len(grey)} other{'s' * (len(grey) > 1)}") for line in drawn[:1]]
    for column, colour in zip(coloured, colours(len(coloured))):
        line = ax.stairs(values[:, column], edges, baseline=None, color=colour)
        entries.append((line, classifier.classes_[column]))
    ax.set_xlim(edges[0], edges[-1])
    if len(seen):
        deciles = np.quantile(seen, np.linspace(0.1, 0.9, 9))
        ax.plot(deciles, np.zeros(9), "|", color=muted(ax, 0.8), transform=ax.get_xaxis_transform())
    add_legend(ax, entries, "class")
    return ax


def _edges(thresholds, seen) -> np.ndarray:
    """Return where the steps begin and end: between the ends of the data or of the thresholds."""
    inner = thresholds[np.isfinite(thresholds)]
    if len(seen):
        low, high = seen.min(), seen.max()
    else:
        low, high = (inner[0], inner[-1]) if len(inner) else (0.0, 0.0)
        pad = 0.02 * ((high - low) or abs(high) or 1.0)
        low, high = low - pad, high + pad
    return np.concatenate([[low], np.clip(thresholds, low, high), [high]])


def _most_moved(values) -> list[int]:
    """Return the classes whose scores the feature moves most, in the order of ``classes_``."""
    spread = np.ptp(values, axis=0)
    return sorted(np.argsort(-spread, kind="stable")[:MOST_COLOURED].tolist())


def _unused(ax, seen) -> None:
    """Say in the plot that the feature adds nothing."""
    ax.axhline(0.0, color=muted(ax))
    ax.set_ylim(-1.0, 1.0)
    if len(seen) and seen.min() < seen.max():
        ax.set_xlim(seen.min(), seen.max())
    text = "no weak learner of the model uses this feature"
    ax.text(0.5, 0.6, text, transform=ax.transAxes, ha="center")
