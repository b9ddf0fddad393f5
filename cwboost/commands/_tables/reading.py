"""The arguments for reading a file of examples, and the reading itself."""

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from cwboost.commands._tables.examples import examples_of
from cwboost.commands._tables.npz import read_npz
from cwboost.commands._tables.options import Options, Table
from cwboost.commands._tables.stored import COMPRESSED, read_parquet, read_text

TEXT = {".csv", ".tsv", ".txt"}
FILES = ".csv, .tsv or .txt (also .gz, .bz2, .zst), .npz or .parquet file"
DATA = f"{FILES}, or - for text from the standard input"


def add_reading_arguments(parser, label: str | None = None, default: str = "none"):
    """Declare the arguments and return their group; `default` describes an absent ``--label``."""
    group = parser.add_argument_group("how to read the file")
    add = group.add_argument
    column = f"name, or number from 0, negative from the end (default: {label or default})"
    add("--label", default=label, metavar="COLUMN", help=f"label column: {column}")
    add("--sep", metavar="CHAR", help="separator, or 'tab' (default: that of the first line)")
    names = (
        "the first line holds names, or does not (default: it does if it has those of the model or "
        "of --label, or 0, 1, 2, or as label a word that no example has; without labels, neither "
        "numbers nor categories of the model)"
    )
    add("--header", action=argparse.BooleanOptionalAction, help=names)
    add("--encoding", default="utf-8", help="of a text file (default: utf-8)")
    add("--decimal", choices=(".", ","), default=".", metavar="MARK", help="'.' (default) or ','")
    add("--drop", action="append", default=[], metavar="COLUMN", help="leave out a column")
    unlabelled = (
        "leave out examples with an empty label (default: fit and evaluate refuse them, predict "
        "predicts them)"
    )
    add("--drop-unlabelled", action="store_true", help=unlabelled)
    return group


def read(args, path: Path | None = None, **changes) -> Table:
    """Read a file, by default `args.data`, and print on the error stream what was decided."""
    path = args.data if path is None else path
    given = {each.name: getattr(args, each.name) for each in fields(Options) if each.name in args}
    table = read_table(path, **given, **changes)
    if not args.quiet:
        shape = f"{table.X.shape[0]} examples, {table.X.shape[1]} features"
        print(f"{path}: {'; '.join([shape, *table.notes])}", file=sys.stderr)
    return table


def read_table(path, **options) -> Table:
    """Read a file of examples; `options` are the fields of `Options`."""
    path, options = Path(path), Options(**options)
    if path.is_dir():
        raise ValueError(f"{path} must be a {FILES}, got a folder")
    kind = path.suffix.lower()
    if kind in COMPRESSED:
        kind = path.with_suffix("").suffix.lower()
    if kind in TEXT or str(path) in ("-", "/dev/stdin") or path.is_fifo():
        return examples_of(read_text(path, options), options)
    if kind == ".npz":
        return read_npz(path, options)
    if kind in (".parquet", ".pq"):
        return examples_of(read_parquet(path), options)
    raise ValueError(f"{path} must be a {FILES}, got the ending {path.suffix!r}")
