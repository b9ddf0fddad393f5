"""What all plots share: axes, colours, the values of a feature."""

import numpy as np

from cwboost.support.extras import extra


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


def values_of(classifier, X, index: int) -> np.ndarray:
    """Return a column of X as float64; of categories, their codes."""
    column = classifier._encoded(X)[:, [index]]
    column = column.toarray() if hasattr(column, "toarray") else column
    return column.ravel().astype(np.float64)


def colours(count: int) -> list:
    """Return one colour per line: the default ten, or a colour map for more."""
    from matplotlib import colormaps

    if count <= 10:
        return [f"C{i}" for i in range(count)]
    return [colormaps["turbo"](i / (count - 1)) for i in range(count)]
