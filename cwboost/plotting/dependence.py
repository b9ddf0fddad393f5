"""How one feature moves one score, example by example."""

import numpy as np

from cwboost.input.columns import place_of
from cwboost.input.labels import encode_labels
from cwboost.plotting.axes import folded, muted, name_places, new_axes, plain, values_of


def plot_dependence(classifier, X, feature, label, *, background=None, ax=None):
    """Plot the SHAP values of a feature against its values: how it moves the score of a class.

    Examples with one value differ in height by what the model makes of their other features.

    Parameters
    ----------
    classifier : fitted classifier with SHAP values
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        Some hundred examples; one dot each, at the left if its value is missing, at the end of the
        others if it is infinite.
    feature : int or str
        Index, or name if the training data had names.
    label : a label of ``classes_``
    background : array-like or sparse matrix of shape (n_background, n_features), optional
        As of `shap_values`.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        A column of categories has a place for each of them, by name.
    """
    names = getattr(classifier, "feature_names_in_", None)
    index = place_of(feature, names, classifier.n_features_in_, "feature")
    (score,) = encode_labels([label], classifier.classes_, "label")
    column = values_of(classifier, X, index)
    moved = classifier.shap_values(X, background).values[:, index, score]
    name = classifier._schema.feature_names[index]
    categories = classifier._schema.categories.get(index)
    # Names of 20 categories stand side by side in the usual width.
    ax = new_axes(
        ax, figsize=(max(6.4, 0.3 * len(categories)), 4.8) if categories is not None else None
    )
    ax.axhline(0.0, color=muted(ax), linewidth=0.8)
    known = ~np.isnan(column)
    if categories is not None:
        name_places(ax, categories)
        # Side by side, in the order of the examples, so that a picture has the same bits again.
        column += np.linspace(-0.25, 0.25, len(column))
        ax.set_xlim(-0.5 - (not known.all()), len(categories) - 0.5)
    finite = np.isfinite(column)
    seen = column[finite] if finite.any() else np.zeros(1)
    column = np.clip(column, seen.min(), seen.max())
    if not known.all():
        left, gap = seen.min(), 0.05 * np.ptp(seen) or 1.0
        if categories is not None:
            left, gap = 0.0, 1.0
        column = np.where(known, column, left - gap)
        ax.axvline(left - gap / 2, color=muted(ax, 0.4), linewidth=0.8, linestyle=":")
        at = {"xycoords": ("data", "axes fraction"), "rotation": 90, "ha": "center", "va": "top"}
        ax.annotate("missing", (left - gap, 0.99), **at)
    ax.scatter(column, moved, s=8, c=np.where(known, "C0", "C3"))
    ax.set(xlabel=plain(name), ylabel=folded(f"part of the score of {plain(label)}", 32))
    ax.set_title(folded(f"How {plain(name)} moves the score of {plain(label)}"))
    return ax
