"""Training error and objective against rounds, and the loss of the holdout run."""

import numpy as np

from cwboost.plotting.axes import add_legend, new_axes, over_rounds

LABELS = {
    "train_error": "training examples",
    "valid_error": "validation examples",
    "objective": "objective",
    "dual_bound": "lower bound",
}
YLABELS = {"error": "fraction of wrong predictions", "objective": "objective"}


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
    ax = new_axes(ax)
    rounds = np.arange(1, len(history[drawn[0]]) + 1)
    for name in drawn:
        ax.plot(rounds, history[name], label=LABELS[name])
    if what == "objective":
        if len(drawn) == 2:
            ax.fill_between(rounds, *(history[name] for name in names), alpha=0.15, label="gap")
        if np.nanmin(history["objective"]) > 0:
            ax.set_yscale("log")
    bounded = "dual_bound" in drawn
    title = "Objective and a lower bound on it" if bounded else f"{what.capitalize()} by round"
    ax.set(title=title, ylabel=YLABELS[what])
    over_rounds(ax)
    ax.legend()
    return ax


def plot_holdout(classifier, *, ax=None):
    """Plot the log loss of the holdout runs that chose the training and the number of rounds.

    Parameters
    ----------
    classifier : fitted `CWBoostClassifier` whose ``plan_`` has holdout runs
        The default does them.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        One curve per candidate that was tried, by its start and what it changes; a point marks what
        the training was to match. Rounds are those of the training: holdout runs take longer steps.
    """
    plan = getattr(classifier, "plan_", None)
    if plan is None or not plan.curves:
        raise ValueError(
            "classifier must have a plan_ with a holdout run, which the default does and a given "
            f"n_estimators or X_val replaces, got {plan}"
        )
    ax = new_axes(ax)
    entries = []
    for name, curve in plan.curves.items():
        rounds = curve.length / plan.learning_rate
        (line,) = ax.plot(rounds, curve.loss)
        entries.append((line, name))
        if curve is plan.curve:
            kept = rounds[curve.kept], curve.kept_loss
            label = f"kept: {kept[1]:.4g} after {kept[0]:.0f} rounds"
            (point,) = ax.plot(*kept, "o", color=line.get_color())
            entries.append((point, label))
    ax.set(title="Log loss of examples left out", ylabel="log loss")
    over_rounds(ax)
    add_legend(ax, entries)
    return ax


def plot_path(classifier, *, ax=None):
    """Plot the log loss of the rows left out against the size of the model, along the path of C.

    Parameters
    ----------
    classifier : fitted `CWBoostClassifier` whose C the data chose
        With ``correction="total"`` and ``C=None``.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        One point per value of C; bars are standard errors, and a circle marks the choice.
    """
    path = getattr(classifier, "path_", None)
    if path is None:
        raise ValueError(
            "classifier must have a path_, got None: fit it with correction='total' and C=None"
        )
    ax = new_axes(ax)
    ax.errorbar(path["n_nonzero"], path["log_loss"], path["log_loss_se"], marker=".", capsize=2)
    n_rounds = classifier.best_iteration_
    chosen = classifier.history_["C"][n_rounds - 1] if n_rounds else classifier.plan_.Cs[-1]
    at = int(np.argmin(abs(path["C"] - chosen)))
    x, y, C = (path[name][at] for name in ("n_nonzero", "log_loss", "C"))
    ax.plot(x, y, "o", mfc="none", ms=12, label=f"C = {C:g}: {x:.0f} coefficients, {y:.4g}")
    ax.set(xscale="log", xlabel="coefficients", ylabel="log loss", title="Rows left out, by size")
    ax.legend()
    return ax
