"""What all plots share: axes, colours, names of features and classes."""

from __future__ import annotations

import numpy as np

from cwboost.support.extras import extra

__all__ = ["class_index", "colours", "feature_index", "new_axes", "over_rounds"]


def new_axes(ax, figsize=None):
    """Return `ax`, or the Axes of a new figure, of this size in inches, if it is None."""
    if ax is not None:
        return ax
    with extra("plot", "plotting needs matplotlib"):
        from matplotlib import pyplot
    return pyplot.subplots(figsize=figsize, layout="constrained")[1]


def over_rounds(ax):
    """Label the x axis of `ax` as numbers of rounds, with ticks at whole ones."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("number of rounds")


def colours(count: int) -> list:
    """Return one colour per line: the default ten, or a colour map for more."""
    from matplotlib import colormaps

    if count <= 10:
        return [f"C{i}" for i in range(count)]
    return [colormaps["turbo"](i / (count - 1)) for i in range(count)]


def feature_index(classifier, feature) -> int:
    """Return the index of a feature given by name or index; raise ValueError if there is none."""
    if isinstance(feature, str):
        names = list(getattr(classifier, "feature_names_in_", []))
        if feature not in names:
            raise ValueError(f"feature must be one of the training data's names, got {feature!r}")
        return names.index(feature)
    if not 0 <= feature < classifier.n_features_in_:
        raise ValueError(f"feature must lie in 0..{classifier.n_features_in_ - 1}, got {feature!r}")
    return int(feature)


def class_index(classifier, label) -> int:
    """Return the index of a label in ``classes_``; raise ValueError if it is not there."""
    found = np.flatnonzero(classifier.classes_ == label)
    if len(found) == 0:
        raise ValueError(f"classes must be labels of the training data, got {label!r}")
    return int(found[0])
