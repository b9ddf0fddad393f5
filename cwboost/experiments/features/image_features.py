"""Image features of the paper's experiments: HOG, GIST, histograms of code words."""

import numpy as np
from scipy.ndimage import zoom

from cwboost.experiments.features.codebook import learn_words, word_histograms
from cwboost.experiments.features.gist import gist_features
from cwboost.experiments.features.hog import hog_features

# Side of the images: the side to which they are resized, and orientations, pixels per cell and
# degrees of each description. Those of 32 are the settings of GTSRB's own HOG files 1, 3 and 2.
HOG_SETTINGS = {
    32: (40, ((8, 5, 180.0), (9, 4, 180.0), (8, 5, 360.0))),
    128: (128, ((9, 16, 180.0),)),
}


def grey_images(X, image_shape) -> np.ndarray:
    """Return rows of pixels as images; of red, green and blue, the luminance (ITU-R BT.601)."""
    images = np.asarray(X).reshape(len(X), *image_shape)
    if len(image_shape) == 2:
        return images
    luminance = np.tensordot(images.astype(np.float32), (0.299, 0.587, 0.114), axes=(1, 0))
    return luminance.astype(np.float32)


def hog(X, image_shape) -> np.ndarray:
    """Compute HOG by the settings of the images' side: 6,052 numbers for 32, 1,764 for 128.

    The paper's features differ: for GTSRB, the HOG files that come with the data, computed from
    colour images of the cut-out sign; for SUN, those described by Xiao et al. (2010).
    """
    side = image_shape[-1]
    if side not in HOG_SETTINGS:
        sizes = " or ".join(f"{known} x {known}" for known in HOG_SETTINGS)
        raise ValueError(f"image_shape must be {sizes} pixels for HOG, got {side} x {side}")
    new_side, settings = HOG_SETTINGS[side]
    images = grey_images(X, image_shape).astype(np.float32)
    factors = (1, new_side / side, new_side / side)
    images = zoom(images, factors, order=1, mode="nearest", grid_mode=True)
    parts = [hog_features(images, *setting) for setting in settings]
    return np.hstack(parts).astype(np.float32)


def gist(X, image_shape) -> np.ndarray:
    """Compute GIST, 512 numbers per image."""
    return gist_features(grey_images(X, image_shape))


def codebook_features(X, X_others, image_shape, seed, n_words=200):
    """Compute histograms of code words; only the training images `X` shape the codebook.

    The paper has 31 windows of 200 words, of which four repeat others: 5,400 numbers remain.
    """
    words = learn_words(grey_images(X, image_shape), n_words, seed)
    return tuple(word_histograms(grey_images(part, image_shape), words) for part in (X, X_others))
