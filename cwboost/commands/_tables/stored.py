"""The columns of text and Parquet files as pandas reads them."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from cwboost.commands._tables.options import Options
from cwboost.estimator.input.columns import call
from cwboost.support.extras import extra

__all__ = ["DOUBT", "Stored", "read_parquet", "read_text"]

DOUBT = "does its first line hold names or an example? Say --header or --no-header"
NEEDS = "tables", "reading text and Parquet files needs pandas and pyarrow"


@dataclass
class Stored:
    """The columns of a file, before it is decided what they are."""

    path: Path
    names: list[str] | None  # None for a text file without a header line
    frame: object  # of pandas; its columns are numbered
    notes: list[str]
    where: Callable[[int], str]  # says where an example stands, such as "line 3"
    written: Callable[[list], object]  # some columns; of text, with their fields as they are
    is_text: bool = True

    def error(self, what: str, place: int | None = None, row: int | None = None) -> ValueError:
        """Return the error for the file, one of its columns, or the field of an example in it."""
        line = "" if row is None else f", {self.where(row)}"
        column = "" if place is None else f", {call(place, self.names)}"
        return ValueError(f"{self.path}{line}{column}: {what}")


def read_parquet(path: Path) -> Stored:
    """Read a Parquet file; a damaged one is a ValueError that names it."""
    with extra(*NEEDS):
        import pandas
        import pyarrow  # noqa: F401
    with path.open("rb") as file:
        try:
            frame = pandas.read_parquet(file)
        except (ValueError, OSError) as error:
            raise ValueError(f"{path}: is not a Parquet file, or is damaged: {error}") from error
    names = list(map(str, frame.columns))
    frame = frame.reset_index(drop=True).set_axis(range(len(names)), axis=1)
    return Stored(path, names, frame, [], "row {}".format, frame.__getitem__, False)


def read_text(path: Path, options: Options) -> Stored:
    """Read a file with one example per line; a malformed one is a ValueError that says where."""
    with extra(*NEEDS):
        import pandas
    text = _text(path, options.encoding)
    sep = _separator(text, options.sep)
    shown = f"separator {'tab' if sep == chr(9) else repr(sep)}"
    hint = f"{shown}; --sep sets another"
    _, first = next(_rows(path, text, sep), (0, []))
    header = _has_header(first, options)

    def parse(**how):
        how |= {"sep": sep, "header": 0 if header else None, "skipinitialspace": True}
        return pandas.read_csv(io.StringIO(text), **how)

    try:
        frame = parse(decimal=options.decimal, na_values="?", low_memory=False)
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).strip()} ({hint})") from error
    if not len(frame):
        raise ValueError(f"{path}: has a header line but no examples (--no-header if it has none)")
    # pandas fills short lines, and takes fields without a name in the header for an index.
    if frame.iloc[:, -1].isna().any() or not isinstance(frame.index, pandas.RangeIndex):
        for line, fields in _rows(path, text, sep):
            if len(fields) != len(first):
                what = f"expected {len(first)} fields, got {len(fields)} ({hint})"
                raise ValueError(f"{path}, line {line}: {what}")
    names = [str(name).strip() for name in frame.columns] if header else None
    frame.columns = range(frame.shape[1])
    if options.header is None and _is_doubtful(first, frame, header):
        raise ValueError(f"{path}: {DOUBT}")

    def where(example: int) -> str:
        return f"line {next(islice(_rows(path, text, sep), example + header, None))[0]}"

    def written(places: list[int]):
        fields = parse(usecols=places, dtype=str, na_filter=False)
        return fields.set_axis(sorted(places), axis=1).apply(lambda column: column.str.strip())

    found = "first line read as header (--no-" if header else "no header line (--"
    return Stored(path, names, frame, [shown, f"{found}header otherwise)"], where, written)


def _text(path: Path, encoding: str) -> str:
    """Return what a file holds; the path "-" is the standard input."""
    is_standard = str(path) == "-"
    with open(0 if is_standard else path, "rb", closefd=not is_standard) as file:
        data = file.read()
    try:
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        return data.decode(encoding).removeprefix("\ufeff")
    except (UnicodeError, LookupError) as error:
        hint = "--encoding sets another, such as latin-1 or utf-16"
        raise ValueError(f"{path}: is not text in {encoding}: {error}; {hint}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: is not a whole gzip file: {error}") from error


def _separator(text: str, sep: str | None) -> str:
    """Return the given separator, or the first of tab, semicolon, bar, comma in the first line."""
    if sep is None:
        first = text.lstrip("\r\n").partition("\n")[0]
        return next((each for each in "\t;|" if each in first), ",")
    sep = "\t" if sep in ("tab", "\\t") else sep
    if len(sep) != 1 or sep in '\r\n"':
        raise ValueError(f"--sep: must be one character or 'tab', got {sep!r}")
    return sep


def _has_header(first: list[str], options: Options) -> bool:
    """Return True if the first line holds the names of the model, or no number."""
    from pandas import to_numeric

    if options.header is not None:
        return options.header
    if options.trained and options.trained.names and set(options.trained.names) <= set(first):
        return True
    fields = [field.replace(options.decimal, ".") for field in first]
    return np.isnan(to_numeric(fields, errors="coerce")).all()


def _is_doubtful(first: list[str], frame, header: bool) -> bool:
    """Return True if a name occurs again in its column, or if fields are numbered as by pandas."""
    if header:
        return any((frame[at] == name).any() for at, name in zip(frame, first))
    numbers = [field for field in first if field.isdigit()]
    return len(numbers) > 1 and numbers == [str(at) for at in range(len(numbers))]


def _rows(path: Path, text: str, sep: str):
    """Yield the number of the line in which each row ends, from 1, and the fields of the row."""
    file = io.StringIO(text, newline="")
    reader = csv.reader(file, delimiter=sep, skipinitialspace=sep != " ")
    try:
        for fields in reader:
            if fields not in ([], [""]):  # pandas skips blank lines as well
                yield reader.line_num, [field.strip() for field in fields]
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from error
