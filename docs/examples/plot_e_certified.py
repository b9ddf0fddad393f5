"""
A small model with a proof
==========================

Which biopsies are malignant? A table of points that a physician can read, and a bound on what any
other table of this kind could gain.
"""

# %%
# The data: 30 measurements of cell nuclei of 569 patients. An error has a price here, so that a
# model which nobody can check is of little use.
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier
from cwboost.plotting import plot_path, plot_scorecard

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# With stumps and total correction, the data choose C, and with it the number of coefficients: a
# holdout run goes from few to many, and the log loss of the rows left out decides.
clf = CWBoostClassifier("stump", correction="total", random_state=0).fit(X_train, y_train)
print(clf.plan_)
plot_path(clf)

# %%
# The proof: a bound on the objective over *all* models of stumps, of any size. At this C, on these
# rows, no other one is much better. It proves nothing about new rows.
history = clf.history_
gap = history["gap"][-1] / history["objective"][-1]
print(
    f"{history['n_nonzero'][-1]:.0f} coefficients, within {gap:.2%} of the optimum over all stumps"
)

# %%
# A smaller model on the same path: the smallest within one standard error of the best.
small = CWBoostClassifier("stump", correction="total", max_columns="one_se", random_state=0)
small.fit(X_train, y_train)
for name, model in {"best": clf, "one_se": small}.items():
    loss = log_loss(y_test, model.predict_proba(X_test))
    print(
        f"{name}: {model.history_['n_nonzero'][-1]:.0f} coefficients, log loss {loss:.3f}, "
        f"error {1 - model.score(X_test, y_test):.1%}"
    )

# %%
# The whole model as a table. Of every feature, one row applies to a patient; the sum of their
# points gives the probability. Whole points cost little.
card = small.scorecard()
whole = card.rounded(points_to_double=5)
print(whole)
exact, rounded = (log_loss(y_test, one.predict_proba(X_test)) for one in (card, whole))
print(f"log loss {exact:.4f}, of whole points {rounded:.4f}")

# %%
# The same as a picture, the largest effects first:
plot_scorecard(small)

# %%
# When to take it: if somebody has to read, check or sign the model, or if it runs where there is no
# room for a large one. When not: if only the error counts, ``CWBoostClassifier()`` is lower.
default = CWBoostClassifier(random_state=0).fit(X_train, y_train)
loss = log_loss(y_test, default.predict_proba(X_test))
print(f"default: log loss {loss:.3f}, error {1 - default.score(X_test, y_test):.1%}")
