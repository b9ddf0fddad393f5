"""Which examples belong together: those of one group, or with equal features.

Either is a key of 64 bits per example. A key depends on the values alone, so that partitions on
several machines agree on it without an exchange.
"""

from hashlib import blake2b

import numpy as np
from scipy import sparse

from cwboost.input.columns import missing_in

MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9)
"""Of the finaliser of MurmurHash3 in the variant of Stafford (Mix13), which mixes well."""

MOST_DISTINCT, FEWEST_TIMES = 100, 10
"""Predictions meet rows that repeat few distinct ones again: each counts as an example of its own.
Left out together, they would measure what the model makes of rows that it never meets."""

CHUNK = 2**17
"""Numbers whose keys are computed at a time: they stay in the cache."""


def mixed(words: np.ndarray, factors) -> np.ndarray:
    """Return words of 64 bits, mixed by odd factors one to one; zero stays zero."""
    found = words ^ (words >> np.uint64(32))  # whole numbers have bits at the upper end only
    found *= factors
    found ^= found >> np.uint64(32)
    found *= MULTIPLIER
    found ^= found >> np.uint64(29)
    return found


def repeat_few(keys, distinct, n_rows: int) -> bool:
    """Return True if so many rows repeat so few, with labels that differ, that they are no copies.

    `keys` are of the features of some of the rows, or of all; `distinct` of features and labels.
    """
    n_distinct = len(distinct) * n_rows / len(keys)
    few = n_distinct <= min(MOST_DISTINCT, n_rows / FEWEST_TIMES)
    return few and len(np.unique(keys)) < len(distinct)


def keys_of(X, groups) -> np.ndarray:
    """Return a key per example: of its group, or of its row in X if `groups` is None."""
    return keys_of_rows(X) if groups is None else keys_of_groups(groups, X.shape[0])


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
    return np.array([int.from_bytes(one, "little") for one in digests], dtype=np.uint64)[place]


def keys_of_rows(X) -> np.ndarray:
    """Return a key per row of an encoded matrix, uint64: equal rows have equal ones.

    The key is the sum over the columns of the mixed bits of a value, so that zeros need no visit.
    Two of a million distinct rows share a key with a probability of 3e-8.
    """
    factors = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64)
    factors = 2 * factors + np.uint64(1)
    if sparse.issparse(X):
        columns = (
            X.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        )
        words = mixed(_bits(X.data), factors[columns]).view(np.int64)
        ones = np.ones(X.shape[1], dtype=np.int64)
        return (type(X)((words, X.indices, X.indptr), shape=X.shape) @ ones).view(np.uint64)
    keys = np.empty(len(X), dtype=np.uint64)
    step = max(1, CHUNK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        mixed(_bits(X[rows]), factors).sum(axis=1, out=keys[rows])
    return keys


def _bits(values) -> np.ndarray:
    """Return the bits of numbers as float64, the same for both zeros and for every NaN."""
    values = values.astype(np.float64) + 0.0
    values[np.isnan(values)] = np.nan
    return values.view(np.uint64)
