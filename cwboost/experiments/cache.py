"""A folder of computed arrays, found again by the content that they were computed from."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

__all__ = ["ArrayCache"]


class ArrayCache:
    """Arrays on disk under a hash of everything that determines them.

    A file is written beside its place and moved there, so that an interrupted run leaves no half
    of one; a damaged file is computed again.

    Parameters
    ----------
    folder : str or path-like or None
        None keeps nothing.
    """

    def __init__(self, folder=None):
        self.folder = None if folder is None else Path(folder)

    def get(self, kind: str, inputs: dict, compute: Callable[[], np.ndarray]) -> np.ndarray:
        """The array of this `kind` for these `inputs`, from disk or computed now.

        Parameters
        ----------
        kind : str
            What is computed, with a version that changes with its code.
        inputs : dict
            Arrays and plain values; all of them go into the hash.
        compute : callable
            Called without arguments where the array is not there yet.
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
    """SHA-256 of names, dtypes, shapes and bytes of `inputs`."""
    digest = hashlib.sha256(kind.encode())
    for name in sorted(inputs):
        value = inputs[name]
        if isinstance(value, np.ndarray):
            digest.update(f"|{name}:{value.dtype.str}{value.shape}".encode())
            digest.update(np.ascontiguousarray(value).data)
        else:
            digest.update(f"|{name}={value!r}".encode())
    return digest.hexdigest()
