"""Does the first line of a text file hold names?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from cwboost.commands._tables.values import is_missing, is_number

__all__ = ["is_header"]

LABEL_NAMES = {"class", "label", "labels", "target", "y"}
ROWS_LOOKED_AT = 1000


def is_header(
    rows: Sequence[Sequence[str]], label: int | None, wanted: Sequence[str], decimal: str = "."
) -> bool:
    """Return True if the first row holds names.

    Parameters
    ----------
    rows : sequence of rows of fields
        All of one length.
    label : int or None
        Place of the label column, if the user gave a number.
    wanted : sequence of str
        Columns that the user gave by name.
    decimal : {".", ","}, default="."

    Notes
    -----
    The signs, each of which suffices:

    - the row holds a name that the user gave;
    - a field is text where every other field of its column is a number. The label column alone
      does not count if the features look like measurements;
    - the features are numbered (what pandas writes for columns without names), or the label is
      called "label" or the like, and the label of this row occurs nowhere else;
    - the whole row counts its columns from 0 or 1.
    """
    first, body = rows[0], rows[1 : ROWS_LOOKED_AT + 1]
    if any(name in first for name in wanted):
        return True
    texts = {place for place, field in enumerate(first) if not is_number(field, decimal)}
    if not body:
        return bool(texts - {label})
    numeric = {place for place in texts if all(is_number(row[place], decimal) for row in body)}
    if numeric - {label}:
        return True
    if label is None:
        return (bool(texts) and _unseen(first, body, texts)) or _counts(first)
    own = first[label]
    features = [field for place, field in enumerate(first) if place != label]
    if not texts - {label}:
        named = _numbered(features) or own.lower() in LABEL_NAMES
        return (named and label in texts and _unseen(first, body, {label})) or _counts(first)
    return _unseen(first, body, texts)


def _unseen(first, body, places) -> bool:
    """Return True if none of the fields at these places occurs further down in its column."""
    return not any(first[place] == row[place] for row in body for place in places)


def _numbered(fields) -> bool:
    """Return True for the numbers of columns: 0, 1, ... or, if some are gone, four or more."""
    fields = _plain(fields)
    if _counts(fields) or fields == ["0", "1"]:
        return True
    if not all(re.fullmatch(r"[0-9]{1,18}", field) for field in fields):
        return False
    return len(fields) > 3 and all(int(a) < int(b) for a, b in pairwise(fields))


def _counts(fields) -> bool:
    """Return True if the fields are 0, 1, 2, ... or 1, 2, 3, ...: at least three of them."""
    fields = _plain(fields)
    starts = ([str(start + place) for place in range(len(fields))] for start in (0, 1))
    return len(fields) > 2 and fields in starts


def _plain(fields) -> list[str]:
    """Return the fields without the empty one over an index."""
    return list(fields[1:] if fields and is_missing(fields[0]) else fields)
