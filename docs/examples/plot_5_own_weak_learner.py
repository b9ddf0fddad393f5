"""
A weak learner of your own
==========================

Teach boosting what you know about the data.
"""

# %%
# Points on rings: the class depends on the distance from a centre, not on any one coordinate.
import numpy as np
from matplotlib import pyplot

from cwboost import CWBoostClassifier, DerivedFeatureFamily

rng = np.random.default_rng(0)
X = rng.normal(size=(1200, 2))
y = np.digitize(np.hypot(X[:, 0], X[:, 1]), [0.7, 1.3, 2.0])
X_train, X_test, y_train, y_test = X[:600], X[600:], y[:600], y[600:]


# %%
# Most families compute a feature and compare it with a threshold. Two methods define the features;
# the search for thresholds, model files and fast predictions are inherited.
class Distances(DerivedFeatureFamily):
    """Thresholds on the distance from a point near the data."""

    name = "distance"
    api_version = 1
    layout = {"centre": ("float64", ("n_features",))}

    def __init__(self, n_derived=20):
        self.n_derived = n_derived

    def draw(self, context):
        size = self.n_derived, context.X.shape[1]
        return {"centre": context.random_state.normal(size=size)}

    @staticmethod
    def transform(X, centre):
        return np.linalg.norm(X[:, np.newaxis] - centre, axis=2)


# %%
# An instance of it takes the place of a name.
models = {
    "stumps": CWBoostClassifier(
        "stump", correction="total", C=1e4, n_estimators=20, random_state=0
    ),
    "distances": CWBoostClassifier(
        Distances(), correction="total", C=1e4, n_estimators=20, random_state=0
    ),
}
for name, model in models.items():
    print(f"{name}: test error {1 - model.fit(X_train, y_train).score(X_test, y_test):.1%}")

# %%
# Where each model draws the borders:
grid = np.linspace(-3, 3, 150)
mesh = np.array(np.meshgrid(grid, grid)).reshape(2, -1).T
figure, axes = pyplot.subplots(1, 2, figsize=(9, 4.4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items()):
    ax.contourf(grid, grid, model.predict(mesh).reshape(150, 150), alpha=0.4, levels=3)
    ax.scatter(*X_test.T, c=y_test, s=5)
    ax.set(title=name, aspect="equal", xlim=(-3, 3), ylim=(-3, 3))

# %%
# To use the family by name, to save models and to share it, put it in a package: ``cwboost
# plugins new NAME`` writes one. The page :doc:`/plugins/tutorial` goes on from there.
