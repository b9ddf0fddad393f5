"""
Explaining a model
==================

Which features matter, how, and why this example got this label.
"""

# %%
# A stump looks at one feature, so a model of stumps is a sum of step functions, one per feature
# and class. Pictures of these functions show the model exactly.
import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_wine

from cwboost import CWBoostClassifier, TreeFamily
from cwboost.plotting import plot_importances, plot_shape

wine = load_wine(as_frame=True)
X, y = wine.data, wine.target_names[wine.target]
clf = CWBoostClassifier("stump", correction="total", C=1000, n_estimators=30, random_state=0)
clf.fit(X, y)
plot_importances(clf)

# %%
# The part of the score of each grower that depends on the amount of proline. The ticks at the
# bottom are the deciles of the data.
plot_shape(clf, "proline", X=X)

# %%
# One bottle: the parts of its scores, feature by feature. With the constant they add up to the
# scores exactly.
bottle = X.iloc[[61]]
constant, parts, _ = clf.explain(bottle)
print("predicted:", clf.predict(bottle)[0], " true:", y[61])
assert np.allclose(constant + parts[0].sum(axis=0), clf.decision_function(bottle)[0])
ax = pyplot.subplots(figsize=(7, 6), layout="constrained")[1]
rows = np.arange(len(X.columns))
for place, label in enumerate(clf.classes_):
    ax.barh(rows + 0.25 * (1 - place), parts[0, :, place], height=0.25, label=label)
ax.set_yticks(rows, X.columns)
ax.axvline(0.0, color="0.3", linewidth=0.8)
ax.set(title="Parts of the scores of one bottle", xlabel="part of the score")
ax.legend()

# %%
# Trees compare several features, so their scores are not such sums. SHAP values divide each score
# among the features. With the mean score of the background, here the data, they add up to the
# scores.
trees = CWBoostClassifier("tree", init=None, n_estimators=30, random_state=0)
trees.fit(X, y)
base, values, _ = trees.shap_values(X, background=X)
assert np.allclose(base + values.sum(axis=1), trees.decision_function(X))

# %%
# One dot per wine for the features that move the scores of one grower most. Red dots are wines
# with much of the feature, blue ones with little.
grower = 0
of_grower = values[:, :, grower]
strongest = np.argsort(np.abs(of_grower).mean(axis=0))[-8:]
rng = np.random.default_rng(0)
figure, ax = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
for row, feature in enumerate(strongest):
    heights = row + rng.uniform(-0.25, 0.25, len(X))
    rank = X.iloc[:, feature].rank(pct=True)
    dots = ax.scatter(of_grower[:, feature], heights, c=rank, s=10, cmap="coolwarm")
ax.set_yticks(range(len(strongest)), X.columns[strongest])
ax.axvline(0.0, color="0.3", linewidth=0.8)
ax.set(title=f"SHAP values for {trees.classes_[grower]}", xlabel="part of the score")
figure.colorbar(dots, label="value of the feature, as a rank")

# %%
# A single weak learner, the first one of a model of small trees. Examples for which a comparison
# holds go right. All classes share the tree: a leaf has the class whose score it moves most.
from cwboost.plotting import plot_tree

small = TreeFamily(max_depth=3)
trees = CWBoostClassifier(small, init=None, n_estimators=10, random_state=0).fit(X, y)
plot_tree(trees)
