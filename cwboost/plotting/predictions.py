"""How good the predictions are on examples: loss by round, calibration."""

import numpy as np
from sklearn.metrics import log_loss

from cwboost.input.labels import encode_labels
from cwboost.plotting.axes import add_legend, colours, muted, new_axes, over_rounds


def plot_loss(classifier, X, y, *, label=None, ax=None):
    """Plot the log loss of the probabilities against the rounds.

    Parameters
    ----------
    classifier : fitted classifier
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels of the training data.
    label : str, optional
        Name of the curve, for a legend of several.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    labels = classifier.classes_
    losses = [log_loss(y, p, labels=labels) for p in classifier.staged_predict_proba(X)]
    ax = new_axes(ax)
    (line,) = ax.plot(np.arange(1, len(losses) + 1), losses)
    ax.set(title="Log loss by round", ylabel="log loss")
    over_rounds(ax)
    if label is not None:
        add_legend(ax, [(line, label)])
    return ax


def plot_calibration(classifier, X, y, *, classes=None, n_bins=10, label=None, ax=None):
    """Plot how often predictions are right against the probability that they state.

    Each point stands for the same number of examples, ordered by the probability of the predicted
    class. On the diagonal, 70 of 100 predictions with probability 0.7 are right.

    Parameters
    ----------
    classifier : fitted classifier with predict_proba
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Examples that the classifier was not trained on.
    y : array-like of shape (n_samples,)
    classes : array-like of labels, optional
        Classes with a curve each: how often examples are of the class against its probability. By
        default one curve, of the predicted classes.
    n_bins : int, default=10
        Number of points per curve, at most.
    label : str, optional
        Name of the curve of the predicted classes; by default the class of the classifier.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    known = classifier.classes_
    own = encode_labels(y, known)
    places = None if classes is None else encode_labels(classes, known, "classes")
    p = classifier.predict_proba(X)
    if places is None:
        given = [(p.argmax(axis=1) == own, p.max(axis=1), label or type(classifier).__name__)]
    else:
        given = [(own == place, p[:, place], known[place]) for place in places]
    ax = new_axes(ax)
    from sklearn.calibration import calibration_curve

    former, entries = ax.get_legend(), []
    if former is None:
        (line,) = ax.plot([0, 1], [0, 1], ":", color=muted(ax))
        entries = [(line, "perfectly calibrated")]
    # A second call in one plot goes on with the colours.
    own_colours = [None] if places is None else colours(len(places))
    for (is_right, stated, name), colour in zip(given, own_colours):
        share, mean = calibration_curve(is_right, stated, n_bins=n_bins, strategy="quantile")
        (line,) = ax.plot(mean, share, "s-", markersize=4, color=colour)
        entries.append((line, name))
    add_legend(ax, entries)
    ax.set(
        title="How far to trust the probabilities",
        xlabel=f"probability of the {'predicted class' if places is None else 'class'}",
        ylabel=f"fraction of {'right predictions' if places is None else 'examples of the class'}",
    )
    return ax
