"""The feature files of Guillaumin, Verbeek and Schmid (CVPR 2010) for PASCAL VOC 2007.

Each file is a sequence of rows; a row is its length, then its values. Both are 16-bit unsigned
integers in ``.hvecs`` and 32-bit unsigned integers in ``.hvecs32``; ``.fvec`` has a 32-bit integer
and 32-bit floats. All are little endian.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cwboost.datasets.formats.files import find_one, locate

__all__ = ["FEATURES", "read_pascal07", "read_vectors"]

FEATURES = ("DenseSift", "DenseHue", "HarrisSift", "HarrisHue", "Gist")
"""The five kinds of features used: local features without spatial layout, and GIST."""

_TYPES = {".hvecs": ("<u2", "<u2"), ".hvecs32": ("<u4", "<u4"), ".fvec": ("<i4", "<f4")}
_PARTS = ("train", "test")


def read_pascal07(folder: Path):
    """Read ``pascal07_train_Gist.fvec`` etc.: the images of exactly one class, parts pooled.

    The classes come from ``pascal07_train_classes.hvecs`` (one row of 0 and 1 per image).
    """
    spellings = {
        (part, kind): [f"pascal07_{part}_{kind}{suffix}" for suffix in _TYPES]
        for part in _PARTS
        for kind in (*FEATURES, "classes")
    }
    if locate(folder, *(name for group in spellings.values() for name in group)) is None:
        return None
    X, y = [], []
    for part in _PARTS:
        blocks = [read_vectors(find_one(folder, *spellings[part, kind])) for kind in FEATURES]
        classes = read_vectors(find_one(folder, *spellings[part, "classes"]))
        lengths = {len(block) for block in [*blocks, classes]}
        if len(lengths) > 1:
            raise ValueError(
                f"{folder}: the {part} files have different numbers of rows: {lengths}"
            )
        if classes.max() > 1:
            raise ValueError(f"{folder}: classes must be 0 or 1, got {classes.max()}")
        single = classes.sum(axis=1) == 1
        X.append(np.hstack([block[single].astype(np.float32) for block in blocks]))
        y.append(classes[single].argmax(axis=1))
    return {"X": np.concatenate(X), "y": np.concatenate(y).astype(np.int64)}


def read_vectors(path: Path) -> np.ndarray:
    """Read one feature file.

    Returns
    -------
    ndarray of shape (n_rows, n_columns), dtype uint16, uint32 or float32
    """
    length_type, value_type = _TYPES[path.suffix]
    content = path.read_bytes()
    size = np.dtype(length_type).itemsize
    if len(content) < size:
        raise ValueError(f"{path} is empty")
    columns = int(np.frombuffer(content, length_type, count=1)[0])
    if columns < 1 or len(content) % (size * (columns + 1)):
        raise ValueError(f"{path} is damaged: not a whole number of rows of {columns} values")
    rows = np.frombuffer(content, dtype=[("length", length_type), ("values", value_type, columns)])
    if np.any(rows["length"] != columns):
        raise ValueError(f"{path} is damaged: rows of different lengths")
    return rows["values"].copy()
