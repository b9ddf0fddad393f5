"""Numbers, dates and labels from the fields of a text file."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

__all__ = ["MISSING", "TRUTH", "are_dates", "is_missing", "is_number", "labels_of", "number"]

MISSING = ("", "na", "nan", "n/a", "null", "?")
TRUTH = {"true": 1.0, "false": 0.0}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.I)
DATE = re.compile(
    r"(\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4})([T ]+\d.*)?|\d\d?:\d\d(:\d\d.*)?",
    re.ASCII,
)


def is_missing(text: str) -> bool:
    """Return True for a field that stands for a missing value."""
    return text.lower() in MISSING


def is_number(text: str, decimal: str = ".") -> bool:
    """Return True for a number, True, False or a missing value."""
    try:
        number(text, decimal)
    except ValueError:
        return False
    return True


def number(text: str, decimal: str = ".") -> float:
    """Return the number that a field holds, NaN for a missing value.

    Python's ``float`` would also take ``1_000`` and the digits of every script.
    """
    lower = text.lower()
    if lower in MISSING:
        return np.nan
    if lower in TRUTH:
        return TRUTH[lower]
    plain = lower if decimal == "." else lower.replace(decimal, ".")
    if not NUMBER.fullmatch(plain):
        raise ValueError(f"expected a number, got {text!r}")
    return float(plain)


def are_dates(words: Sequence[str | None]) -> bool:
    """Return True if most of the words that are not missing are dates or times."""
    present = [word for word in words if word is not None]
    return 2 * sum(DATE.fullmatch(word) is not None for word in present) > len(present)


def labels_of(texts: Sequence[str]) -> np.ndarray:
    """Return labels as int64 if each is an integer as Python writes it, else as they stand.

    ``01`` and ``1`` are different labels, as they would be different words.
    """
    try:
        numbers = [int(text) for text in texts]
        if all(str(number) == text for number, text in zip(numbers, texts)):
            return np.array(numbers, dtype=np.int64)
    except (ValueError, OverflowError):
        pass  # Words, or integers too long for int64.
    return np.array(texts)
