"""Plots of fitted classifiers; needs matplotlib.

Each function draws into `ax`, by default a new figure, and returns the Axes.
"""

from cwboost.plotting.dependence import plot_dependence
from cwboost.plotting.features import plot_importances
from cwboost.plotting.history import plot_history, plot_holdout, plot_path
from cwboost.plotting.margins import plot_margins
from cwboost.plotting.predictions import plot_calibration, plot_loss
from cwboost.plotting.scorecard import plot_scorecard
from cwboost.plotting.shape import plot_shape
from cwboost.plotting.trees import plot_tree

__all__ = [
    "plot_calibration",
    "plot_dependence",
    "plot_history",
    "plot_holdout",
    "plot_importances",
    "plot_loss",
    "plot_margins",
    "plot_path",
    "plot_scorecard",
    "plot_shape",
    "plot_tree",
]
