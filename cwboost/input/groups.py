"""Which examples belong together: those of one group that the user names.

A group has a key of 64 bits, which depends on its name alone, so that partitions on several
machines agree on it without an exchange.
"""

from hashlib import blake2b

import numpy as np

from cwboost.input.columns import missing_in

MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9)
"""Of the finaliser of MurmurHash3 in the variant of Stafford (Mix13), which mixes well."""


def mixed(words: np.ndarray, factor) -> np.ndarray:
    """Return words of 64 bits, mixed by an odd factor one to one; zero stays zero."""
    words = words ^ (words >> np.uint64(32))  # whole numbers have bits at the upper end only
    words *= factor
    words ^= words >> np.uint64(32)
    words *= MULTIPLIER
    words ^= words >> np.uint64(29)
    return words


def keys_of_groups(groups, n_samples: int) -> np.ndarray:
    """Check the argument `groups`; return a key per example, uint64, equal within a group."""
    values = np.asarray(groups)
    if values.shape != (n_samples,):
        raise ValueError(f"groups must have shape ({n_samples},), got {values.shape}")
    if (gaps := missing_in(values)).any():
        at = int(np.argmax(gaps))
        raise ValueError(f"groups must name the group of every example, got none for example {at}")
    if values.dtype.kind in "biumM":
        words = values.astype(values.dtype if values.dtype.kind == "u" else np.int64)
        return mixed(words.astype(np.uint64), MULTIPLIER)
    if values.dtype.kind == "f":
        return mixed((values.astype(np.float64) + 0.0).view(np.uint64), MULTIPLIER)
    names, place = np.unique(values.astype(str), return_inverse=True)
    digests = [blake2b(str(name).encode(), digest_size=8).digest() for name in names]
    return np.array([int.from_bytes(digest, "little") for digest in digests], dtype=np.uint64)[
        place
    ]


def shared(keys: np.ndarray | None) -> np.ndarray | None:
    """Return keys of examples, None if every example is alone."""
    return None if keys is None or len(np.unique(keys)) == len(keys) else keys
