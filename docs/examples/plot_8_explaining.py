"""
Explaining a model
==================

Which features matter, how, and why this example got this label.
"""

# %%
# A stump looks at one feature, so a model of stumps is a sum of step functions, one per feature
# and class. Nothing has to be approximated to show it.
import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_iris

from cwboost import CWBoostClassifier
from cwboost.plotting import plot_importances, plot_shape

iris = load_iris(as_frame=True)
X, names = iris.data, iris.target_names
clf = CWBoostClassifier("stump", correction="total", C=1000, n_estimators=30, random_state=0)
clf.fit(X, names[iris.target])
plot_importances(clf)

# %%
# The most important feature, class by class: short petals speak for setosa. The ticks at the
# bottom are the deciles of the data.
plot_shape(clf, "petal length (cm)", X=X)

# %%
# One flower, the 107th: the parts of its scores, feature by feature. With the constant they add up
# to the scores exactly.
flower = X.iloc[[106]]
constant, parts = clf.explain(flower)
print("predicted:", clf.predict(flower)[0], " true:", names[iris.target[106]])
assert np.allclose(constant + parts[0].sum(axis=0), clf.decision_function(flower)[0])
ax = pyplot.subplots(layout="constrained")[1]
left = np.arange(len(X.columns))
for place, label in enumerate(clf.classes_):
    ax.barh(left + 0.25 * (1 - place), parts[0, :, place], height=0.25, label=label)
ax.set_yticks(left, X.columns)
ax.axvline(0.0, color="0.3", linewidth=0.8)
ax.set(title="What speaks for which class", xlabel="part of the score")
ax.legend()
