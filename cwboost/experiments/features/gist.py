"""GIST: energies of oriented band-pass filters, averaged over a grid of the image."""

import numpy as np
from scipy import fft

SCALES, ORIENTATIONS, GRID = 4, 8, 4
HIGHEST_FREQUENCY = 0.3
"""Centre of the finest band, in cycles per pixel."""
OCTAVES = 0.9
"""Distance between the centres of neighbouring bands."""
LOCAL = 4.0
"""Frequency, in cycles per image, that the local mean and contrast reach."""
CHUNK = 256
"""Number of images processed at a time."""


def gist_features(images) -> np.ndarray:
    """Compute GIST descriptors, after Oliva and Torralba (2001), shape (n_images, 512).

    Local mean and contrast are removed from an image, and the magnitude of the response of each
    filter is averaged over a 4 x 4 grid. The images' side is a multiple of 4.
    """
    side = images.shape[1]
    pad = max(side // 4, 4)
    filters = transfer_functions(side + 2 * pad)
    features = np.empty((len(images), len(filters) * GRID * GRID), dtype=np.float32)
    for start in range(0, len(images), CHUNK):
        block = images[start : start + CHUNK].astype(np.float32)
        # Mirror the borders, or the image's edge would be its strongest contour.
        padded = np.pad(block, ((0, 0), (pad, pad), (pad, pad)), mode="symmetric")
        spectrum = fft.fft2(_whiten(padded))
        for index, transfer in enumerate(filters):
            response = np.abs(fft.ifft2(spectrum * transfer))[:, pad : pad + side, pad : pad + side]
            cells = response.reshape(len(block), GRID, side // GRID, GRID, side // GRID)
            columns = slice(index * GRID * GRID, (index + 1) * GRID * GRID)
            features[start : start + CHUNK, columns] = cells.mean(axis=(2, 4)).reshape(
                len(block), -1
            )
    return features


def transfer_functions(side: int) -> np.ndarray:
    """Return the 32 filters in the frequency domain: Gaussian in log frequency and in angle.

    Each lies in one half plane, so its response is complex and the magnitude has no phase.
    """
    f_y, f_x = np.meshgrid(fft.fftfreq(side), fft.fftfreq(side), indexing="ij")
    frequency = np.hypot(f_x, f_y)
    frequency[0, 0] = 1.0
    angle = np.arctan2(f_y, f_x)
    filters = []
    for scale in range(SCALES):
        centre = HIGHEST_FREQUENCY / 2 ** (OCTAVES * scale)
        radial = np.exp(-0.5 * (np.log2(frequency / centre) / (OCTAVES / 2)) ** 2)
        radial[0, 0] = 0.0
        for orientation in range(ORIENTATIONS):
            turn = angle - np.pi * orientation / ORIENTATIONS
            turn = (turn + np.pi) % (2 * np.pi) - np.pi
            filters.append(radial * np.exp(-0.5 * (turn / (np.pi / ORIENTATIONS / 2)) ** 2))
    return np.array(filters, dtype=np.float32)


def _whiten(images: np.ndarray) -> np.ndarray:
    """Take the logarithm, subtract the local mean and divide by the local contrast."""
    side = images.shape[1]
    f_y, f_x = np.meshgrid(fft.fftfreq(side), fft.fftfreq(side), indexing="ij")
    cut = LOCAL / side / np.sqrt(np.log(2))
    low_pass = np.exp(-(f_x**2 + f_y**2) / cut**2).astype(np.float32)
    images = np.log1p(images)
    detail = images - fft.ifft2(fft.fft2(images) * low_pass).real
    power = fft.ifft2(fft.fft2(detail**2) * low_pass).real
    return detail / (0.2 + np.sqrt(np.abs(power)))
