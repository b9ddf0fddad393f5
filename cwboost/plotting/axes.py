"""What all plots share: axes, colours, names as text, legends, the values of a feature."""

from textwrap import wrap

import numpy as np

from cwboost.support.extras import extra

LONGEST = 32
"""Characters of a name in a plot; of a longer one, the middle is left out."""
FEW_ENTRIES = 5
"""Entries of a legend that stand within the plot; more stand beside it."""


def new_axes(ax, figsize=None):
    """Return `ax`, or the Axes of a new figure, of this size in inches, if it is None."""
    if ax is not None:
        return ax
    with extra("plot", "plotting needs matplotlib"):
        from matplotlib import pyplot
    return pyplot.subplots(figsize=figsize, layout="constrained")[1]


def short(name, longest: int = LONGEST) -> str:
    """Return a name in one line, without the middle of a long one."""
    text = " ".join(str(name).split())
    end = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[: longest - 3 - end]}...{text[-end:]}"


def plain(name, longest: int = LONGEST) -> str:
    """Return a name of a feature, class or category as text that matplotlib draws as it stands.

    Two dollars would begin a formula.
    """
    return short(name, longest).replace("$", r"\$")


def folded(text: str, width: int = 48) -> str:
    """Return a title or a label in lines of some width."""
    return "\n".join(wrap(text, width))


def add_legend(ax, entries, title: str | None = None) -> None:
    """Add artists and their names to the legend: few of them in the plot, many beside it.

    matplotlib hides labels that begin with an underscore, as names of classes may.
    """
    former = ax.get_legend()
    old = [] if former is None else zip(former.legend_handles, former.get_texts())
    entries = [*((handle, text.get_text()) for handle, text in old), *entries]
    options = {"fontsize": "small"}
    if len(entries) > FEW_ENTRIES:
        beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
        options = {"fontsize": "x-small", "ncols": 1 + len(entries) // 26, **beside}
    handles, names = zip(*entries)
    legend = ax.legend(handles, list(map(str, range(len(names)))), title=title, **options)
    for text, name in zip(legend.get_texts(), names):
        text.set(text=short(name), parse_math=False)


def name_places(ax, names) -> None:
    """Name the places 0, 1, ... of the x axis, upright if the names are long or many."""
    shown = [plain(name) for name in names]
    is_narrow = len(shown) * max(map(len, shown)) > 60
    ax.set_xticks(
        range(len(shown)),
        shown,
        rotation=90 if is_narrow else 0,
        fontsize="small" if len(shown) <= 20 else "xx-small",
    )


def muted(ax, share: float = 0.6):
    """Return the colour of text, mixed with the background of `ax`, whatever the style is."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    below = ax if ax.axison else ax.figure
    ink, ground = map(np.array, (to_rgb(rcParams["text.color"]), to_rgb(below.get_facecolor())))
    return tuple(share * ink + (1.0 - share) * ground)


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
    """Return one colour per line: those of the style, or a colour map if these do not suffice."""
    from matplotlib import colormaps, rcParams

    if count <= len(rcParams["axes.prop_cycle"]):
        return [f"C{i}" for i in range(count)]
    return [colormaps["turbo"](0.05 + 0.9 * i / (count - 1)) for i in range(count)]
