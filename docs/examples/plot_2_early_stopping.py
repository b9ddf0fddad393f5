"""
Early stopping
==============

Let held-out examples say how many rounds are enough.
"""

# %%
# With labels that are partly wrong, a long training learns the mistakes. Here a fifth of the
# training labels of VOWEL are drawn at random.
import numpy as np
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier
from cwboost.datasets import load_vowel

X, y = load_vowel(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
rng = np.random.default_rng(0)
noisy = y_train.copy()
wrong = rng.random(len(noisy)) < 0.2
noisy[wrong] = rng.choice(np.unique(y), wrong.sum())

# %%
# ``early_stopping=True`` holds out a part of the training examples and stops once their error
# has not fallen for ``n_iter_no_change`` rounds. The model keeps the rounds up to the best.
settings = {"correction": "stagewise", "learning_rate": 0.1, "random_state": 0}
stopped = CWBoostClassifier(
    "tree", n_estimators=300, early_stopping=True, n_iter_no_change=30, **settings
).fit(X_train, noisy)
print(stopped.stop_reason_, "after", stopped.n_iter_, "rounds;", stopped.best_iteration_, "kept")
print(f"test accuracy {stopped.score(X_test, y_test):.1%}")

# %%
# Without it, the loss on new examples rises again while the training error keeps falling.
from matplotlib import pyplot

from cwboost.plotting import plot_loss

full = CWBoostClassifier("tree", n_estimators=300, **settings).fit(X_train, noisy)
ax = pyplot.subplots(layout="constrained")[1]
plot_loss(full, X_train, noisy, label="training labels, partly wrong", ax=ax)
plot_loss(full, X_test, y_test, label="new examples", ax=ax)
ax.axvline(stopped.best_iteration_, color="0.5", linestyle=":", label="early stopping")
ax.legend()
