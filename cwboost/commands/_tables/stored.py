"""The columns of a text or Parquet file, and what its first line holds."""

import io
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from cwboost.commands._tables.options import Options
from cwboost.commands._tables.words import MISSING, numbers
from cwboost.input.columns import listed, quoted
from cwboost.support.extras import extra

COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
NEEDS = "tables", "reading text and Parquet files needs pandas and pyarrow"


@dataclass
class Stored:
    """The columns of a file, before it is decided what they are."""

    path: Path
    frame: object  # of pandas; its columns have names, or numbers without a header line
    notes: list[str]
    first_row: int = 1  # number of the first example among the rows of the file
    is_text: bool = False  # whether columns hold the words of a text file

    @property
    def has_names(self) -> bool:
        return isinstance(self.frame.columns[0], str)

    def error(self, what: str, column=None, row: int | None = None) -> ValueError:
        """Return the error for the file, one of its columns, or the field of an example in it."""
        row = "" if row is None else f", row {row + self.first_row}"
        column = "" if column is None else f", {called(column)}"
        return ValueError(f"{self.path}{row}{column} {what}")


def called(column) -> str:
    """Return how messages call a column: by its name, or its number if it has none."""
    return f"column {quoted(column) if isinstance(column, str) else column}"


def read_parquet(path: Path) -> Stored:
    """Read a Parquet file; the levels of an index that have names are columns, as in text."""
    with extra(*NEEDS):
        import pandas
        import pyarrow  # noqa: F401
    with path.open("rb") as file:
        try:
            frame = pandas.read_parquet(file)
        except (ValueError, OSError) as error:
            raise ValueError(f"{path} must be a Parquet file, got {error}") from error
    index = [name for name in frame.index.names if name is not None]
    frame = pandas.concat([frame.index.to_frame()[index], frame], axis=1)
    frame = frame.reset_index(drop=True).set_axis(list(map(str, frame.columns)), axis=1)
    if 0 in frame.shape:
        raise ValueError(f"{path} must have rows and columns, got shape {frame.shape}")
    return Stored(path, frame, [f"index {quoted(name)} read as a column" for name in index])


def read_text(path: Path, options: Options) -> Stored:
    """Read a file with one example per row, every field as text."""
    with extra(*NEEDS):
        import pandas  # noqa: F401
        import pyarrow
        from pyarrow import csv
    source = 0 if str(path) == "-" else path
    sep = "\t" if options.sep in ("tab", "\\t") else options.sep
    if sep is not None and len(sep) != 1:
        raise ValueError(f"--sep must be one character or 'tab', got {sep!r}")
    try:
        with open(source, "rb", closefd=source != 0) as file:
            data = io.BytesIO(file.read())
        data = pyarrow.input_stream(data, compression=COMPRESSED.get(path.suffix.lower())).read()
        start = data[: max(1 << 16, data.find(b"\n"))].decode(options.encoding, "ignore")
        if sep is None:
            first_line = start.lstrip("\ufeff\r\n").partition("\n")[0]
            sep = next((each for each in "\t;|" if each in first_line), ",")
        table = csv.read_csv(
            io.BytesIO(data),
            csv.ReadOptions(
                autogenerate_column_names=True,
                block_size=min(len(data) + 1, 1 << 30),
                encoding=options.encoding,
                use_threads=False,  # or errors would lack the number of the row
            ),
            csv.ParseOptions(delimiter=sep, newlines_in_values=True),
            csv.ConvertOptions(
                column_types={f"f{at}": pyarrow.string() for at in range(start.count(sep) + 1)}
            ),
        )
        if data.count(b'"') % 2 and "\n" in str(table[-1][-1]):
            raise ValueError("a quotation mark without its second")
    except (ValueError, LookupError, TypeError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # absent, or not to be read
        fields = "" if sep is None else f" with {sep!r} between the fields of a row"
        raise ValueError(
            f"{path} must be text in {options.encoding}{fields}, got {str(error)[:400]} "
            "(--encoding and --sep set others)"
        ) from error
    frame = table.to_pandas().set_axis(range(table.num_columns), axis=1)
    first = frame.iloc[0].str.strip().tolist()
    header = _has_header(first, frame, options)
    names: dict[str, None] = {}
    for name in first:
        new, numbering = name, count(1)
        while new in names:  # the second "a" is "a.1", as pandas has it
            new = f"{name}.{next(numbering)}"
        names[new] = None
    found = "first line read as header (--no-" if header else "no header line (--"
    notes = [f"separator {sep!r}", f"{found}header otherwise)"]
    if header:
        frame = frame.iloc[1:].reset_index(drop=True).set_axis(list(names), axis=1)
        again = [new for new, name in zip(names, first) if new != name]
        notes += [f"repeated names are numbered: {listed(again)}"] if again else []
    if not len(frame):
        raise ValueError(f"{path} must have examples, got a header line (--no-header otherwise)")
    return Stored(path, frame, notes, 1 + header, is_text=True)


def _has_header(first: list[str], frame, options: Options) -> bool:
    """Return True if the first row holds names: those of the model or the label, or 0, 1, 2.

    Otherwise its label must be a word that no example has; for a model or without a label, no field
    a number or a category of the model.
    """
    label, trained, width = options.label, options.trained, len(first)
    if options.header is not None:
        return options.header
    known = trained.names if trained and trained.names else (label,)
    if set(known) <= set(first) or (width > 2 and first == [str(at) for at in range(width)]):
        return True
    if label is None or trained:
        categories = trained.categories.values() if trained else ()
        is_known = any(word in set(own) for own in categories for word in first)
        return not is_known and bool(numbers(frame.iloc[0], options.decimal).isna().all())
    at = int(label) if label.lstrip("-").isdigit() and -width <= int(label) < width else -1
    is_number = numbers(frame.iloc[:1, at], options.decimal).notna().all()
    is_gap = first[at].lower() in MISSING
    return not (is_number or is_gap or first[at] in set(frame.iloc[1:, at].str.strip()))
