"""Histograms of oriented gradients, also of signed orientations."""

import numpy as np

EPSILON, CLIP = 1e-5, 0.2


def hog_features(images, orientations, cell, span) -> np.ndarray:
    """Compute histograms of gradient orientations in blocks of 2 x 2 cells, L2-Hys normalised.

    Orientations divide `span` degrees, 360 or 180; the side is a multiple of `cell`.
    """
    images = images.astype(np.float64)
    n_images, side, _ = images.shape
    rows, columns = np.zeros_like(images), np.zeros_like(images)
    rows[:, 1:-1] = images[:, 2:] - images[:, :-2]
    columns[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    interval = np.rad2deg(np.arctan2(rows, columns)) % span // (span / orientations)
    strength = np.hypot(rows, columns)
    n_cells = side // cell
    shape = (n_images, n_cells, cell, n_cells, cell)
    cells = np.stack(
        [
            np.where(interval == k, strength, 0.0).reshape(shape).mean(axis=(2, 4))
            for k in range(orientations)
        ],
        axis=-1,
    )
    near, far = slice(0, -1), slice(1, None)
    corners = [cells[:, r, c] for r in (near, far) for c in (near, far)]
    blocks = np.concatenate(corners, axis=-1)
    blocks /= np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + EPSILON**2)
    np.minimum(blocks, CLIP, out=blocks)
    blocks /= np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + EPSILON**2)
    return blocks.reshape(n_images, -1)
