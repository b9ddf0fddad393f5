"""Columns of arrays and of pandas and polars frames: what they hold, and their values."""

from __future__ import annotations

import datetime
import reprlib

import numpy as np

__all__ = [
    "call",
    "column_of",
    "holds_text",
    "holds_words",
    "is_category_dtype",
    "is_frame",
    "kind_of_values",
    "listed",
    "names_of",
    "quoted",
    "refuse_kinds",
    "values_of",
]

CATEGORY = ("category", "categorical", "enum")
TEXT = ("str", "string", "utf8", "large_string", "object")
TIME = ("datetime", "date", "time", "timestamp", "duration", "period")
LONGEST_SHOWN = 100  # characters of a name in a message
TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
KINDS = {"b": "true and false", "i": "numbers", "u": "numbers", "f": "numbers", "U": "text"}


def is_frame(X) -> bool:
    """Return True for a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def names_of(X) -> list | None:
    """Return the names of a frame's columns, None for an array."""
    return list(X.columns) if is_frame(X) else None


def call(place: int, names) -> str:
    """Return how messages call a column: its name, or its number if it has none."""
    return f"column {place}" if names is None else f"column {quoted(names[place])}"


def quoted(name) -> str:
    """Return a name in quotes, as messages show it: the middle of a long one is left out."""
    short = reprlib.Repr()
    short.maxstring = LONGEST_SHOWN
    return short.repr(str(name))


def listed(names, most: int = 50) -> str:
    """Return names in quotes with commas between them, as messages show them: `most` of many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(quoted, names[:most])) + more


def is_category_dtype(dtype) -> bool:
    return str(dtype).lower().startswith(CATEGORY)


def refuse_kinds(X) -> None:
    """Raise ValueError for the first column that holds times or complex numbers."""
    names = names_of(X)
    for place, dtype in enumerate(_doubtful_dtypes(X)):
        kind = str(dtype).lower()
        if kind == "object":
            kind = _odd_kind(np.asarray(column_of(X, place)))
        if kind.startswith("complex"):
            raise ValueError(
                f"X: {call(place, names)} holds complex numbers ({dtype}). Complex data not "
                "supported: weak learners need real numbers or categories, make columns of the "
                "real and the imaginary part"
            )
        if kind.startswith(TIME):
            raise ValueError(
                f"X: {call(place, names)} holds dates or times ({dtype}). Weak learners need "
                "numbers or categories: make columns such as year, weekday or seconds of it"
            )


def _odd_kind(values) -> str:
    """Return "time" or "complex" if an object is one that is not missing, else ""."""
    # A missing time, NaT, differs from itself.
    for value in values:
        if isinstance(value, (*TIMES, complex, np.complexfloating)) and value == value:
            return "time" if isinstance(value, TIMES) else "complex"
    return ""


def _doubtful_dtypes(X):
    """Return the dtypes of the columns of a frame, or of an array that may hold times."""
    if is_frame(X):
        return X.dtypes
    is_doubtful = getattr(X, "ndim", 0) == 2 and X.dtype.kind in "OMmc"
    return [X.dtype] * X.shape[1] if is_doubtful else ()


def column_of(X, place: int):
    """Return one column of a frame, or of an array."""
    if not is_frame(X):
        return X[:, place]
    return X.iloc[:, place] if hasattr(X, "iloc") else X[:, place]


def holds_text(X, place: int, dtype) -> bool:
    """Return True if a column of a frame holds text, by its dtype or by its values."""
    kind = str(dtype).lower()
    if is_category_dtype(dtype) or kind == "object":
        values, missing = values_of(column_of(X, place))
        return any(isinstance(value, str) for value in values[~missing])
    return kind.startswith(TEXT)


def holds_words(X, place: int) -> bool:
    """Return True if a column of an array of objects or text holds text that is not a number."""
    return any(isinstance(value, str) and not _is_number(value) for value in X[:, place])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def values_of(column) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a column, and a mask of those that are missing."""
    values = np.asarray(column)
    if hasattr(column, "isna"):  # pandas
        missing = np.asarray(column.isna(), dtype=bool)
    elif hasattr(column, "is_null"):  # polars
        missing = np.asarray(column.is_null(), dtype=bool)
    elif values.dtype.kind == "O":
        missing = np.array([v is None or (isinstance(v, float) and v != v) for v in values], bool)
    else:
        missing = np.zeros(len(values), dtype=bool)
    if values.dtype.kind == "f":
        missing = missing | np.isnan(values)
    return values, missing


def kind_of_values(values: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the kind of present values, and the values in one dtype: float64, bool or object.

    Returns
    -------
    kind : {"text", "numbers", "true and false"} or str
        Another str says what the values are, which cannot be categories.
    values : ndarray
    """
    if values.dtype.kind == "O":
        types = {type(value) for value in values.tolist()}
        if types <= {str, np.str_}:
            return "text", values
        if types <= {bool, np.bool_}:
            return "true and false", values.astype(bool)
        # np.timedelta64 is a subclass of np.integer.
        real, odd = (int, float, np.integer, np.floating), (bool, np.timedelta64)
        if all(issubclass(t, real) and t not in odd for t in types):
            return "numbers", values.astype(np.float64)
        return " and ".join(sorted(t.__name__ for t in types)), values
    kind = KINDS.get(values.dtype.kind, str(values.dtype))
    if kind == "numbers":
        return kind, values.astype(np.float64)
    return kind, values.astype(object) if kind == "text" else values
