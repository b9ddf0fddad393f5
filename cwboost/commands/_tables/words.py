"""How numbers, dates, amounts and missing values are written."""

import numpy as np

MISSING = ["", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nat"]
"""Words that stand for a gap, in any case."""
MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
TIME = r"\d\d?:\d\d(:\d\d.*)?"
DATE = (
    r"(?i:(\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.](\d{4}|\d\d)"
    rf"|\d\d?[-. ]+{MONTH}[-, ]*\d+|{MONTH} \d\d?,? \d+)([T ]+\d.*)?|{TIME})"
)
SWAPPED = r"(1[3-9]|[2-9]\d)[-/]\d\d?[-/]|\d\d?\.(1[3-9]|[2-9]\d)\."
"""A day before a month, or after it with dots: pandas would swap all dates of such a file, but not
those of the next, whose days may all be months."""
UNIT = r"([A-Z]{0,3}[^\w\s.,'()+-]|[A-Z]{3} | ?[a-z]{2}\.?| [A-Z]{3})"
AMOUNT = rf"[-+(]*{UNIT}?\s?[-+]?(\d{{1,3}}([., '_\s]\d{{3}})+|\d+)([.,]\d+)?\s?{UNIT}?\)?"
"""Money, percentages, other units, and numbers with marks between thousands."""
EPOCH = np.datetime64(0, "s")
PARTS = {
    "year": lambda times: times.dt.year,
    "month": lambda times: times.dt.month,
    "weekday": lambda times: times.dt.day_of_week,  # 0 is Monday
    "hour": lambda times: times.dt.hour,
    "total_seconds": lambda times: (times - EPOCH).dt.total_seconds(),
}
"""The numbers that ``--dates when`` makes of a column: ``when_year`` and so on, in UTC."""


def strip(column, known=(), missing=MISSING):
    """Return words without spaces around them, missing ones as such; those `known` stay as is."""
    written = column.astype("string")
    words = written.str.strip()
    return words.mask(words.str.lower().isin(missing)).mask(written.isin(known), written)


def numbers(words, decimal: str):
    """Return the numbers that words are, NaN for other words."""
    from pandas import to_numeric

    if decimal == ",":
        words = words.str.translate(str.maketrans(",.", ".x"))
    return to_numeric(words, errors="coerce")
