"""Importances of features, and their contributions to the scores."""

from __future__ import annotations

import numpy as np

from cwboost.ensemble.inspection import additive
from cwboost.plotting.axes import class_index, colours, feature_index, feature_name, new_axes

__all__ = ["plot_importances", "plot_shape"]


def plot_importances(classifier, *, n_features: int = 20, ax=None):
    """Plot the most important features (see ``feature_importances_``), the largest on top.

    Parameters
    ----------
    classifier : fitted classifier
    n_features : int, default=20
        Maximum number of features; features that are never used are omitted.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    importances = classifier.feature_importances_
    order = np.argsort(-importances, kind="stable")[:n_features]
    order = order[importances[order] > 0][::-1]
    ax = new_axes(ax)
    ax.barh(np.arange(len(order)), importances[order])
    ax.set_yticks(np.arange(len(order)), [feature_name(classifier, f) for f in order])
    ax.set(xlabel="fraction of the gain in edge")
    return ax


def plot_shape(classifier, feature, *, classes=None, n_estimators=None, ax=None):
    """Plot the exact contribution of one feature to the scores of a stump model.

    Parameters
    ----------
    classifier : fitted classifier of stumps
    feature : int or str
        Index, or name if the training data had names.
    classes : array-like of labels, optional
        Classes to draw; all by default.
    n_estimators : int, optional
        Use the first rounds only.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    index = feature_index(classifier, feature)
    labels = classifier.classes_ if classes is None else np.asarray(classes)
    columns = [class_index(classifier, label) for label in labels]
    _, functions = additive(classifier.ensemble_, n_estimators).functions()
    ax = new_axes(ax)
    ax.set(xlabel=feature_name(classifier, index), ylabel="contribution to the score")
    if index not in functions:
        for label, colour in zip(labels, colours(len(labels))):
            ax.axhline(0.0, label=str(label), color=colour)
    else:
        thresholds, values = functions[index].thresholds, functions[index].values
        inner = thresholds[np.isfinite(thresholds)]
        low, high = (inner[0], inner[-1]) if len(inner) else (0.0, 0.0)
        pad = 0.05 * (high - low) or 1.0
        edges = np.concatenate([[low - pad], np.clip(thresholds, low, high), [high + pad]])
        for label, column, colour in zip(labels, columns, colours(len(labels))):
            ax.stairs(values[:, column], edges, baseline=None, label=str(label), color=colour)
    ax.legend(title="class", fontsize="small", ncols=1 + len(labels) // 15)
    return ax
