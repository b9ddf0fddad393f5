"""Plots of fitted classifiers; matplotlib is the optional extra ``cwboost[plot]``.

Each function draws into `ax`, by default a new figure, and returns the Axes.
"""

from __future__ import annotations

import numpy as np

from cwboost.ensemble.inspection import additive

__all__ = ["plot_history", "plot_importances", "plot_margins", "plot_shape"]


def _axes(ax):
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'cwboost[plot]'") from error
    return pyplot.subplots(layout="constrained")[1]


def _colours(count: int) -> list:
    """Return one colour per line: the default ten, or a colour map for more."""
    from matplotlib import colormaps

    if count <= 10:
        return [f"C{i}" for i in range(count)]
    return [colormaps["turbo"](i / (count - 1)) for i in range(count)]


def plot_history(classifier, what: str = "error", *, ax=None):
    """Plot the training error or the objective against rounds.

    Parameters
    ----------
    classifier : fitted classifier
    what : {"error", "objective"}, default="error"
        "error": training error, and validation error if recorded. "objective": objective and dual
        bound, with the gap between them shaded.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if what not in ("error", "objective"):
        raise ValueError(f"what must be 'error' or 'objective', got {what!r}")
    history = classifier.history_
    names = ("train_error", "valid_error") if what == "error" else ("objective", "dual_bound")
    drawn = [name for name in names if name in history and np.isfinite(history[name]).any()]
    if not drawn:
        raise ValueError(f"history_ must have one of {names}, {type(classifier).__name__} has none")
    ax = _axes(ax)
    rounds = np.arange(1, len(history[drawn[0]]) + 1)
    for name in drawn:
        ax.plot(rounds, history[name], label=name.replace("_", " "))
    if what == "objective":
        if len(drawn) == 2:
            ax.fill_between(rounds, *(history[name] for name in names), alpha=0.15, label="gap")
        if np.nanmin(history["objective"]) > 0:
            ax.set_yscale("log")
    ax.set(xlabel="rounds", ylabel=what)
    ax.legend()
    return ax


def plot_margins(classifier, X, y, *, n_estimators=None, ax=None):
    """Plot the cumulative distribution of the examples' smallest margins.

    The smallest margin is the score of the example's class minus the largest other score, divided
    by the sum of the absolute values of all coefficients; the curve crosses 0 at the error rate.

    Parameters
    ----------
    classifier : fitted classifier with one score per class
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
    own = np.searchsorted(classifier.classes_, y)
    if not np.array_equal(classifier.classes_[np.minimum(own, scores.shape[1] - 1)], y):
        raise ValueError("y must hold only labels that the classifier was trained on")
    rows = np.arange(len(own))
    own_scores = scores[rows, own]
    scores[rows, own] = -np.inf
    total = np.abs(classifier.ensemble_.coef(n_estimators).data).sum()
    margins = np.sort(own_scores - scores.max(axis=1)) / (total if total > 0 else 1.0)
    ax = _axes(ax)
    ax.step(margins, np.arange(1, len(margins) + 1) / len(margins), where="post")
    ax.axvline(0.0, color="0.6", linewidth=0.8)
    ax.set(xlabel="margin / sum of coefficients", ylabel="fraction of examples", ylim=(0, 1))
    return ax


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
    ax = _axes(ax)
    ax.barh(np.arange(len(order)), importances[order])
    ax.set_yticks(np.arange(len(order)), [_feature_name(classifier, f) for f in order])
    ax.set(xlabel="fraction of coefficient times edge")
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
    index = _feature_index(classifier, feature)
    labels = classifier.classes_ if classes is None else np.asarray(classes)
    columns = [_class_index(classifier, label) for label in labels]
    _, functions = additive(classifier.ensemble_, n_estimators).functions()
    ax = _axes(ax)
    ax.set(xlabel=_feature_name(classifier, index), ylabel="contribution to the score")
    if index not in functions:
        for label, colour in zip(labels, _colours(len(labels))):
            ax.axhline(0.0, label=str(label), color=colour)
    else:
        thresholds, values = functions[index].thresholds, functions[index].values
        inner = thresholds[np.isfinite(thresholds)]
        low, high = (inner[0], inner[-1]) if len(inner) else (0.0, 0.0)
        pad = 0.05 * (high - low) or 1.0
        edges = np.concatenate([[low - pad], np.clip(thresholds, low, high), [high + pad]])
        for label, column, colour in zip(labels, columns, _colours(len(labels))):
            ax.stairs(values[:, column], edges, baseline=None, label=str(label), color=colour)
    ax.legend(title="class", fontsize="small", ncols=1 + len(labels) // 15)
    return ax


def _feature_name(classifier, index) -> str:
    names = getattr(classifier, "feature_names_in_", None)
    return f"feature {index}" if names is None else str(names[index])


def _feature_index(classifier, feature) -> int:
    if isinstance(feature, str):
        names = list(getattr(classifier, "feature_names_in_", []))
        if feature not in names:
            raise ValueError(f"feature must be one of the training data's names, got {feature!r}")
        return names.index(feature)
    if not 0 <= feature < classifier.n_features_in_:
        raise ValueError(f"feature must lie in 0..{classifier.n_features_in_ - 1}, got {feature!r}")
    return int(feature)


def _class_index(classifier, label) -> int:
    found = np.flatnonzero(classifier.classes_ == label)
    if len(found) == 0:
        raise ValueError(f"classes must be labels of the training data, got {label!r}")
    return int(found[0])
