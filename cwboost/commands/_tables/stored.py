"""Files as they are stored: the fields of text and Parquet files, which pyarrow reads."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from cwboost.commands._tables.fields import MISSING, TRUTH, is_header
from cwboost.commands._tables.options import Options
from cwboost.support.extras import extra

__all__ = ["STANDARD_INPUT", "Stored", "place_of", "read_parquet", "read_text"]

STANDARD_INPUT = "-"
SEPARATORS = ("\t", ";", "|", ",")
"""In order of preference: a comma may stand inside numbers, the others do not."""
LINES_LOOKED_AT = 1000
WRONG_LENGTH = re.compile(r"Row #(\d+): Expected \d+ columns, got (\d+)")


@dataclass
class Stored:
    """A file whose columns are known."""

    path: Path
    names: list[str] | None  # None for a text file without a header line
    n_columns: int
    table: Callable[[Collection[int]], object]
    """Maps the places of columns that must stay text to the pyarrow.Table of all columns."""
    where: Callable[[int], str]
    """Maps the place of an example to words that say where it stands, such as "line 3"."""
    is_text: bool = False
    notes: Sequence[str] = ()


@contextmanager
def _libraries(path: Path):
    with extra("tables", f"{path}: reading text and Parquet files needs pandas and pyarrow"):
        import pandas  # noqa: F401

        yield


def read_parquet(path: Path) -> Stored:
    """Read a Parquet file; a damaged one is a ValueError that names it."""
    with _libraries(path):
        import pyarrow
        from pyarrow import parquet
    try:
        table = parquet.ParquetFile(path).read()
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: is not a Parquet file, or is damaged: {error}") from error
    return Stored(path, table.column_names, table.num_columns, lambda _: table, "row {}".format)


def read_text(path: Path, options: Options) -> Stored:
    """Read a file of fields with separators between them, one example per line.

    Raises
    ------
    ValueError
        For a malformed file; the message names the file and the line.
    OSError
        If the file cannot be read.
    """
    with _libraries(path):
        import pyarrow
    text = _text(path, options.encoding)
    sep = _separator(path, text, options.sep)
    shown = "tab" if sep == "\t" else repr(sep)
    head = _head(path, text, sep)
    if {len(row) for row in head[1:]} == {len(head[0]) + 1}:
        text = sep + text.lstrip("\r\n")  # R writes no name over the names of its rows.
        head[0].insert(0, "")
    names, lines, n_columns = None, io.StringIO(text, newline=""), len(head[0])
    if _has_header(head, options):
        names = head[0]
        if len(head) == 1:
            raise ValueError(
                f"{path}: has a header line but no examples (--no-header if it has none)"
            )
        if "" in names[1:]:
            raise ValueError(
                f"{path}, line 1: column {names.index('', 1)} has no name in the header line"
            )
        next(row for row in csv.reader(lines, delimiter=sep) if row)
    body = lines.read().encode("utf-8", "surrogatepass")

    def where(row: int) -> str:
        return f"line {_line(text, sep, row + (names is not None))}"

    def table(as_text: Collection[int]):
        try:
            return _parsed(body, sep, n_columns, options.decimal, as_text)
        except pyarrow.ArrowInvalid as error:
            if not (found := WRONG_LENGTH.search(str(error))):
                raise ValueError(f"{path}: {error}") from error
            row, got = map(int, found.groups())
            raise ValueError(
                f"{path}, {where(row - 1)}: expected {n_columns} fields as in line "
                f"{_line(text, sep, 0)}, got {got} (separator {shown}; --sep sets another)"
            ) from error

    notes = [
        f"separator {shown}",
        "no header line (--header if the first line holds names)"
        if names is None
        else "first line read as header (--no-header if it is an example)",
    ]
    return Stored(path, names, n_columns, table, where, True, notes[options.sep is not None :])


def _text(path: Path, encoding: str) -> str:
    """Return what a file holds; the path "-" is the standard input."""
    with open(0 if str(path) == STANDARD_INPUT else path, "rb", closefd=str(path) != "-") as file:
        data = file.read()
    try:
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        text = data.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except UnicodeError as error:
        raise ValueError(
            f"{path}: is not text in {encoding}: {error}; name its encoding by --encoding, for "
            "example --encoding latin-1 or utf-16"
        ) from error
    except LookupError as error:
        raise ValueError(f"--encoding: unknown encoding {encoding!r}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: is not a whole gzip file: {error}") from error
    if not text.strip():
        raise ValueError(f"{path}: is empty")
    return text


def _separator(path: Path, text: str, sep: str | None) -> str:
    """Return the separator: the given one, or the first that gives lines of one length."""
    if sep is not None:
        sep = "\t" if sep in ("tab", "\\t") else sep
        if len(sep) != 1 or sep in '\r\n"':
            raise ValueError(f"--sep: must be one character or 'tab', got {sep!r}")
        return sep
    lines = filter(str.strip, io.StringIO(text, newline=""))
    start = list(islice(lines, LINES_LOOKED_AT // 10))
    for candidate in SEPARATORS:
        try:
            lengths = {len(row) for row in csv.reader(start, delimiter=candidate) if row}
        except csv.Error:
            continue
        if len(lengths) == 1 and lengths != {1}:
            return candidate
    if ".tsv" in path.suffixes:
        return "\t"
    return max(reversed(SEPARATORS), key=start[0].count)


def _head(path: Path, text: str, sep: str) -> list[list[str]]:
    """Return the fields of the first lines; check the quotation marks of all lines if need be."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True)
    line, head = 1, []
    try:
        for row in reader:
            line = reader.line_num + 1
            if row and len(head) <= LINES_LOOKED_AT:
                head.append([field.strip() for field in row])
            if len(head) > LINES_LOOKED_AT and '"' not in text:
                break
    except csv.Error as error:
        what = str(error)
        if "unexpected end of data" in what:
            what = "a quotation mark opens a field that does not end"
        raise ValueError(f"{path}, line {line}: {what}") from error
    return head


def _has_header(head: Sequence[Sequence[str]], options: Options) -> bool:
    if options.header is not None:
        return options.header
    given = [spec for spec in (options.label, *options.drop) if spec is not None]
    wanted = [spec for spec in given if place_of(spec) is None]
    wanted += (options.trained and options.trained.names) or ()
    n_columns, place = len(head[0]), place_of(options.label or "")
    if place is not None:
        place = place % n_columns if -n_columns <= place < n_columns else None
    rows = [row for row in head if len(row) == n_columns]  # others are an error to come
    return is_header(rows, place, wanted, options.decimal)


def place_of(spec: str) -> int | None:
    """Return the number that a user gave for a column, None for a name."""
    return int(spec) if re.fullmatch(r"[+-]?[0-9]{1,9}", spec.strip()) else None


def _line(text: str, sep: str, row: int) -> int:
    """Return the number of the line, from 1, in which a row begins; the header is a row."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    start = 1
    for fields in reader:
        row -= bool(fields)
        if row < 0:
            break
        start = reader.line_num + 1
    return start


def _parsed(body: bytes, sep: str, n_columns: int, decimal: str, as_text: Collection[int]):
    """Return the columns of the lines after the header, by their places."""
    import pyarrow
    from pyarrow import csv as reader

    cases = (str.lower, str.upper, str.capitalize)
    return reader.read_csv(
        io.BytesIO(body),
        reader.ReadOptions(
            use_threads=False,  # so that errors know their rows
            block_size=len(body) + 1,
            column_names=[str(place) for place in range(n_columns)],
        ),
        reader.ParseOptions(delimiter=sep, newlines_in_values=True),
        reader.ConvertOptions(
            column_types={str(place): pyarrow.string() for place in as_text},
            null_values=["NaN", *(case(word) for word in MISSING for case in cases)],
            true_values=[case(word) for word in TRUTH if TRUTH[word] for case in cases],
            false_values=[case(word) for word in TRUTH if not TRUTH[word] for case in cases],
            decimal_point=decimal,
        ),
    )
