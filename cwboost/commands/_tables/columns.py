"""Columns of numbers, of categories and of dates, or an error that has the name of the column."""

import warnings

import numpy as np

from cwboost.commands._tables.stored import Stored, called
from cwboost.commands._tables.words import AMOUNT, DATE, SWAPPED, TIME, numbers, strip
from cwboost.input.columns import listed, quoted


def as_feature(stored: Stored, column, decimal: str, for_model: bool):
    """Return a column of numbers, or of categories if it may; refuse what is neither.

    Words of a text file may be numbers, those of a Parquet file are categories. `for_model` refuses
    categories, since the model has numbers there.
    """
    from pandas.api.types import infer_dtype, is_numeric_dtype

    values = stored.frame[column]
    kind = infer_dtype(values)
    if is_numeric_dtype(values.dtype):
        return values
    if kind in ("boolean", "empty", "integer", "floating", "decimal"):  # with gaps
        return values.astype("boolean" if kind == "boolean" else np.float64)
    if kind not in ("string", "categorical"):
        raise _neither(stored, column, kind)
    if stored.is_text:
        values = numbers(values, decimal)
        if values.notna().all():
            return values
    words = strip(stored.frame[column])
    first = quoted(words.dropna().iloc[0]) if words.count() else ""
    if stored.is_text:
        if values.isna().all() and words.notna().any():
            values = words.str.lower().map({"true": True, "false": False}).astype("boolean")
        odd = words[values.isna() & words.notna()]
        if not len(odd):
            return values
        # A comma may be a decimal mark, or stand between thousands.
        alike = numbers(words.str.replace(",", ""), ".").notna()
        if for_model or 2 * alike.sum() >= words.count():
            advice = "--decimal sets the decimal mark, --label the label, --drop leaves columns out"
            what = f"must hold numbers, as in other rows, got {quoted(odd.iloc[0])} ({advice})"
            raise stored.error(what, column, int(odd.index[0]))
    if for_model or 2 * words.str.fullmatch(DATE).sum() > words.count():
        raise _neither(stored, column, f"words such as {first}")
    if 2 * words.str.fullmatch(AMOUNT).sum() > words.count():
        _warn(stored, column, f"is read as categories such as {first}: write amounts as numbers")
    return words.astype("category")


def as_known_categories(stored: Stored, column, known: np.ndarray):
    """Return a column as words; warn if none of them is a category of the model."""
    words = strip(stored.frame[column], known)
    if words.notna().any() and not words.isin(known).any():
        few, got = listed(known.tolist(), most=10), quoted(words.dropna().iloc[0])
        _warn(stored, column, f"must hold categories of the model, [{few}], got {got} and no other")
    return words.astype("category")


def as_times(stored: Stored, column):
    """Return a column of dates as times in UTC; a word that is not a date is an error."""
    from pandas import to_datetime
    from pandas.api.types import infer_dtype

    values, how = stored.frame[column], {}
    if infer_dtype(values) not in ("datetime64", "datetime", "date"):
        values = strip(values)  # of numbers, too: pandas would count nanoseconds
        no_date = values.str.fullmatch(TIME, na=False) | values.str.match(SWAPPED, na=False)
        values = values.mask(no_date, "no date")
        day_first = bool(values.str.match(r"\d\d?\.").any())
        is_iso = values.str.match(r"\d{4}-").any()
        how = {"format": "ISO8601"} if is_iso else {"dayfirst": day_first}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas has to guess the format
        times = to_datetime(values, utc=True, errors="coerce", **how)
    odd = stored.frame[column][times.isna() & values.notna()]
    if len(odd):
        what = f"must hold dates of one form, such as 2026-01-31, got {quoted(odd.iloc[0])}"
        raise stored.error(what, column, int(odd.index[0]))
    return times.dt.tz_localize(None)


def as_key(stored: Stored, column, decimal: str, is_time: bool):
    """Return a column of groups, or of times as numbers or dates; an empty field is an error."""
    from pandas.api.types import infer_dtype

    values = stored.frame[column]
    if stored.is_text or (is_time and infer_dtype(values) in ("string", "categorical")):
        values = strip(values)
        if is_time:
            found = numbers(values, decimal)
            values = found if found.notna().any() else as_times(stored, column)
    if (empty := values.isna().to_numpy()).any():
        what = "must hold a time in every row" if is_time else "must name the group of every row"
        raise stored.error(f"{what}, got none", column, int(empty.argmax()))
    return values


def _neither(stored: Stored, column, got: str) -> ValueError:
    advice = f"--dates {column} makes numbers of dates, --drop {column} leaves the column out"
    return stored.error(f"must hold numbers or words, got {got} ({advice})", column)


def _warn(stored: Stored, column, what: str) -> None:
    warnings.warn(f"{stored.path}, {called(column)} {what}", stacklevel=2)
