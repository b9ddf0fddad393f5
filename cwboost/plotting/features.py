"""Importances of features."""

from numbers import Integral

import numpy as np

from cwboost.plotting.axes import new_axes, plain
from cwboost.support.checks import check_number


def plot_importances(classifier, *, n_features: int = 20, ax=None):
    """Plot the most important features (see ``feature_importances_``), the largest on top.

    Parameters
    ----------
    classifier : fitted classifier
    n_features : int, default=20
        Maximum number of features; features that move no score are omitted.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    check_number("n_features", n_features, Integral, 1)
    importances = classifier.feature_importances_
    order = np.argsort(-importances, kind="stable")[:n_features]
    order = order[importances[order] > 0][::-1]
    ax = new_axes(ax, figsize=(6.4, max(3.0, 1.2 + 0.22 * len(order))))
    ax.barh(np.arange(len(order)), importances[order])
    names = classifier._schema.feature_names
    ax.set_yticks(np.arange(len(order)), [plain(names[f]) for f in order])
    ax.set(title="The most important features", xlabel="share in the squared SHAP values")
    return ax
