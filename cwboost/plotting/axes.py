"""What all plots share: axes and colours."""

from __future__ import annotations

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


def colours(count: int) -> list:
    """Return one colour per line: the default ten, or a colour map for more."""
    from matplotlib import colormaps

    if count <= 10:
        return [f"C{i}" for i in range(count)]
    return [colormaps["turbo"](i / (count - 1)) for i in range(count)]
