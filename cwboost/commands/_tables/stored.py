"""Files of columns as they are stored: text, all of whose fields stay text, and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from cwboost.commands._tables.options import Options
from cwboost.support.extras import extra

if TYPE_CHECKING:
    import pyarrow

__all__ = ["MISSING", "NUMBER", "STANDARD_INPUT", "Stored", "place_of", "read_parquet", "read_text"]

STANDARD_INPUT = "-"
MISSING = ("", "na", "nan", "n/a", "null", "?")
NUMBER = r"(?i)^([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf(inity)?|true|false)$"
LABEL_NAMES = {"class", "label", "labels", "target", "y"}
SEPARATORS = ("\t", ";", "|", ",")
"""In order of preference: a comma may stand inside numbers, the others do not."""
LINES_LOOKED_AT = 100
WRONG_LENGTH = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


@dataclass
class Stored:
    """The columns of a file."""

    path: Path
    names: list[str] | None  # None for a text file without a header line
    table: pyarrow.Table
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
    return Stored(path, table.column_names, table, "row {}".format)


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
        import pyarrow.compute
    text = _text(path, options.encoding)
    sep = _separator(text, options.sep)
    head = _head(path, text, sep)
    if {len(row) for row in head[1:]} == {len(head[0]) + 1}:
        text = sep + text.lstrip("\r\n")  # R writes no name over the names of its rows.
        head[0].insert(0, "")
    shown = "tab" if sep == "\t" else repr(sep)
    try:
        table = _parsed(text, sep, len(head[0]))
    except pyarrow.ArrowInvalid as error:
        if not (found := WRONG_LENGTH.search(str(error))):
            raise ValueError(f"{path}: {error}") from error
        row, expected, got = map(int, found.groups())
        raise ValueError(
            f"{path}, line {_line(text, sep, row - 1)}: expected {expected} fields as in line "
            f"{_line(text, sep, 0)}, got {got} (separator {shown}; --sep sets another)"
        ) from error
    notes, names = [f"separator {shown}"] if options.sep is None else [], None
    if _has_header(head, options):
        names, table = head[0], table.slice(1)
        notes.append("first line read as header (--no-header if it is an example)")
        if not len(table):
            raise ValueError(
                f"{path}: has a header line but no examples (--no-header if it has none)"
            )
        if "" in names[1:]:
            raise ValueError(
                f"{path}, line 1: column {names.index('', 1)} has no name in the header line"
            )
    else:
        notes.append("no header line (--header if the first line holds names)")

    def where(row: int) -> str:
        return f"line {_line(text, sep, row + (names is not None))}"

    return Stored(path, names, table, where, True, notes)


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


def _separator(text: str, sep: str | None) -> str:
    """Return the separator: the given one, or the first that gives lines of one length."""
    if sep is not None:
        sep = "\t" if sep in ("tab", "\\t") else sep
        if len(sep) != 1 or sep in '\r\n"':
            raise ValueError(f"--sep: must be one character or 'tab', got {sep!r}")
        return sep
    start = list(islice(filter(str.strip, io.StringIO(text, newline="")), LINES_LOOKED_AT))
    for candidate in SEPARATORS:
        try:
            lengths = {len(row) for row in csv.reader(start, delimiter=candidate) if row}
        except csv.Error:
            continue
        if len(lengths) == 1 and lengths != {1}:
            return candidate
    return max(reversed(SEPARATORS), key=start[0].count)


def _head(path: Path, text: str, sep: str) -> list[list[str]]:
    """Return the fields of the first lines; check the quotation marks of all, if there are any."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True)
    line, head = 1, []
    try:
        for row in reader:
            line = reader.line_num + 1
            if row and len(head) < LINES_LOOKED_AT:
                head.append([field.strip() for field in row])
            elif '"' not in text and row:
                break
    except csv.Error as error:
        what = str(error)
        if "unexpected end of data" in what:
            what = "a quotation mark opens a field that does not end"
        raise ValueError(f"{path}, line {line}: {what}") from error
    return head


def _parsed(text: str, sep: str, n_columns: int) -> pyarrow.Table:
    """Return the fields of all lines as text, without the blanks around them."""
    import pyarrow
    from pyarrow import compute
    from pyarrow import csv as reader

    data = text.encode("utf-8", "surrogatepass")
    names = [str(place) for place in range(n_columns)]
    table = reader.read_csv(
        io.BytesIO(data),
        # One block on one thread, so that errors know their rows.
        reader.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
        reader.ParseOptions(delimiter=sep, newlines_in_values=True),
        reader.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.string())),
    )
    return pyarrow.table(list(map(compute.utf8_trim_whitespace, table.columns)), names)


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


def _has_header(head: Sequence[Sequence[str]], options: Options) -> bool:
    """Return True if the first line holds names, by the user's word or by its looks.

    It does if it holds a name that the user or the model has; or if fields of features are no
    numbers, the label is called "label" or the like, or the features are numbered from 0, as pandas
    writes columns without names, and no field that is no number occurs again in its column.
    """
    if options.header is not None:
        return options.header
    first, body = head[0], [row for row in head[1:] if len(row) == len(head[0])]
    given = [spec for spec in (options.label, *options.drop) if spec is not None]
    wanted = [spec for spec in given if place_of(spec) is None]
    if {*wanted, *((options.trained and options.trained.names) or ())} & set(first):
        return True
    place = place_of(options.label or "")
    label = None if place is None else place % len(first)
    texts = {at for at, field in enumerate(first) if not _is_number(field, options.decimal)}
    if texts <= {label}:
        features = [field for at, field in enumerate(first) if not (texts and at == label)]
        features = features[first[0] == "" :]
        is_numbered = len(features) > 1 and features == [str(k) for k in range(len(features))]
        if not is_numbered and not (texts and first[label].lower() in LABEL_NAMES):
            return False
    return not any(row[at] == first[at] for row in body for at in texts)


def _is_number(field: str, decimal: str) -> bool:
    return field.lower() in MISSING or bool(re.match(NUMBER, field.replace(decimal, ".")))


def place_of(spec: str) -> int | None:
    """Return the number that a user gave for a column, None for a name."""
    return int(spec) if re.fullmatch(r"[+-]?[0-9]{1,9}", spec.strip()) else None
