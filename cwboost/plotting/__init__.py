"""Plots of fitted classifiers; matplotlib is the optional extra ``cwboost[plot]``.

Each function draws into `ax`, by default a new figure, and returns the Axes.
"""

from cwboost.plotting.features import plot_importances, plot_shape
from cwboost.plotting.history import plot_history
from cwboost.plotting.margins import plot_margins

__all__ = ["plot_history", "plot_importances", "plot_margins", "plot_shape"]
