"""
A first model
=============

Train on pen-written digits, look at the error round by round, and see which digits are taken for
which.
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
# The classifier has the interface of scikit-learn. Examples passed as ``X_val`` and ``y_val``
# are watched during training and not trained on.
clf = CWBoostClassifier(
    "tree", correction="stagewise", learning_rate=0.1, n_estimators=80, random_state=0
)
clf.fit(X_train, y_train, X_val=X_test, y_val=y_test)
print(f"test accuracy {clf.score(X_test, y_test):.1%}")

# %%
# The history holds the errors after every round.
from cwboost.plotting import plot_confusion, plot_history

plot_history(clf)

# %%
# Most of the errors that are left confuse a few pairs of digits.
plot_confusion(clf, X_test, y_test)
