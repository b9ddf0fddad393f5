"""
Patterns in images
==================

A plugin of a hundred lines that looks for small patterns.
"""

# %%
# ``PatchFamily`` slides small filters over a part of an image and compares the largest response
# with a threshold. Half of its filters are patches of training images. The others follow from the
# weights of the round: they respond to what distinguishes the examples of a class. It is a package
# in the folder ``plugins/patches`` of the sources: ``pip install ./plugins/patches``.
import numpy as np
from cwboost_patches import PatchFamily
from matplotlib import pyplot
from sklearn.datasets import load_digits
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier

X, y = load_digits(return_X_y=True)

# %%
# The same settings for each weak learner; the mean error over three splits into halves. The third
# model starts from the kernel model.
for name, weak_learner, init in [
    ("stumps", "stump", None),
    ("trees", "tree", None),
    ("kernel, patches", PatchFamily(image_shape=(8, 8)), "kernel"),
    ("patches", PatchFamily(image_shape=(8, 8)), None),
]:
    errors = []
    for seed in range(3):
        halves = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=y)
        X_train, X_test, y_train, y_test = halves
        clf = CWBoostClassifier(weak_learner, init=init, n_estimators=150, random_state=0)
        errors.append(1 - clf.fit(X_train, y_train).score(X_test, y_test))
    print(f"{name:15} test error {np.mean(errors):.1%}")

# %%
# Which pixels the predictions need: shuffling one of them over new images costs accuracy. The
# corners of the images are empty.
needed = permutation_importance(clf, X_test, y_test, n_repeats=3, random_state=0)
figure, ax = pyplot.subplots(figsize=(4, 3.5), layout="constrained")
image = ax.imshow(needed.importances_mean.reshape(8, 8), cmap="viridis")
figure.colorbar(image, label="accuracy lost")

# %%
# The filters of largest coefficient:
patches = clf.ensemble_
strongest = np.argsort(-np.asarray(patches.coef().max(axis=1).todense()).ravel())[:10]
figure, axes = pyplot.subplots(1, 10, figsize=(9, 1.2), layout="constrained")
for ax, learner in zip(axes, strongest):
    ax.imshow(patches.learners.filter[learner], cmap="RdBu")
    ax.set_axis_off()
