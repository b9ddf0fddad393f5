"""The margins of examples."""

import numpy as np

from cwboost.input.labels import encode_labels
from cwboost.plotting.axes import muted, new_axes


def plot_margins(classifier, X, y, *, n_estimators=None, ax=None):
    """Plot the cumulative distribution of the examples' smallest margins.

    The smallest margin is the score of the example's class minus the largest other score; the curve
    crosses 0 at the error rate.

    Parameters
    ----------
    classifier : fitted classifier
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    n_estimators : int, optional
        Use the first rounds only.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    scores = classifier.decision_function(X, n_estimators=n_estimators)
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros_like(scores), scores])
    own = encode_labels(y, classifier.classes_)
    rows = np.arange(len(own))
    own_scores = scores[rows, own]
    scores[rows, own] = -np.inf
    margins = np.sort(own_scores - scores.max(axis=1))
    ax = new_axes(ax)
    ax.step(margins, np.arange(1, len(margins) + 1) / len(margins), where="post")
    ax.axvline(0.0, color=muted(ax), linewidth=0.8)
    ax.set(
        title="Margins: right of zero, the prediction is right",
        xlabel="smallest margin",
        ylabel="fraction of examples",
        ylim=(0, 1),
    )
    return ax
