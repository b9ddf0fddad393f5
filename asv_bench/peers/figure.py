"""The figure of error, log loss and time beside other packages, as an SVG with its numbers."""

import json

TITLES = {"error": "test error", "log_loss": "log loss"}


def draw(numbers, path):
    """Draw the packages as points, error or log loss against the time of a fit.

    Parameters
    ----------
    numbers : dict
        By package, as `study_report.ratios` returns them; stored as the description of the file.
    path : Path
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "peers", "font.size": 11})
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter, NullFormatter

    figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    for ax, (measure, title) in zip(axes, TITLES.items()):
        ax.axhline(1, color="0.8", zorder=0)
        ax.axvline(1, color="0.8", zorder=0)
        ax.plot(1, 1, "*", color="black", markersize=17, label="cwboost")
        for (name, over), marker in zip(numbers.items(), "osD^v<>"):
            label = f"{name}, {over['sets']} sets"
            ax.plot(over["fit_seconds"], over[measure], marker, markersize=9, label=label)
        ax.set(xscale="log", xlabel="time of a fit, cwboost = 1", ylabel=f"{title}, cwboost = 1")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.margins(0.15)
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(path, metadata={"Description": json.dumps(numbers), "Date": None})
    plt.close(figure)
