"""Reading of text files: encoding, separator and header line; pyarrow reads the fields."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path

from cwboost.commands._tables.header import ROWS_LOOKED_AT, is_header
from cwboost.commands._tables.stored import Stored, needs_pyarrow
from cwboost.commands._tables.table import Options, place_of
from cwboost.commands._tables.values import MISSING, TRUTH

__all__ = ["STANDARD_INPUT", "read_text"]

STANDARD_INPUT = "-"

SEPARATORS = ("\t", ";", "|", ",")
"""In order of preference: a comma may stand inside numbers, the others do not."""
SHOWN = {"\t": "tab"}
LINES_LOOKED_AT = 100
HEADER = "first line read as header (--no-header if it is an example)"
NO_HEADER = "no header line (--header if the first line holds names)"
WRONG_LENGTH = re.compile(r"Row #(\d+): Expected \d+ columns, got (\d+)")


def read_text(path: Path, options: Options) -> Stored:
    """Read a file of fields with separators between them, one example per line.

    Raises
    ------
    ValueError
        For a malformed file; the message names the file and the line.
    OSError
        If the file cannot be read.
    """
    with needs_pyarrow(path):
        import pyarrow  # noqa: F401
    text = _text(path, options.encoding)
    sep = _separator(path, text, options.sep)
    notes = [] if options.sep else [f"separator {SHOWN.get(sep, repr(sep))}"]
    head = _head(path, text, sep)
    if {len(row) for row in head[1:]} == {len(head[0]) + 1}:
        text = sep + text.lstrip("\r\n")  # R writes no name over the names of its rows.
        head[0].insert(0, "")
    names, lines = None, io.StringIO(text, newline="")
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
    notes.append(NO_HEADER if names is None else HEADER)
    body, n_columns = lines.read(), len(head[0])

    def where(row: int) -> str:
        return f"line {_line(text, sep, row + (names is not None))}"

    def columns(places: Collection[int]) -> list:
        try:
            return _columns(body, sep, n_columns, options.decimal, places)
        except ValueError as error:
            if not (found := WRONG_LENGTH.search(str(error))):
                raise ValueError(f"{path}: {error}") from error
            row, got = map(int, found.groups())
            raise ValueError(
                f"{path}, {where(row - 1)}: expected {n_columns} fields as in line "
                f"{_line(text, sep, 0)}, got {got} (separator {SHOWN.get(sep, repr(sep))}; --sep "
                "sets another)"
            ) from error

    return Stored(path, names, n_columns, columns, where, True, tuple(notes))


def _text(path: Path, encoding: str) -> str:
    codec = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
    try:
        with _opened(path, codec) as file:
            text = file.read()
    except UnicodeError as error:
        raise ValueError(_not_text(path, encoding, error)) from error
    except LookupError as error:
        raise ValueError(f"--encoding: unknown encoding {encoding!r}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: is not a whole gzip file: {error}") from error
    if not text.strip():
        raise ValueError(f"{path}: is empty")
    return text


def _opened(path: Path, encoding: str):
    """Open a text file; the path "-" is the standard input."""
    if str(path) == STANDARD_INPUT:
        return open(0, newline="", encoding=encoding, closefd=False)
    opener = gzip.open if path.suffix == ".gz" else open
    return opener(path, "rt", newline="", encoding=encoding)


def _not_text(path: Path, encoding: str, error: UnicodeError) -> str:
    """Return the message for a file in another encoding, with a guess at which."""
    if not isinstance(error, UnicodeDecodeError):
        return f"{path}: is not text in {encoding}: {error}"
    guess = "utf-16" if error.object[:2] in (BOM_UTF16_BE, BOM_UTF16_LE) else "latin-1"
    return (
        f"{path}: is not text in {encoding} (byte 0x{error.object[error.start]:02x}): name its "
        f"encoding by --encoding, for example --encoding {guess}"
    )


def _separator(path: Path, text: str, sep: str | None) -> str:
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
    if ".tsv" in path.suffixes:
        return "\t"
    return max(reversed(SEPARATORS), key=start[0].count)


def _head(path: Path, text: str, sep: str) -> list[list[str]]:
    """Return the fields of the first lines; check the quotation marks of all lines if need be."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True)
    line = 1
    head = []
    try:
        for row in reader:
            line = reader.line_num + 1
            if row and len(head) <= ROWS_LOOKED_AT:
                head.append([field.strip() for field in row])
            if len(head) > ROWS_LOOKED_AT and '"' not in text:
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
    trained = options.trained.names if options.trained and options.trained.names else ()
    given = [spec for spec in (options.label, *options.drop) if spec is not None]
    wanted = [spec for spec in given if place_of(spec) is None]
    n_columns, place = len(head[0]), place_of(options.label or "")
    if place is not None:
        place = place % n_columns if -n_columns <= place < n_columns else None
    short = [row for row in head if len(row) == n_columns]  # others are an error to come
    return is_header(short, place, [*wanted, *trained], options.decimal)


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


def _columns(body: str, sep: str, n_columns: int, decimal: str, text: Collection[int]) -> list:
    """Return the columns of the lines after the header; those at the places `text` stay text."""
    import pyarrow
    from pyarrow import csv as reader

    data = body.encode("utf-8", "surrogatepass")
    cases = (str.lower, str.upper, str.capitalize)
    table = reader.read_csv(
        io.BytesIO(data),
        reader.ReadOptions(
            use_threads=False,  # so that errors know their rows
            block_size=len(data) + 1,
            column_names=[str(place) for place in range(n_columns)],
        ),
        reader.ParseOptions(delimiter=sep, newlines_in_values=True),
        reader.ConvertOptions(
            column_types={str(place): pyarrow.string() for place in text},
            null_values=["NaN", *(case(word) for word in MISSING for case in cases)],
            true_values=[case(word) for word in TRUTH if TRUTH[word] for case in cases],
            false_values=[case(word) for word in TRUTH if not TRUTH[word] for case in cases],
            decimal_point=decimal,
        ),
    )
    return table.columns
