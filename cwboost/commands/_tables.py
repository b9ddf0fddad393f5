"""Tables of examples as pandas reads them: text files, compressed or not, and Parquet files."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from cwboost.commands import CommandError, assignment
from cwboost.input.columns import listed, quoted
from cwboost.support.extras import extra

DATA = "CSV file, compressed or not, or Parquet file; - reads the standard input"
PARQUET = b"PAR1"
COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\3\4": "zip",
}
"""First bytes of compressed files: what comes through a pipe has no name to tell by."""


def add_reading_arguments(parser, default: str):
    """Declare the arguments and return their group; `default` describes an absent ``--label``."""
    group = parser.add_argument_group("how to read the file")
    add = group.add_argument
    column = f"label column: name, or number from 0, negative from the end (default: {default})"
    add("--label", metavar="COLUMN", help=column)
    add("--sep", metavar="CHAR", help="separator, or 'tab' (default: comma, for .tsv tab)")
    read = "an argument of pandas.read_csv, such as header=None, decimal=, or na_values=?"
    add("--read", action="append", default=[], metavar="NAME=VALUE", help=read)
    add("--drop", action="append", default=[], metavar="COLUMN", help="leave out a column")
    add("--drop-unlabelled", action="store_true", help="leave out rows with an empty label")
    return group


@dataclass(frozen=True)
class Known:
    """What a model, or the rows that it is trained on, need of another file."""

    names: list[str] | None  # of the features; None picks these by place
    n_features: int
    text: list[int]  # places of the features that hold text
    classes: np.ndarray
    label: str | None = None  # the column that has the labels, if its name is known


@dataclass(frozen=True)
class Table:
    """Some rows of a file."""

    frame: Any  # of pandas: all columns
    X: Any  # those of the features
    y: np.ndarray | None = None  # the labels that there are
    labelled: np.ndarray | None = None  # which rows have one
    label: Any = None  # the column of the labels

    def take(self, places) -> Table:
        """Return some of the rows, all of which have a label."""
        return Table(self.frame.iloc[places], self.X.iloc[places], self.y[places], None, self.label)

    def known(self) -> Known:
        """Return what other files need to fit to these rows."""
        from pandas.api.types import is_bool_dtype, is_numeric_dtype

        names = list(self.X.columns)
        text = [
            place
            for place, dtype in enumerate(self.X.dtypes)
            if not (is_numeric_dtype(dtype) or is_bool_dtype(dtype))
        ]
        names = names if isinstance(names[0], str) else None
        label = self.label if isinstance(self.label, str) else None
        return Known(names, self.X.shape[1], text, np.unique(self.y), label)


def read(args, path=None, known: Known | None = None) -> Table:
    """Read a whole file of labelled rows, by default ``args.data``."""
    (table,) = read_parts(args, path, known, needs_labels=True, rows=None)
    return table


def read_parts(
    args, path=None, known: Known | None = None, *, needs_labels: bool, rows: int | None
) -> Iterator[Table]:
    """Yield the rows of a file, `rows` of them at a time, None for all."""
    with extra("tables", "reading tables needs pandas and pyarrow"):
        import pandas  # noqa: F401
    path, done = args.data if path is None else path, 0
    with _opened(path) as file:
        try:
            start = file.read(8)
            file.seek(0)
            stored = _parquet if start.startswith(PARQUET) else _text
            columns, frames = stored(file, start, path, args)
            label, features = _choose(columns, path, args, known, needs_labels)
            of_text = [] if known is None else [features[place] for place in known.text]
            if label is not None and known is not None and known.classes.dtype.kind in "OU":
                of_text.append(label)
            for frame in frames(dict.fromkeys(of_text, str), rows):
                if len(frame):
                    yield _table(frame, label, features, known, path, args, needs_labels, done)
                done += len(frame)
        except (LookupError, TypeError, ValueError) as error:  # of pandas, pyarrow and codecs
            raise CommandError(f"{path}: {error} (--sep and --read say how to read it)") from error
    if not done:
        raise CommandError(f"{path} must have rows, got none")


@contextmanager
def _opened(path):
    """Open a file at its start; what comes through a pipe goes to the disk first."""
    source = 0 if str(path) == "-" else path
    with open(source, "rb", closefd=source != 0) as file, tempfile.TemporaryFile() as stored:
        if file.seekable():
            yield file
        else:
            shutil.copyfileobj(file, stored)
            stored.seek(0)
            yield stored


def _text(file, start: bytes, path, args):
    """Return the columns of a text file, and a function that yields its frames."""
    from pandas import read_csv

    given = dict(assignment(each, "--read") for each in args.read)
    sep = args.sep or ("\t" if ".tsv" in path.suffixes else ",")
    options = {
        "sep": "\t" if sep in ("tab", "\\t") else sep,
        "compression": next((COMPRESSED[m] for m in COMPRESSED if start.startswith(m)), None),
    }
    if "engine" not in given and len(options["sep"]) == 1:
        options["low_memory"] = False  # one type per column
    options |= given
    columns = list(read_csv(file, **options | {"nrows": 0}).columns)
    # An empty line is a gap in the only column.
    options = {"skip_blank_lines": len(columns) > 1, **options}

    def frames(dtype, rows):
        file.seek(0)
        if isinstance(options.setdefault("dtype", {}), dict):
            options["dtype"] = dtype | options["dtype"]
        if rows is None:
            yield read_csv(file, **options)
        else:
            yield from read_csv(file, chunksize=rows, **options)

    return columns, frames


def _parquet(file, start: bytes, path, args):
    """Return the columns of a Parquet file, and a function that yields its frames."""
    if args.sep or args.read:
        raise CommandError(f"--sep and --read must go with a text file, got a Parquet file, {path}")
    with extra("tables", "reading Parquet files needs pandas and pyarrow"):
        from pyarrow import parquet
    from pandas import read_parquet

    stored = parquet.ParquetFile(file)

    def frames(_, rows):
        if rows is None:
            yield read_parquet(file)
        else:
            yield from (batch.to_pandas() for batch in stored.iter_batches(rows))

    return list(stored.schema_arrow.empty_table().to_pandas().columns), frames


def _choose(columns, path, args, known: Known | None, needs_labels: bool):
    """Return the column of the label, None if there is none, and those of the features.

    Features are picked by name if the model and the file have names, else by place.
    """
    specs = [("--drop", spec) for spec in args.drop]
    specs += [(f"--{key}", getattr(args, key, None)) for key in ("groups", "time")]
    gone = [find(columns, spec, option, path) for option, spec in specs if spec is not None]
    has_names = bool(columns) and isinstance(columns[0], str)
    names = known.names if known and has_names else None
    others = [column for column in columns if column not in {*gone, *(names or ())}]
    spec = (known and known.label) or args.label
    label = None if spec is None else find(columns, spec, "--label", path)
    if label is None and needs_labels:
        if not others:
            raise CommandError(f"{path} must have a column of labels, got [{listed(columns)}]")
        label = others[-1]
    if label is not None and label not in others:
        what = "a feature of the model" if label in (names or ()) else "left out"
        raise CommandError(f"{path}: --label must name a column that is not {what}, got {label!r}")
    features = names or [column for column in others if column != label]
    absent = [name for name in features if name not in columns or name in gone]
    n_features = known.n_features if known else max(len(features), 1)
    if absent or len(features) != n_features:
        what = f"lacks [{listed(absent)}]" if absent else f"got {len(features)}"
        raise CommandError(
            f"{path} must have {n_features} features{' of the model' if known else ''}, {what}; "
            f"its columns are [{listed(columns)}] (--label, --drop and --sep set others)"
        )
    if not args.quiet:
        ignored = [column for column in others if column != label] if names else gone
        notes = [f"{len(features)} features"]
        notes += [] if label is None else [f"label in column {quoted(label)}"]
        notes += [f"ignored: {listed(ignored)}"] if ignored else []
        print(f"{path}: {'; '.join(notes)}", file=sys.stderr)
    return label, list(features)


def find(columns, spec: str, option: str, path):
    """Return a column that an option gives by name or number."""
    if spec in columns:
        return spec
    if re.fullmatch(r"[+-]?[0-9]{1,9}", spec) and -len(columns) <= int(spec) < len(columns):
        return columns[int(spec)]
    raise CommandError(
        f"{option} must be a column of {path}, [{listed(columns)}], or its number, got "
        f"{quoted(spec)}"
    )


def _table(frame, label, features, known: Known | None, path, args, needs_labels, done) -> Table:
    """Return the features and labels of some rows, before which `done` were read."""
    y = labelled = None
    if label is not None:
        labelled = frame[label].notna().to_numpy()
        has_gaps = not labelled.all()
        if has_gaps and needs_labels and not args.drop_unlabelled:
            raise CommandError(
                f"{path}, row {done + 1 + labelled.argmin()} must have a label in column "
                f"{quoted(label)}, got none (--drop-unlabelled leaves such rows out)"
            )
        if args.drop_unlabelled:
            frame, labelled = frame[labelled], None
        y = frame[label] if labelled is None else frame[label][labelled]
        # Of integers with gaps, pandas makes floats.
        y = (y.convert_dtypes() if has_gaps and y.dtype == np.float64 else y).to_numpy()
    X = frame[features]
    if known is not None:
        X = X.set_axis(known.names or range(known.n_features), axis=1)
    return Table(frame, X, y, labelled, label)
