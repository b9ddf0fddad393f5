"""Histograms of code words from dense local descriptors, over a pyramid of windows."""

import numpy as np
from scipy.ndimage import uniform_filter
from sklearn.cluster import MiniBatchKMeans

ORIENTATIONS, CELLS = 8, 4
PATCH, STEP = 16, 4
N_PATCHES = 50_000
"""Number of random patches that words are learnt from."""
CHUNK = 64
"""Number of images processed at a time."""


def windows() -> list[tuple[float, float, float, float]]:
    """Return the windows (top, left, bottom, right), in fractions of the image's side.

    They are the whole image, its quadrants, the centre of the same size, and the same five of each
    of these. Four of the 31 repeat others: the quadrants of the centre are centres of quadrants.
    """
    whole = (0.0, 0.0, 1.0, 1.0)
    five = _split(whole)
    return list(dict.fromkeys([whole, *five, *(part for fifth in five for part in _split(fifth))]))


def _split(window):
    top, left, bottom, right = window
    height, width = (bottom - top) / 2, (right - left) / 2
    corners = [(top, left), (top, left + width), (top + height, left), (top + height, left + width)]
    corners.append((top + height / 2, left + width / 2))
    return [(y, x, y + height, x + width) for y, x in corners]


WINDOWS = windows()


def dense_descriptors(images) -> tuple[np.ndarray, np.ndarray]:
    """Return descriptors of overlapping patches, after Lowe (2004), and the centres of these.

    Each of the 4 x 4 cells of a patch sums the gradient magnitudes of eight signed orientations,
    divided linearly between neighbours. Shapes are (n_images, n_patches, 128) and (n_patches, 2).
    """
    side = images.shape[1]
    starts = np.arange(0, side - PATCH + 1, STEP)
    energies = _orientation_energies(images.astype(np.float32))
    size = PATCH // CELLS
    # uniform_filter's window of 4 around p covers p - 2 .. p + 1: the cell that starts at p - 2.
    sums = uniform_filter(energies, size=(1, 1, size, size), mode="nearest")
    cells = starts[:, None] + size * np.arange(CELLS) + size // 2
    picked = sums[:, :, cells.ravel()][:, :, :, cells.ravel()]
    n = len(starts)
    picked = picked.reshape(len(images), ORIENTATIONS, n, CELLS, n, CELLS)
    descriptors = picked.transpose(0, 2, 4, 3, 5, 1).reshape(len(images), n * n, -1)
    centres = (starts + PATCH / 2) / side
    grid = np.stack(np.meshgrid(centres, centres, indexing="ij"), axis=-1).reshape(-1, 2)
    return _normalise(descriptors), grid


def _orientation_energies(images):
    d_y, d_x = np.gradient(images, axis=(1, 2))
    magnitude = np.hypot(d_x, d_y)
    turn = np.arctan2(d_y, d_x) / (2 * np.pi) * ORIENTATIONS % ORIENTATIONS
    energies = np.empty((len(images), ORIENTATIONS, *images.shape[1:]), dtype=np.float32)
    for orientation in range(ORIENTATIONS):
        away = np.abs(turn - orientation)
        share = np.maximum(0, 1 - np.minimum(away, ORIENTATIONS - away))
        energies[:, orientation] = magnitude * share
    return energies


def _normalise(descriptors):
    # A flat patch has no direction: keep it near zero rather than amplify its noise.
    floor = 1.0
    scaled = descriptors / np.maximum(np.linalg.norm(descriptors, axis=-1, keepdims=True), floor)
    scaled = np.minimum(scaled, 0.2)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return (scaled / np.maximum(length, 0.2)).astype(np.float32)


def learn_words(images, n_words: int, seed: int) -> np.ndarray:
    """Learn code words by k-means from random patches of the images, shape (n_words, 128)."""
    rng = np.random.default_rng(seed)
    samples, share = [], None
    for start in range(0, len(images), CHUNK):
        descriptors, _ = dense_descriptors(images[start : start + CHUNK])
        share = share or min(1.0, N_PATCHES / (len(images) * descriptors.shape[1]))
        flat = descriptors.reshape(-1, descriptors.shape[2])
        samples.append(flat[rng.random(len(flat)) < share])
    means = MiniBatchKMeans(n_words, batch_size=4096, n_init=3, random_state=seed)
    return means.fit(np.concatenate(samples)).cluster_centers_.astype(np.float32)


def word_histograms(images, words) -> np.ndarray:
    """Return the histograms of the patches' words, one of sum 1 per window of their centres."""
    features = np.empty((len(images), len(WINDOWS) * len(words)), dtype=np.float32)
    half_squares = 0.5 * (words**2).sum(axis=1)
    for start in range(0, len(images), CHUNK):
        descriptors, centres = dense_descriptors(images[start : start + CHUNK])
        nearest = np.argmin(half_squares - descriptors @ words.T, axis=2)
        features[start : start + CHUNK] = _histograms(nearest, centres, len(words))
    return features


def _histograms(nearest, centres, n_words):
    rows = []
    first = np.arange(len(nearest))[:, None] * n_words
    for top, left, bottom, right in WINDOWS:
        inside = (centres >= (top, left)).all(axis=1) & (centres < (bottom, right)).all(axis=1)
        counts = np.bincount((nearest[:, inside] + first).ravel(), minlength=len(nearest) * n_words)
        rows.append(counts.reshape(len(nearest), -1) / max(1, inside.sum()))
    return np.hstack(rows)
