"""A file as it is stored, with its columns in Arrow's types: what Parquet and text files share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cwboost.support.extras import extra

__all__ = ["Stored", "needs_pyarrow", "read_parquet"]


@dataclass
class Stored:
    """A file whose columns are known.

    Parameters
    ----------
    path : Path
    names : list of str or None
        Names of the columns; None for a text file without a header line.
    n_columns : int
    columns : callable
        Maps the places of the columns that must stay text to the list of all columns, each a
        pyarrow.ChunkedArray.
    where : callable
        Maps the place of an example to words that say where it stands, such as "line 3".
    is_text : bool
        Whether a column of text may hold numbers.
    notes : tuple of str
        What the reader decided.
    """

    path: Path
    names: list[str] | None
    n_columns: int
    columns: Callable[[Collection[int]], list]
    where: Callable[[int], str]
    is_text: bool = False
    notes: tuple[str, ...] = ()


@contextmanager
def needs_pyarrow(path: Path):
    """Guard an import of pyarrow: the error for its absence names the file and the extra."""
    with extra("tables", f"{path}: reading text and Parquet files needs pyarrow"):
        yield


def read_parquet(path: Path) -> Stored:
    """Read the columns of a Parquet file; a damaged one is a ValueError that names it."""
    with needs_pyarrow(path):
        import pyarrow
        from pyarrow import parquet
    try:
        table = parquet.ParquetFile(path).read()
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: is not a Parquet file, or is damaged: {error}") from error
    return Stored(
        path,
        table.column_names,
        table.num_columns,
        lambda _: table.columns,
        lambda row: f"row {row}",
    )
