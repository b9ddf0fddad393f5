"""Families of derived features: supervised and linear, and with arrays that all features share."""

import numpy as np

import cwboost


class Means(cwboost.DerivedFeatureFamily):
    """Weighted differences of means, on some features."""

    name = "means"
    api_version = 1
    layout = {"along": ("float64", ("n_features",))}  # noqa: RUF012

    def __init__(self, fraction=0.5):
        self.fraction = fraction

    def draw(self, context):
        kept = context.random_state.random(context.X.shape[1]) < self.fraction
        return {"along": context.weights @ context.X * kept}

    @staticmethod
    def direction(n_features, along):
        return along.T


class Landmarks(cwboost.DerivedFeatureFamily):
    """Distances from the nearest of a few landmarks; all features share the landmarks."""

    name = "landmarks"
    api_version = 1
    layout = {"which": ("int64", ("n_near",))}  # noqa: RUF012
    shared = {"landmarks": ("float64", ("n_landmarks", "n_features"))}  # noqa: RUF012

    def __init__(self, n_landmarks=8, n_near=2):
        self.n_landmarks, self.n_near = n_landmarks, n_near

    def draw_shared(self, context):
        rows = context.random_state.integers(len(context.X), size=self.n_landmarks)
        return {"landmarks": context.X[rows]}

    def draw(self, context):
        n = len(context.shared["landmarks"])
        return {"which": context.random_state.integers(n, size=(12, self.n_near))}

    @staticmethod
    def transform(X, landmarks, which):
        distances = np.abs(X[:, None] - landmarks).sum(axis=2)
        return distances[:, which].min(axis=2)

    @staticmethod
    def check_stored(n_features, landmarks, which):
        if ((which < 0) | (which >= len(landmarks))).any():
            raise ValueError(f"array 'which' must hold indices of {len(landmarks)} landmarks")


class Corners(cwboost.DerivedFeatureFamily):
    """Sums over rectangles of an image."""

    name = "corners"
    api_version = 1
    layout = {"mask": ("float64", ("n_rows", "n_columns"))}  # noqa: RUF012

    def __init__(self, image_shape=(4, 5), n_derived=10):
        self.image_shape, self.n_derived = image_shape, n_derived

    def check_parameters(self, n_features):
        if np.prod(self.image_shape) != n_features:
            raise ValueError(f"image_shape={self.image_shape} is not that of {n_features} features")

    def draw(self, context):
        rows, columns = (np.arange(size) for size in self.image_shape)
        rng = context.random_state
        row, column = (rng.integers(size, size=(self.n_derived, 1)) for size in self.image_shape)
        return {"mask": 1.0 * (rows <= row)[:, :, None] * (columns <= column)[:, None]}

    @staticmethod
    def direction(n_features, mask):
        return mask.reshape(len(mask), -1).T


def images(family, n_samples, rng):
    return rng.integers(0, 256, size=(n_samples, np.prod(family.image_shape)))
