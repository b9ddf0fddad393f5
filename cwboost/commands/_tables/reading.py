"""The arguments that say how to read a file of examples, and the reading itself."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from cwboost.commands._tables.examples import examples_of
from cwboost.commands._tables.npz import read_npz
from cwboost.commands._tables.options import Options, Table
from cwboost.commands._tables.stored import STANDARD_INPUT, read_parquet, read_text

__all__ = ["DATA", "add_reading_arguments", "read", "read_table"]

FILES = ".csv, .tsv or .txt (also .gz), .npz or .parquet file"
DATA = f"{FILES}, or - for text from the standard input"
TEXT = (".csv", ".tsv", ".txt")


def add_reading_arguments(parser, label: str | None = None, default: str = "none") -> None:
    """Declare the arguments; `label` is the default of ``--label``, `default` describes it."""
    group = parser.add_argument_group("how to read the file")
    group.add_argument(
        "--label",
        default=label,
        metavar="COLUMN",
        help="label column: name, or number from 0, negative from the end "
        f"(default: {label or default})",
    )
    group.add_argument("--sep", metavar="CHAR", help="separator, or 'tab' (default: found)")
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="the first line holds names, or does not (default: found)",
    )
    group.add_argument("--encoding", default="utf-8", help="of a text file (default: utf-8)")
    group.add_argument(
        "--decimal",
        choices=(".", ","),
        default=".",
        metavar="MARK",
        help="decimal mark, '.' or ',' (default: .)",
    )
    group.add_argument(
        "--drop", action="append", default=[], metavar="COLUMN", help="leave out a column"
    )
    group.add_argument(
        "--drop-unlabelled",
        action="store_true",
        help="leave out examples with an empty label (default: an error)",
    )


def read(args, path: Path | None = None, **changes) -> Table:
    """Read a file as the arguments say, and say on the error stream what was decided.

    Parameters
    ----------
    args : argparse.Namespace
        With the arguments of `add_reading_arguments`, and `data` and `quiet`.
    path : Path, optional
        Default: that of the arguments.
    **changes
        Fields of `Options` that are not arguments.
    """
    path = args.data if path is None else path
    given = {each.name: getattr(args, each.name) for each in fields(Options) if each.name in args}
    table = read_table(path, **given, **changes)
    if not args.quiet:
        shape = f"{table.X.shape[0]} examples, {table.X.shape[1]} features"
        print(f"{path}: {'; '.join([shape, *table.notes])}", file=sys.stderr)
    return table


def read_table(path, **options) -> Table:
    """Read a file of examples; `options` are the fields of `Options`.

    Raises
    ------
    ValueError
        For a malformed file; the message names the file, the line and the error.
    OSError
        If the file cannot be read.
    ImportError
        If pandas or pyarrow is needed and not installed.
    """
    path, options = Path(path), Options(**options)
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if path.is_dir():
        raise ValueError(f"{path}: expected a {FILES}, got a folder")
    if kind in TEXT or str(path) in (STANDARD_INPUT, "/dev/stdin") or path.is_fifo():
        return examples_of(read_text(path, options), options)
    if path.suffix == ".npz":
        return read_npz(path, options)
    if path.suffix in (".parquet", ".pq"):
        return examples_of(read_parquet(path), options)
    raise ValueError(f"{path}: expected a {FILES}, got the ending {path.suffix!r}")
