"""
Categorical columns
===================

Columns of names go into ``fit`` as they are.
"""

# %%
# A made-up table: the rent of a flat follows from its street and its size. The eighty streets
# have no order that a threshold could use.
import numpy as np
import pandas as pd

from cwboost import CWBoostClassifier

rng = np.random.default_rng(0)
n, streets = 2000, np.array([f"street {k:02}" for k in range(80)])
per_metre = rng.uniform(8, 24, size=80)
street, size = rng.integers(80, size=n), rng.gamma(6, 14, size=n)
rent = per_metre[street] * size * rng.normal(1, 0.05, n)
X = pd.DataFrame({"street": pd.Categorical(streets[street]), "square metres": size})
y = pd.cut(rent, [0, 800, 1500, np.inf], labels=["low", "middle", "high"]).astype(str)
print(X.head(3))

# %%
# Columns of the dtype "category" are treated as categories. Trees split them by the ranks of the
# categories by frequency. A street that does not occur in training counts as a missing value.
train, test = slice(0, 1500), slice(1500, None)
clf = CWBoostClassifier(random_state=0).fit(X[train], y[train])
print(f"categories:      accuracy {clf.score(X[test], y[test]):.1%}")

# %%
# How many rounds: the log loss of examples left out, which the default measures before it trains.
from cwboost.plotting import plot_dependence, plot_holdout, plot_importances

plot_holdout(clf)

# %%
# Which columns move the scores, and how: each dot is a flat.
plot_importances(clf)

# %%
plot_dependence(clf, X[test], "square metres", "high")

# %%
# Why this flat: the SHAP values of its scores, by column. With the base they add up to the score.
flat = X[test].iloc[[0]]
base, values, _ = clf.explain(flat)
parts = pd.DataFrame(values[0], index=X.columns, columns=clf.classes_)
parts.loc["base"] = base
print(flat.to_string(index=False), parts.round(2), sep="\n\n")
assert np.allclose(parts.sum(), clf.decision_function(flat)[0])

# %%
# For comparison: the names numbered in the order of the alphabet, and one column per name. On 500
# flats, differences of a point or two are noise.
numbered = X.assign(street=X["street"].cat.codes)
hot = pd.get_dummies(X, dtype=float)
for name, data in [("numbers", numbered), ("one per name", hot)]:
    accuracy = clf.fit(data[train], y[train]).score(data[test], y[test])
    print(f"{name + ':':16} accuracy {accuracy:.1%}")

# %%
# What the model learned: the predicted rent by size, the cheapest street on top.
from matplotlib import pyplot

clf.fit(X[train], y[train])
sizes = np.linspace(20, 160, 120)
order = streets[np.argsort(per_metre)]
grid = pd.DataFrame(
    {
        "street": pd.Categorical(np.repeat(order, 120), categories=streets),
        "square metres": np.tile(sizes, 80),
    }
)
level = {"low": 0, "middle": 1, "high": 2}
picture = np.array([level[label] for label in clf.predict(grid)]).reshape(80, 120)
ax = pyplot.subplots(layout="constrained")[1]
image = ax.imshow(picture, aspect="auto", extent=(20, 160, 80, 0), cmap="YlGnBu")
ax.set(title="Predicted rent", xlabel="square metres", ylabel="streets by rent per square metre")
ax.figure.colorbar(image, ticks=[0, 1, 2]).ax.set_yticklabels(level)
