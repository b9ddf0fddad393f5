"""USPS zip codes as published with "The Elements of Statistical Learning"."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cwboost.datasets.formats import _files

__all__ = ["read_usps"]


def read_usps(folder: Path):
    """Read ``zip.train`` and ``zip.test`` (or ``.gz``): digit, 256 grey values in [-1, 1].

    The values are rescaled to [0, 1].
    """
    names = {part: (f"zip.{part}", f"zip.{part}.gz") for part in ("train", "test")}
    if _files.locate(folder, *names["train"], *names["test"]) is None:
        return None
    arrays = {}
    for part, spellings in names.items():
        path = _files.find_one(folder, *spellings)
        table = _files.read_table(path, dtype=np.float32, columns=257)
        if np.abs(table[:, 1:]).max() > 1:
            raise ValueError(f"{path}: grey values in [-1, 1] expected")
        arrays[f"X_{part}"] = (table[:, 1:] + 1) / 2
        arrays[f"y_{part}"] = table[:, 0].astype(np.int64)
    return arrays
