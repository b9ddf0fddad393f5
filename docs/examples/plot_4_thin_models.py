"""
Thin models
===========

Keep some weak learners of a trained model, with new coefficients.
"""

# %%
# Stage-wise training never corrects an earlier round, so a model of stumps or projections has many.
# ``thin`` solves for all coefficients at once. The smaller C is, the more of them end at zero and
# are left out.
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier
from cwboost.datasets import load_vowel

X, y = load_vowel(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, stratify=y, random_state=0)
clf = CWBoostClassifier(
    "projection",
    init=None,
    n_estimators=150,
    random_state=0,
).fit(X_train, y_train)

# %%
# One thin model per C, measured on examples that training did not see.
sizes, errors = [], []
for C in (10, 30, 100, 300, 1000, 10000):
    thin = clf.thin(X_train, y_train, C=C)
    sizes.append(len(thin.ensemble_.learners))
    errors.append(1 - thin.score(X_rest, y_rest))
    print(f"C = {C:5}: {sizes[-1]:4} weak learners, error {errors[-1]:.1%}")

# %%
# For comparison, the first rounds of the full model, with their coefficients.
import numpy as np
from matplotlib import pyplot

cut = [np.mean(p != y_rest) for p in clf.staged_predict(X_rest)]
per_round = len(clf.ensemble_.learners) / clf.n_iter_
ax = pyplot.subplots(layout="constrained")[1]
ax.plot(per_round * np.arange(1, len(cut) + 1), cut, label="first rounds of the full model")
ax.plot(sizes, errors, "o-", label="thin models")
ax.set(
    title="Error against size",
    xlabel="number of weak learners",
    ylabel="fraction of wrong predictions",
)
ax.legend()
