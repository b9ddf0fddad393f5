"""Numbers and labels from the fields of a text file."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

__all__ = [
    "are_words",
    "has_comma",
    "is_missing",
    "is_number",
    "labels_of",
    "numbers_of",
    "words_of",
]

MISSING = {"", "na", "nan", "n/a", "null", "?"}
TRUTH = {"true": 1.0, "false": 0.0}


def is_missing(text: str) -> bool:
    """Return True for a field that stands for a missing value."""
    return text.lower() in MISSING


def is_number(text: str, decimal: str = ".") -> bool:
    """Return True for a number, True, False or a missing value."""
    try:
        _number(text, decimal)
    except ValueError:
        return False
    return True


def numbers_of(texts: Sequence[str], decimal: str, explain) -> np.ndarray:
    """Return a column of fields as float64, NaN for a missing value.

    Parameters
    ----------
    texts : sequence of str
    decimal : {".", ","}
    explain : callable
        Maps the place of the first field that is not a number to the error to raise.
    """
    if decimal == ".":
        try:
            return np.array(list(map(float, texts)))
        except ValueError:
            pass  # The loop below knows more kinds of fields and finds the wrong one.
    out = np.empty(len(texts))
    for place, text in enumerate(texts):
        try:
            out[place] = _number(text, decimal)
        except ValueError:
            raise explain(place) from None
    return out


def are_words(texts: Sequence[str], decimal: str) -> bool:
    """Return True if most of the fields that are not missing are words, not numbers.

    A number with a decimal comma is not a word: if it occurs, the decimal mark is wrong.
    """
    present = [text for text in texts if not is_missing(text)]
    words = [text for text in present if not is_number(text, decimal)]
    return 2 * len(words) > len(present) and not any(map(has_comma, words))


def has_comma(text: str) -> bool:
    """Return True for a number with a decimal comma."""
    return re.fullmatch(r"[+-]?\d*,\d+(e[+-]?\d+)?", text) is not None


def words_of(texts: Sequence[str]) -> np.ndarray:
    """Return a column of categories as objects, None for a missing value."""
    return np.array([None if is_missing(text) else text for text in texts], dtype=object)


def _number(text: str, decimal: str) -> float:
    lower = text.lower()
    if lower in MISSING:
        return np.nan
    if lower in TRUTH:
        return TRUTH[lower]
    return float(text if decimal == "." else text.replace(decimal, "."))


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
