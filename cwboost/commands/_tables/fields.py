"""Numbers, missing values and dates in the fields of a text file, and the line of their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

__all__ = ["DATE", "MISSING", "TRUTH", "is_header", "is_number", "number"]

MISSING = ("", "na", "nan", "n/a", "null", "?")
TRUTH = {"true": 1.0, "false": 0.0}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.ASCII)
DATE = re.compile(
    r"(\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4})([T ]+\d.*)?|\d\d?:\d\d(:\d\d.*)?",
    re.ASCII,
)
LABEL_NAMES = {"class", "label", "labels", "target", "y"}


def number(text: str, decimal: str = ".") -> float | None:
    """Return the number of a field, NaN for a missing one, None if it is not a number.

    Python's ``float`` would also take ``1_000`` and the digits of every script.
    """
    lower = text.lower()
    if lower in MISSING:
        return float("nan")
    plain = lower if decimal == "." else lower.replace(decimal, ".")
    return float(plain) if NUMBER.fullmatch(plain) else TRUTH.get(lower)


def is_number(text: str, decimal: str = ".") -> bool:
    """Return True for a number, True, False or a missing value."""
    return number(text, decimal) is not None


def is_header(
    rows: Sequence[Sequence[str]], label: int | None, wanted: Collection[str], decimal: str
) -> bool:
    """Return True if the first of some rows of fields holds names.

    The signs, each of which suffices:

    - the row holds a name that the user gave (`wanted`);
    - a field is text where every other field of its column is a number. The column `label` alone
      does not count;
    - a field is text, no text of the row occurs again in its column, and if only the label is text,
      it is called "label" or the like, or the features are numbered, as pandas writes columns
      without names;
    - the whole row counts its columns from 0 or 1.
    """
    first, body = rows[0], rows[1:]
    if any(name in first for name in wanted):
        return True
    texts = {place for place, text in enumerate(first) if not is_number(text, decimal)}
    features = texts - {label}
    if not body:
        return bool(features)
    if any(all(is_number(row[place], decimal) for row in body) for place in features):
        return True
    own = None if label is None else first[label]
    others = [text for place, text in enumerate(first) if place != label]
    named = features or (texts and (own.lower() in LABEL_NAMES or _are_numbered(others)))
    if named and not any(row[place] == first[place] for row in body for place in texts):
        return True
    fields = _without_index(first)
    return len(fields) > 2 and _count(fields)


def _are_numbered(fields: Sequence[str]) -> bool:
    """Return True for the numbers of columns: 0, 1, ... or, if some are gone, four or more."""
    fields = _without_index(fields)
    if fields == ["0", "1"] or (len(fields) > 2 and _count(fields)):
        return True
    if not all(re.fullmatch(r"[0-9]{1,18}", text) for text in fields):
        return False
    return len(fields) > 3 and all(int(a) < int(b) for a, b in pairwise(fields))


def _count(fields: Sequence[str]) -> bool:
    """Return True if the fields are 0, 1, 2, ... or 1, 2, 3, ..."""
    return any(fields == [str(start + k) for k in range(len(fields))] for start in (0, 1))


def _without_index(fields: Sequence[str]) -> list[str]:
    return list(fields[1:] if fields and not fields[0] else fields)
