"""
Tuning
======

Choose parameters by a search.
"""

# %%
# With total correction, C is the weight of the loss relative to the size of the coefficients.
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from cwboost import CWBoostClassifier
from cwboost.datasets import load_vowel

X, y = load_vowel(return_X_y=True)
stumps = CWBoostClassifier("stump", correction="total", n_estimators=60, random_state=0)
folds = StratifiedKFold(3, shuffle=True, random_state=0)
Cs = [10, 1e2, 1e3, 1e4, 1e5]
search = GridSearchCV(stumps, {"C": Cs}, cv=folds).fit(X, y)
print("chosen:", search.best_params_)

# %%
import numpy as np
from matplotlib import pyplot

ax = pyplot.subplots(layout="constrained")[1]
scores = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(3)])
ax.plot(Cs, scores.T, color="0.7")
ax.plot(Cs, scores.mean(axis=0), "o-", label="mean of the folds")
ax.set(title="Accuracy against C", xscale="log", xlabel="C", ylabel="accuracy on held-out folds")
ax.legend()

# %%
# A search tunes everything else too. Parameters of the weak learner have the prefix
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
