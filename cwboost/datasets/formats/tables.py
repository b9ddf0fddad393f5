"""Text tables of numbers: ISOLET (UCI) and USPS (The Elements of Statistical Learning)."""

from pathlib import Path

import numpy as np

from cwboost.datasets.formats.files import find_one, locate, read_packed


def read_isolet(folder: Path):
    """Read ``isolet1+2+3+4.data`` and ``isolet5.data``: 617 features in [-1, 1], class 1..26."""
    tables = _read(folder, "isolet1+2+3+4.data", "isolet5.data", delimiter=",", columns=618)
    if tables is None:
        return None
    arrays = {f"X_{part}": table[:, :-1].astype(np.float32) for part, table in tables.items()}
    return arrays | {f"y_{part}": table[:, -1] - 1 for part, table in tables.items()}


def read_usps(folder: Path):
    """Read ``zip.train`` and ``zip.test``: digit, 256 grey values in [-1, 1]; return [0, 1]."""
    tables = _read(folder, "zip.train", "zip.test", delimiter=None, columns=257)
    if tables is None:
        return None
    arrays = {f"X_{p}": (table[:, 1:].astype(np.float32) + 1) / 2 for p, table in tables.items()}
    return arrays | {f"y_{part}": table[:, 0] for part, table in tables.items()}


def _read(folder: Path, train: str, test: str, *, delimiter, columns: int):
    """Return the tables of the two parts, each also as .gz or .Z; None if neither exists."""
    names = {
        part: [f"{name}{ending}" for ending in ("", ".gz", ".Z")]
        for part, name in (("train", train), ("test", test))
    }
    if locate(folder, *names["train"], *names["test"]) is None:
        return None
    return {
        part: _table(find_one(folder, *spellings), delimiter, columns)
        for part, spellings in names.items()
    }


def _table(path: Path, delimiter, columns: int) -> np.ndarray:
    content = read_packed(path)
    try:
        table = np.loadtxt(content.decode("ascii").splitlines(), delimiter=delimiter, ndmin=2)
    except ValueError as error:
        raise ValueError(f"{path} must be a table of numbers, got {error}") from error
    if table.shape[1] != columns:
        raise ValueError(f"{path} must have {columns} columns, got {table.shape[1]}")
    return table
