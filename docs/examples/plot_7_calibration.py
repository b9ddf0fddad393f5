"""
Probabilities that can be trusted
=================================

Boosted scores are over-confident. This example calibrates them on a holdout set.
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
# ``probability_scale=2`` takes the probabilities that follow from the loss. They are too extreme,
# which training data that are fitted without an error cannot show.
clf = CWBoostClassifier(
    "stump", correction="total", C=1e4, n_estimators=100, probability_scale=2.0, random_state=0
)
clf.fit(X_train, y_train)
before = log_loss(y_test, clf.predict_proba(X_test))
ax = pyplot.subplots(layout="constrained")[1]
plot_calibration(clf, X_test, y_test, label="from the loss", ax=ax)

# %%
# ``calibrate`` fits one number, the scale of the scores, on held-out examples. Predictions do not
# change. Passing ``X_val`` and ``y_val`` to ``fit`` does the same; without them, the default fits
# the scale by a holdout run.
clf.calibrate(X_held, y_held)
after = log_loss(y_test, clf.predict_proba(X_test))
print(f"log loss on new examples: {before:.3f} before, {after:.3f} after calibration")
ax = pyplot.subplots(layout="constrained")[1]
plot_calibration(clf, X_test, y_test, label="calibrated", ax=ax)
