"""Weak learners for cwboost that look for small patterns in images."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import cwboost

__all__ = ["PatchFamily"]


class PatchFamily(cwboost.DerivedFeatureFamily):
    """Thresholds on how strongly a filter responds in a part of an image, at most.

    A derived feature slides a filter over a square of places and takes the largest response. Half
    of the filters are patches of training images less their mean. The others are learned: the
    sum of the patches at one place, by the signed weights of one target.

    Parameters
    ----------
    image_shape : tuple of two ints, default=(8, 8)
        Rows and columns of an image, which X holds row by row.
    size : int, default=3
        Rows and columns of a filter.
    pool : int, default=2
        Rows and columns of the square of places.
    n_filters : int, default=60
        Number of filters per round.
    """

    name = "patches"
    api_version = 1
    layout = {"filter": ("float64", ("size", "size")), "corner": ("int64", (2,))}
    shared = {"image_shape": ("int64", (2,)), "pool": ("int64", ())}

    def __init__(self, image_shape=(8, 8), size=3, pool=2, n_filters=60):
        self.image_shape = image_shape
        self.size = size
        self.pool = pool
        self.n_filters = n_filters

    def check_parameters(self, n_features):
        if np.prod(self.image_shape) != n_features:
            raise ValueError(
                f"image_shape must be the rows and columns of {n_features} features, got "
                f"{self.image_shape!r}"
            )
        for name in ("size", "pool", "n_filters"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        if self.size + self.pool - 1 > min(self.image_shape):
            raise ValueError(
                f"size + pool - 1 must not exceed the sides of an image, {self.image_shape!r}, got "
                f"{self.size!r} and {self.pool!r}"
            )

    def draw_shared(self, context):
        return {"image_shape": self.image_shape, "pool": self.pool}

    def draw(self, context):
        rng, n, size = context.random_state, self.n_filters, self.size
        images = context.X.reshape(-1, *self.image_shape)
        room = np.array(self.image_shape) - (size + self.pool - 1)
        corner = rng.integers(room + 1, size=(n, 2))
        row, column = (corner + rng.integers(self.pool, size=(n, 2))).T
        windows = sliding_window_view(images, (size, size), axis=(1, 2))
        drawn = windows[rng.integers(len(images), size=n), row, column]
        filters = drawn - drawn.mean(axis=(1, 2), keepdims=True)
        learned = slice(0, n, 2)
        weights = context.weights[rng.integers(len(context.weights), size=n)[learned]]
        # In a fixed order of the examples: sums by BLAS would depend on their number.
        filters[learned] = np.einsum(
            "ji,ijab->jab", weights, windows[:, row[learned], column[learned]]
        )
        return {"filter": filters, "corner": corner}

    @staticmethod
    def transform(X, filter, corner, image_shape, pool):
        images = np.ascontiguousarray(X.T, dtype=np.float64).reshape(*image_shape, -1)
        features = np.empty((len(filter), len(X)))
        for j, (top, left) in enumerate(corner):
            response = np.zeros((pool, pool, len(X)))
            for a, b in np.ndindex(filter.shape[1:]):
                rows, columns = slice(top + a, top + a + pool), slice(left + b, left + b + pool)
                response += filter[j, a, b] * images[rows, columns]
            response.max(axis=(0, 1), out=features[j])
        return features.T

    @staticmethod
    def check_stored(n_features, filter, corner, image_shape, pool):
        if (image_shape < 1).any() or (image_shape > n_features).any() or pool < 1:
            raise ValueError("arrays 'image_shape' and 'pool' must hold positive numbers")
        if image_shape.prod() != n_features:
            raise ValueError(f"array 'image_shape' must be that of {n_features} features")
        if pool > min(image_shape) or filter.shape[1] > min(image_shape):
            raise ValueError("arrays 'filter' and 'pool' must fit into an image")
        room = image_shape - (filter.shape[1] + pool - 1)
        if ((corner < 0) | (corner > room)).any():
            raise ValueError("array 'corner' must keep filters inside the image")
