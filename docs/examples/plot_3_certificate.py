"""
The certificate and what it means
=================================

How far is the model from the best that stumps can do? Training computes a bound.
"""

# %%
# Training minimises an objective: the sum of the coefficients plus C times the loss. Decision
# stumps are searched exactly, so each round also yields a *lower bound*: no model of stumps
# whatever, with any number of rounds, has a smaller objective.
from cwboost import CWBoostClassifier
from cwboost.datasets import load_vowel
from cwboost.plotting import plot_history

X, y = load_vowel(return_X_y=True)
clf = CWBoostClassifier("stump", correction="total", C=100, n_estimators=200, random_state=0)
clf.fit(X, y)
plot_history(clf, "objective")

# %%
# The distance between the two curves is the gap. It is all that further training could gain.
objective, gap = clf.history_["objective"], clf.history_["gap"]
for n in (10, 30, clf.n_iter_):
    print(
        f"after {n} rounds the objective is within {gap[n - 1] / objective[n - 1]:.2%} of the best"
    )
print("why training ended:", clf.stop_reason_)

# %%
# The certificate bounds the objective, for this C and this family, **not** the error on new
# examples. If the gap is small, a better model needs another C or other weak learners, not more
# rounds.
from sklearn.model_selection import train_test_split

X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
for C in (10, 100, 1000):
    clf = CWBoostClassifier("stump", correction="total", C=C, n_estimators=100, random_state=0)
    clf.fit(X_train, y_train)
    rest = clf.history_["gap"][-1] / clf.history_["objective"][-1]
    print(f"C = {C:4}: gap {rest:6.2%}, test error {1 - clf.score(X_test, y_test):.1%}")
