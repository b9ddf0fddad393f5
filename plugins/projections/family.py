"""The family of thresholded random projections."""

from numbers import Integral
from typing import ClassVar

import numpy as np
from cwboost.plugins.projections.standardise import centre_and_scale, moments

import cwboost
from cwboost.kernels import seeded_directions


class ProjectionFamily(cwboost.DerivedFeatureFamily):
    """Thresholds on random directions: h(x) = sign(<a, x> - t).

    Every round draws new directions, projects all examples on them and, for every target, searches
    all thresholds of all projections, both signs and the two constants.

    Parameters
    ----------
    n_projections : int, default=100
        Number of directions per round. Their entries, in standardised features, are independent
        and normal.

    Notes
    -----
    Features are divided by their standard deviation, rounded to 12 bits so that it does not depend
    on the order of its sums; features that do not vary are left out. Sparse matrices stay sparse.

    A learner is stored as a seed and a threshold: the entries of its direction are computed again
    by integer arithmetic. X is not copied.

    On partitions (`cwboost.dask`) thresholds lie between at most 256 bins of the projections. The
    result equals that on all examples, up to rounding, if there are at most 256 distinct
    projections.

    Examples
    --------
    >>> from cwboost import CWBoostClassifier, ProjectionFamily
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CWBoostClassifier(ProjectionFamily(n_projections=50), n_estimators=20)
    >>> bool(clf.fit(X, y).score(X, y) > 0.9)
    True
    """

    name = "projection"
    api_version = 1
    layout: ClassVar = {"seed": ("uint64", ())}
    shared: ClassVar = {
        "centre": ("float64", ("n_features",)),
        "scale": ("float64", ("n_features",)),
    }
    sample_size = 512
    capabilities = cwboost.Capabilities(sparse_input=True, symmetric=True)

    def __init__(self, n_projections=100):
        self.n_projections = n_projections

    def in_words(self, size):
        return "thresholds on random directions"

    def check_parameters(self, n_features):
        n = self.n_projections
        if isinstance(n, bool) or not isinstance(n, Integral):
            raise TypeError(f"n_projections must be an int, got {n!r}")
        if n < 1:
            raise ValueError(f"n_projections must be at least 1, got {n}")

    def summarise(self, X):
        return moments(X)

    def draw_shared(self, context):
        centre, scale = centre_and_scale(context.summaries)
        return {"centre": centre, "scale": scale}

    def draw(self, context):
        size = int(self.n_projections)
        return {"seed": context.random_state.integers(0, 2**64, size=size, dtype=np.uint64)}

    @staticmethod
    def direction(n_features, **parameters):
        return seeded_directions(parameters["seed"], parameters["scale"])

    @staticmethod
    def origin(n_features, **parameters):
        return parameters["centre"]

    @staticmethod
    def check_stored(n_features, **parameters):
        centre, scale = parameters["centre"], parameters["scale"]
        # As training makes them; beyond, projections would overflow.
        if not ((scale >= 0) & (scale <= 1e150)).all():
            raise ValueError("array 'scale' must hold numbers in [0, 1e150]")
        with np.errstate(over="ignore", invalid="ignore"):
            if not (np.isfinite(centre) & (np.abs(centre) * scale <= 1e20)).all():
                raise ValueError("array 'centre' must not be far from zero")
