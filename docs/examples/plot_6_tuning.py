"""
Tuning
======

Choose C along a path, and the other parameters by a search.
"""

# %%
# With total correction, C is the weight of the loss relative to the size of the coefficients.
# ``CWBoostClassifierCV`` tries several values. Each continues from the model of the previous one,
# which takes less time than a fit of its own.
from sklearn.model_selection import StratifiedKFold

from cwboost import CWBoostClassifier, CWBoostClassifierCV
from cwboost.datasets import load_vowel

X, y = load_vowel(return_X_y=True)
template = CWBoostClassifier("stump", correction="total", n_estimators=60, random_state=0)
folds = StratifiedKFold(3, shuffle=True, random_state=0)
search = CWBoostClassifierCV(template, Cs=(10, 1e2, 1e3, 1e4, 1e5), cv=folds).fit(X, y)
print("chosen: C =", search.C_)

# %%
from matplotlib import pyplot

ax = pyplot.subplots(layout="constrained")[1]
ax.plot(search.Cs_, search.scores_, color="0.7")
ax.plot(search.Cs_, search.scores_.mean(axis=1), "o-", label="mean of the folds")
ax.set(title="Accuracy against C", xscale="log", xlabel="C", ylabel="accuracy on held-out folds")
ax.legend()

# %%
# Searches of scikit-learn tune everything else. Parameters of the weak learner have the prefix
# ``weak_learner__``, also if it is given by name.
from sklearn.model_selection import RandomizedSearchCV

trees = CWBoostClassifier("tree", init=None, n_estimators=40, random_state=0)
space = {
    "weak_learner__max_depth": [2, 4, 6],
    "learning_rate": [0.1, 0.3, 1.0],
    "subsample": [0.5, 1.0],
}
found = RandomizedSearchCV(trees, space, n_iter=5, cv=folds, random_state=0).fit(X, y)
print(f"{found.best_score_:.1%} with {found.best_params_}")
