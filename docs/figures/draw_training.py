"""Draw training.svg, the figure of the landing page: ``python docs/figures/draw_training.py``."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier
from cwboost.datasets import load_pendigits

# One grey that can be read on a light and on a dark page; the page itself is the background.
GREY = "#848484"
COLOURS = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
matplotlib.rcParams.update(dict.fromkeys(COLOURS, GREY))
matplotlib.rcParams.update({"svg.hashsalt": "cwboost", "font.size": 11})


def main():
    X, y = load_pendigits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    clf = CWBoostClassifier(
        correction="total", weak_learner="stump", C=1e4, n_estimators=100, random_state=0
    )
    clf.fit(X_train, y_train)
    errors = [100 * np.mean(labels != y_test) for labels in clf.staged_predict(X_test)]
    rounds = np.arange(1, clf.n_iter_ + 1)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
    objective, bound = clf.history_["objective"], clf.history_["dual_bound"]
    left.plot(rounds, objective, color="C0", label="objective")
    left.plot(rounds, bound, color="C1", label="lower bound")
    left.fill_between(rounds, bound, objective, color="C0", alpha=0.2, lw=0, label="gap")
    left.set(xlabel="rounds", title="Objective and certificate", yscale="log")
    left.set_ylim(20, None)
    left.legend(frameon=False)
    right.plot(rounds, errors, color="C2")
    right.set(xlabel="rounds", title="Test error, %", yscale="log")
    ticks = (3, 5, 10, 20, 40)
    right.set_yticks(ticks, [str(tick) for tick in ticks])
    right.minorticks_off()
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    target = Path(__file__).with_name("training.svg")
    figure.savefig(target, transparent=True, metadata={"Date": None})
    print(f"{target}: test error {errors[0]:.1f}% to {errors[-1]:.1f}%")


if __name__ == "__main__":
    main()
