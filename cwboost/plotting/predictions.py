"""How good the predictions are on examples: loss by round, calibration."""

import numpy as np
from sklearn.metrics import log_loss

from cwboost.input.labels import encode_labels
from cwboost.plotting.axes import new_axes, over_rounds


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
    ax.plot(np.arange(1, len(losses) + 1), losses, label=label)
    ax.set(title="Log loss by round", ylabel="log loss")
    over_rounds(ax)
    if label is not None:
        ax.legend()
    return ax


def plot_calibration(classifier, X, y, *, n_bins=10, label=None, ax=None):
    """Plot how often predictions are right against the probability that they state.

    Each point stands for the same number of examples, ordered by the probability of the predicted
    class. On the diagonal, 70 of 100 predictions with probability 0.7 are right.

    Parameters
    ----------
    classifier : fitted classifier with predict_proba
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Examples that the classifier was not trained on.
    y : array-like of shape (n_samples,)
    n_bins : int, default=10
        Number of points, at most.
    label : str, optional
        Name of the curve; by default the class of the classifier.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = new_axes(ax)  # names the extra if matplotlib is absent
    from sklearn.calibration import CalibrationDisplay

    probabilities = classifier.predict_proba(X)
    right = probabilities.argmax(axis=1) == encode_labels(y, classifier.classes_)
    CalibrationDisplay.from_predictions(
        right,
        probabilities.max(axis=1),
        n_bins=n_bins,
        strategy="quantile",
        pos_label=True,
        name=label or type(classifier).__name__,
        ax=ax,
    )
    ax.set(
        title="How far to trust the probabilities",
        xlabel="probability of the predicted class",
        ylabel="fraction of right predictions",
    )
    return ax
