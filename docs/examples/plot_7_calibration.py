"""
Probabilities that can be trusted
=================================

Boosting is sure of itself. Held-out examples tell it how sure it may be.
"""

# %%
from matplotlib import pyplot
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier
from cwboost.datasets import load_vowel
from cwboost.plotting import plot_calibration

X, y = load_vowel(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(
    X, y, train_size=0.5, stratify=y, random_state=0
)
X_held, X_test, y_held, y_test = train_test_split(
    X_rest, y_rest, train_size=0.5, stratify=y_rest, random_state=0
)

# %%
# ``probability_scale=2`` takes the probabilities that follow from the loss. On training data that
# are fitted without an error, nothing says that they are too extreme.
clf = CWBoostClassifier(
    "stump", correction="total", n_estimators=100, probability_scale=2.0, random_state=0
)
clf.fit(X_train, y_train)
before = log_loss(y_test, clf.predict_proba(X_test))
ax = pyplot.subplots(layout="constrained")[1]
plot_calibration(clf, X_test, y_test, label="from the loss", ax=ax)

# %%
# ``calibrate`` fits one number, the scale of the scores, on examples that were kept.
# Predictions stay as they are. Passing ``X_val`` and ``y_val`` to ``fit`` does the same. Without
# them, ``fit`` does a short holdout run without a fifth of the examples, unless a scale is given.
clf.calibrate(X_held, y_held)
after = log_loss(y_test, clf.predict_proba(X_test))
print(f"log loss on new examples: {before:.3f} before, {after:.3f} after calibration")
ax = pyplot.subplots(layout="constrained")[1]
plot_calibration(clf, X_test, y_test, label="calibrated", ax=ax)
