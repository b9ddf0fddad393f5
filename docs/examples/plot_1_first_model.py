"""
A first model
=============

Train on pen-written digits, look at the loss round by round, and see which digits the model
confuses.
"""

# %%
# PENDIGITS comes with the package: 10,992 digits, each described by the coordinates of eight
# points along the pen's path. A part of it suffices here.
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier
from cwboost.datasets import load_pendigits

X, y = load_pendigits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, train_size=3000, stratify=y, random_state=0
)

# %%
# The classifier has the interface of scikit-learn. What no parameter sets, it chooses on rows that
# it holds out itself; ``plan_`` shows what, and why.
clf = CWBoostClassifier(random_state=0).fit(X_train, y_train)
print(f"test accuracy {clf.score(X_test, y_test):.1%} after {clf.n_iter_} rounds")
print(clf.plan_)

# %%
# The loss on the test rows, had training stopped after fewer rounds.
from cwboost.plotting import plot_loss

plot_loss(clf, X_test, y_test, label="test rows")

# %%
# Most of the errors that are left confuse a few pairs of digits.
from sklearn.metrics import ConfusionMatrixDisplay

ConfusionMatrixDisplay.from_estimator(clf, X_test, y_test, cmap="Blues")
