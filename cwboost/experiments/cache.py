"""A folder of computed arrays, addressed by the content they were computed from."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

__all__ = ["ArrayCache"]


class ArrayCache:
    """Cache of arrays on disk, each under a hash of everything that determines it.

    A file is written under a temporary name and then moved, so that an interrupted run leaves no
    partial file; a damaged file is computed again.

    Parameters
    ----------
    folder : str or path-like or None
        None disables the cache.
    """

    def __init__(self, folder=None):
        self.folder = None if folder is None else Path(folder)

    def get(self, kind: str, inputs: dict, compute: Callable[[], np.ndarray]) -> np.ndarray:
        """Return the array of this `kind` for these `inputs`, from disk or newly computed.

        Parameters
        ----------
        kind : str
            Name of the computation, with a version that changes with its code.
        inputs : dict
            Arrays and plain values; all of them go into the hash.
        compute : callable
            Called without arguments if the array is not in the cache.
        """
        if self.folder is None:
            return compute()
        path = self.folder / f"{kind}-{content_hash(kind, inputs)[:32]}.npy"
        try:
            return np.load(path, allow_pickle=False)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, EOFError):
            path.unlink()
        array = compute()
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(suffix=".part", dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                np.save(stream, array)
            os.replace(unfinished, path)
        except BaseException:
            os.unlink(unfinished)
            raise
        return array


def content_hash(kind: str, inputs: dict) -> str:
    """Return the SHA-256 digest of names, dtypes, shapes and bytes of `inputs`."""
    digest = hashlib.sha256(kind.encode())
    for name in sorted(inputs):
        value = inputs[name]
        if isinstance(value, np.ndarray):
            digest.update(f"|{name}:{value.dtype.str}{value.shape}".encode())
            digest.update(np.ascontiguousarray(value).data)
        else:
            digest.update(f"|{name}={value!r}".encode())
    return digest.hexdigest()
