"""A family that takes images of one shape only."""

import numpy as np

import cwboost


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
