"""The demonstration of the paper: CW and CW-1 with stumps on two bundled sets, by its protocol."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Memory

from cwboost import CWBoostClassifier
from cwboost.datasets import load
from cwboost.experiments.methods import METHODS
from cwboost.experiments.protocols import PROTOCOLS, prepare
from cwboost.experiments.runner import choose_C
from cwboost.support.columns import aligned
from cwboost.support.extras import extra

__all__ = ["Trained", "draw", "save", "table", "train"]

SETS = ("VOWEL", "PENDIGITS")
METHOD_NAMES = ("CW", "CW-1")
CHECKPOINTS = (10, 20, 50, 100, 200)
SELECTION_ROUNDS = 50
COLUMNS = ("set", "method", "C", "rounds", "train%", "test%", "objective", "gap")
COLUMNS += ("pricing-s", "solver-s")


@dataclass(frozen=True)
class Trained:
    """A fitted model and its test error after every round."""

    dataset: str
    method: str
    model: CWBoostClassifier
    test_error: np.ndarray


def train(dataset, method, *, rounds, seed, n_jobs, verbose) -> Trained:
    """Split a bundled set 75/25, choose C on the training part, train, measure.

    CW chooses C from 1e2, 1e3, 1e4, 1e5 by the error on a held-out quarter of the training part
    after 50 rounds; CW-1 has C = 1e8.
    """
    protocol = PROTOCOLS[dataset]
    split = prepare(protocol, load(protocol.dataset), 0, seed=seed, memory=Memory(None))
    parameters = {"random_state": seed, "n_jobs": n_jobs}
    if METHODS[method].grid:
        n_rounds = min(rounds, SELECTION_ROUNDS)
        chosen = choose_C(METHODS[method], split, rounds=n_rounds, parameters=parameters)
        parameters["C"] = chosen["C"]
    model = METHODS[method].make(n_estimators=rounds, verbose=verbose, **parameters)
    model.fit(split.X_train, split.y_train)
    test_error = [np.mean(p != split.y_test) for p in model.staged_predict(split.X_test)]
    return Trained(dataset, method, model, np.array(test_error))


def table(trained) -> str:
    """Return a text table of errors, objective, gap and seconds at 10 to 200 rounds."""
    rows = [COLUMNS]
    for one in trained:
        history = one.model.history_
        for n in CHECKPOINTS:
            if n <= one.model.n_iter_:
                rows.append(
                    [
                        one.dataset,
                        one.method,
                        f"{one.model.C:.0e}",
                        str(n),
                        f"{100 * history['train_error'][n - 1]:.2f}",
                        f"{100 * one.test_error[n - 1]:.2f}",
                        f"{history['objective'][n - 1]:.4f}",
                        f"{history['gap'][n - 1]:.4f}",
                        f"{history['pricing_seconds'][:n].sum():.3f}",
                        f"{history['solver_seconds'][:n].sum():.3f}",
                    ]
                )
    return aligned(rows, right=range(len(COLUMNS)))


def save(trained: Trained, out: Path) -> Path:
    """Write the model file, which holds the history; return its path."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{trained.dataset.lower()}-{trained.method.lower()}.cwb"
    trained.model.save(path)
    return path


def draw(trained, path: Path) -> None:
    """Plot test error, objective and dual bound against rounds, one column per data set."""
    with extra("plot", "the figure needs matplotlib"):
        from matplotlib.figure import Figure
    sets = list(dict.fromkeys(one.dataset for one in trained))
    figure = Figure(figsize=(5.2 * len(sets), 7.2), layout="constrained")
    axes = figure.subplots(2, len(sets), squeeze=False)
    colours = {"CW": "#b2182b", "CW-1": "#2166ac"}
    for one in trained:
        above, below = axes[:, sets.index(one.dataset)]
        rounds = np.arange(1, one.model.n_iter_ + 1)
        colour, history = colours[one.method], one.model.history_
        label = f"{one.method}, C = {one.model.C:.0e}"
        above.plot(rounds, 100 * one.test_error, color=colour, label=label)
        below.plot(rounds, history["objective"], color=colour, label=f"{label}: objective")
        below.plot(
            rounds,
            np.where(history["dual_bound"] > 0, history["dual_bound"], np.nan),
            color=colour,
            linestyle=":",
            label=f"{one.method}: dual bound",
        )
        above.set(title=one.dataset, xlabel="rounds", ylabel="test error, %", xscale="log")
        below.set(xlabel="rounds", ylabel="objective", xscale="log", yscale="log")
    for panel in axes[1]:
        # Room for the legend above the curves.
        panel.set_ylim(top=panel.get_ylim()[1] * 300)
    for panel in axes.flat:
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8, loc="upper right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
