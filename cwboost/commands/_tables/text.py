"""Reading of text files: separators, header lines, numbers and labels."""

from __future__ import annotations

import csv
import gzip
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from pathlib import Path

from cwboost.commands._tables.header import is_header
from cwboost.commands._tables.table import (
    UNNAMED,
    Options,
    Table,
    call,
    dropped_places,
    find_column,
    joined,
    repeated,
    without,
)
from cwboost.commands._tables.values import are_words, has_comma, labels_of, numbers_of, words_of
from cwboost.estimator.input.columns import quoted

__all__ = ["STANDARD_INPUT", "read_text"]

STANDARD_INPUT = "-"

SEPARATORS = ("\t", ";", "|", ",")
"""In order of preference: a comma may stand inside numbers, the others do not."""
SHOWN = {"\t": "tab"}
LINES_LOOKED_AT = 100
HEADER = "first line read as header (--no-header if it is an example)"
NO_HEADER = "no header line (--header if the first line holds names)"


def read_text(path: Path, options: Options) -> Table:
    """Read a file of fields with separators between them, one example per line.

    Raises
    ------
    ValueError
        For a malformed file; the message names the file, the line and the column.
    OSError
        If the file cannot be read.
    """
    lines = _lines(path, options.encoding)
    sep = _separator(path, lines, options.sep)
    numbers, rows = _rows(path, lines, sep)
    notes = []
    if not options.sep:
        notes.append(f"separator {SHOWN.get(sep, repr(sep))}")
    names = _take_header(path, numbers, rows, options)
    notes.append(NO_HEADER if names is None else HEADER)
    n_columns = len(rows[0])
    place = None
    if options.label is not None:
        place = find_column(path, options.label, names, n_columns, "label")
        notes.append(f"label in {call(place, names)}")
    gone = dropped_places(path, options, names, n_columns) - {place}
    if names is not None and 0 not in gone and place != 0 and names[0] in UNNAMED:
        gone.add(_index_column(path, rows))
        notes.append("first column has no name and is left out as an index")
    labels = None
    if place is not None:
        labels = _labels(path, numbers, rows, place, names, options)
        gone = gone | {place}
    X, categories = _features(path, numbers, rows, gone, names, options)
    names = names and without(names, gone)
    notes.extend(repeated(names or ()))
    if categories:
        notes.append(f"categories in {', '.join(call(at, names) for at in categories)}")
    return Table(X, labels, names, notes, categories)


def _lines(path: Path, encoding: str) -> list[str]:
    codec = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
    try:
        with _opened(path, codec) as file:
            lines = file.readlines()
    except UnicodeError as error:
        raise ValueError(_not_text(path, encoding, error)) from error
    except LookupError as error:
        raise ValueError(f"--encoding: unknown encoding {encoding!r}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: is not a whole gzip file: {error}") from error
    if not any(line.strip() for line in lines):
        raise ValueError(f"{path}: is empty")
    return lines


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


def _separator(path: Path, lines: Sequence[str], sep: str | None) -> str:
    """Return the separator: the given one, or the first that gives lines of one length."""
    if sep is not None:
        sep = "\t" if sep in ("tab", "\\t") else sep
        if len(sep) != 1 or sep in '\r\n"':
            raise ValueError(f"--sep: must be one character or 'tab', got {sep!r}")
        return sep
    start = [line for line in lines[:LINES_LOOKED_AT] if line.strip()] or list(lines)
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


def _rows(path: Path, lines: Sequence[str], sep: str) -> tuple[list[int], list[list[str]]]:
    """Return the numbers of the lines, from 1, and their fields without blanks at the ends.

    A row whose quoted fields run over several lines has the number of the first.
    """
    reader = csv.reader(lines, delimiter=sep, strict=True)
    numbers, rows = [], []
    start = 1
    try:
        for row in reader:
            if row:
                numbers.append(start)
                rows.append([field.strip() for field in row])
            start = reader.line_num + 1
    except csv.Error as error:
        what = str(error)
        if "unexpected end of data" in what:
            what = "a quotation mark opens a field that does not end"
        raise ValueError(f"{path}, line {start}: {what}") from error
    lengths = {len(row) for row in rows[1:]}
    if lengths == {len(rows[0]) + 1}:
        rows[0].insert(0, "")  # R writes no name over the names of its rows.
    expected = len(rows[0])
    for number, row in zip(numbers, rows):
        if len(row) != expected:
            raise ValueError(
                f"{path}, line {number}: expected {expected} fields as in line {numbers[0]}, got "
                f"{len(row)} (separator {SHOWN.get(sep, repr(sep))}; --sep sets another)"
            )
    return numbers, rows


def _take_header(path, numbers, rows, options: Options) -> list[str] | None:
    """Remove the header line, if there is one, and return its names."""
    header = options.header
    if header is None:
        given = [options.label, *options.drop]
        wanted = [spec for spec in given if spec is not None and not _is_place(spec)]
        place = int(options.label) if options.label and _is_place(options.label) else None
        n_columns = len(rows[0])
        if place is not None:
            place = place % n_columns if -n_columns <= place < n_columns else None
        header = is_header(rows, place, wanted, options.decimal)
    if not header:
        return None
    numbers.pop(0)
    names = rows.pop(0)
    if not rows:
        raise ValueError(f"{path}: has a header line but no examples (--no-header if it has none)")
    if "" in names[1:]:
        raise ValueError(
            f"{path}, line 1: column {names.index('', 1)} has no name in the header line"
        )
    return names


def _is_place(spec: str) -> bool:
    try:
        int(spec)
    except ValueError:
        return False
    return True


def _index_column(path, rows) -> int:
    """Return 0 if the first column, which has no name, numbers or names the rows."""
    if len({row[0] for row in rows}) < len(rows):
        raise ValueError(
            f"{path}, line 1: column 0 has no name, and its values occur repeatedly, so it is not "
            "an index: give it a name, or leave it out by --drop 0"
        )
    return 0


def _labels(path, numbers, rows, place, names, options: Options):
    """Return the labels; remove the rows without one if the user allows that."""
    unlabelled = {i for i, row in enumerate(rows) if not row[place]}
    if unlabelled and not options.drop_unlabelled:
        raise ValueError(
            f"{path}, line {numbers[min(unlabelled)]}, {call(place, names)}: the label is empty "
            f"({len(unlabelled)} of {len(rows)} are); --drop-unlabelled leaves such examples out"
        )
    if unlabelled:
        numbers[:], rows[:] = without(numbers, unlabelled), without(rows, unlabelled)
        if not rows:
            raise ValueError(f"{path}: no example has a label in {call(place, names)}")
    return labels_of([row[place] for row in rows])


def _features(path, numbers, rows, gone, names, options: Options):
    """Return the matrix of the columns that are not `gone`, and which hold categories."""
    kept = [place for place in range(len(rows[0])) if place not in gone]
    if not kept:
        raise ValueError(
            f"{path}: has no column of features; if its lines hold several fields, name their "
            "separator by --sep"
        )
    columns = []
    for to, place in enumerate(kept):
        texts = [row[place] for row in rows]

        def explain(i, place=place, texts=texts):
            return ValueError(
                f"{path}, line {numbers[i]}, {call(place, names)}: {quoted(texts[i])} is not a "
                "number" + _remedy(texts[i], options, call(place, names))
            )

        if options.categories is not None and to in options.categories:
            column = words_of(texts)
        else:
            try:
                column = numbers_of(texts, options.decimal, explain)
            except ValueError:
                # Without a label it may be the column of the labels that holds text.
                may_have_words = options.categories is None and options.label is not None
                if not (may_have_words and are_words(texts, options.decimal)):
                    raise
                column = words_of(texts)
        columns.append(column)
    categories = [to for to, column in enumerate(columns) if column.dtype == object]
    return joined(columns), categories


def _remedy(text: str, options: Options, column: str) -> str:
    if options.decimal == "." and has_comma(text):
        return "; --decimal , reads decimal commas"
    if options.label is None:
        return f"; if {column} is the label, name it by --label"
    return "; other fields are numbers, so it is not a column of categories (--drop leaves it out)"
