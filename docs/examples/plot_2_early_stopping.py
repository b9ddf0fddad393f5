"""
Early stopping
==============

Choose the number of rounds on held-out examples.
"""

# %%
# Five groups of points that overlap: no classifier can separate all of them, and a long training
# fits noise.
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier

X, y = make_blobs(2500, n_features=4, centers=5, cluster_std=4.8, random_state=3)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=1000, random_state=0)

# %%
# ``early_stopping=True`` holds out a part of the training examples and stops once their log loss
# has not fallen for ``n_iter_no_change`` rounds. The model keeps the last round whose log loss is
# within 2% of the best.
settings = {"init": None, "learning_rate": 0.3, "random_state": 0}
stopped = CWBoostClassifier(
    "tree", n_estimators=100, early_stopping=True, n_iter_no_change=15, **settings
).fit(X_train, y_train)
print("stopped by:", stopped.stop_reason_)
print("rounds trained:", stopped.n_iter_, " kept:", stopped.best_iteration_)

# %%
# Without it, all 100 rounds are trained and kept. They make the model larger, not better.
from sklearn.metrics import log_loss

full = CWBoostClassifier("tree", n_estimators=100, **settings).fit(X_train, y_train)
for name, model in (("early stopping", stopped), ("all rounds", full)):
    loss = log_loss(y_test, model.predict_proba(X_test))
    size = len(model.ensemble_.learners)
    print(
        f"{name}: {size} weak learners, log loss {loss:.3f}, accuracy "
        f"{model.score(X_test, y_test):.1%}"
    )

# %%
# The log loss on new examples rises again while that on the training examples keeps falling.
from matplotlib import pyplot

from cwboost.plotting import plot_loss

ax = pyplot.subplots(layout="constrained")[1]
plot_loss(full, X_train, y_train, label="training examples", ax=ax)
plot_loss(full, X_test, y_test, label="new examples", ax=ax)
ax.axvline(stopped.best_iteration_, color="0.5", linestyle=":", label="early stopping")
ax.legend()
