"""Tables as the UCI Machine Learning Repository publishes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cwboost.datasets.formats import _files

__all__ = ["read_isolet", "read_mfeat", "read_pendigits", "read_satimage", "read_vowel"]

_MFEAT_VIEWS = {"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47}


def read_vowel(folder: Path):
    """Read ``vowel-context.data``: part (0 train, 1 test), speaker, sex, ten features, class."""
    path = _files.locate(folder, "vowel-context.data")
    if path is None:
        return None
    table = _files.read_table(path, columns=14)
    is_test, X, y = table[:, 0] == 1, table[:, 3:13].astype(np.float32), table[:, 13]
    return _split(X, y.astype(np.int64), is_test)


def read_pendigits(folder: Path):
    """Read ``pendigits.tra`` and ``pendigits.tes``: sixteen coordinates 0..100, class."""
    return _two_files(folder, "pendigits.tra", "pendigits.tes", delimiter=",", features=16)


def read_satimage(folder: Path):
    """Read ``sat.trn`` and ``sat.tst``: 36 grey values, class 1..7 (6 does not occur)."""
    arrays = _two_files(folder, "sat.trn", "sat.tst", delimiter=None, features=36)
    if arrays is None:
        return None
    for key in ("y_train", "y_test"):
        # Classes 1, 2, 3, 4, 5, 7 become 0..5.
        arrays[key] = arrays[key] - 1 - (arrays[key] == 7)
    return arrays


def read_isolet(folder: Path):
    """Read ``isolet1+2+3+4.data`` and ``isolet5.data``: 617 features in [-1, 1], class 1..26."""
    spellings = {
        part: [f"{name}{suffix}" for suffix in ("", ".gz", ".Z")]
        for part, name in (("train", "isolet1+2+3+4.data"), ("test", "isolet5.data"))
    }
    if _files.locate(folder, *spellings["train"], *spellings["test"]) is None:
        return None
    arrays = {}
    for part, names in spellings.items():
        table = _files.read_table(_files.find_one(folder, *names), delimiter=",", columns=618)
        arrays[f"X_{part}"] = table[:, :-1].astype(np.float32)
        arrays[f"y_{part}"] = table[:, -1].astype(np.int64) - 1
    return arrays


def read_mfeat(folder: Path):
    """Read ``mfeat-fac`` ... ``mfeat-zer``: six views of 200 examples per digit, digit by digit."""
    if _files.locate(folder, *(f"mfeat-{view}" for view in _MFEAT_VIEWS)) is None:
        return None
    X = np.hstack(
        [
            _files.read_table(_files.find_one(folder, f"mfeat-{view}"), columns=columns)
            for view, columns in _MFEAT_VIEWS.items()
        ]
    ).astype(np.float32)
    return {"X": X, "y": np.repeat(np.arange(10), len(X) // 10)}


def _two_files(folder, train, test, *, delimiter, features):
    if _files.locate(folder, train, test) is None:
        return None
    arrays = {}
    for part, name in (("train", train), ("test", test)):
        path = _files.find_one(folder, name)
        table = _files.read_table(path, delimiter=delimiter, dtype=np.int64, columns=features + 1)
        if table[:, :-1].min() < 0 or table[:, :-1].max() > 255:
            raise ValueError(f"{path}: values 0..255 expected, got {table.min()}..{table.max()}")
        arrays[f"X_{part}"] = table[:, :-1].astype(np.uint8)
        arrays[f"y_{part}"] = table[:, -1]
    return arrays


def _split(X, y, is_test):
    return {
        "X_train": X[~is_test],
        "y_train": y[~is_test],
        "X_test": X[is_test],
        "y_test": y[is_test],
    }
