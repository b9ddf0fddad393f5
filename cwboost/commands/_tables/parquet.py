"""Reading of Parquet files; needs pyarrow."""

from __future__ import annotations

from pathlib import Path

import numpy as np

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
from cwboost.support.extras import extra

__all__ = ["read_parquet"]


def read_parquet(path: Path, options: Options) -> Table:
    """Read the columns of a Parquet file.

    Raises
    ------
    ValueError
        If the file is damaged or a feature is not a number; the message names file and column.
    ImportError
        If pyarrow is not installed.
    """
    with extra("parquet", f"{path}: reading Parquet needs pyarrow"):
        import pyarrow
        from pyarrow import parquet
    try:
        stored = parquet.ParquetFile(path).read()
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: is not a Parquet file, or is damaged: {error}") from error
    names = stored.column_names
    place, notes = None, []
    if options.label is not None:
        place = find_column(path, options.label, names, len(names), "label")
        notes.append(f"label in {call(place, names)}")
    gone = dropped_places(path, options, names, len(names)) - {place}
    index = {i for i, name in enumerate(names) if name in UNNAMED} - gone - {place}
    if index:
        notes.append(f"{call(min(index), names)} is left out as an index")
    gone |= index
    if place is not None:
        stored = _labelled(path, stored, place, options)
        gone.add(place)
    kept = without(range(len(names)), gone)
    if not kept:
        raise ValueError(f"{path}: has no column of features")
    categories = list(options.categories or ())
    if options.categories is None and place is not None:
        categories = [at for at, i in enumerate(kept) if _is_text(stored.column(i).type)]
    features = [
        _words(stored.column(i))
        if at in categories
        else _numbers(path, stored.column(i), call(i, names))
        for at, i in enumerate(kept)
    ]
    labels = None if place is None else _labels(stored.column(place))
    names = [names[i] for i in kept]
    notes.extend(repeated(names))
    if categories:
        notes.append(f"categories in {', '.join(call(at, names) for at in categories)}")
    return Table(joined(features), labels, names, notes, categories)


def _is_text(kind) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return types.is_string(kind) or types.is_large_string(kind)


def _words(column) -> np.ndarray:
    """Return a column of categories as objects, None for a missing value."""
    values = [None if value is None else str(value) for value in column.to_pylist()]
    return np.array(values, dtype=object)


def _labelled(path, stored, place, options: Options):
    """Return the rows that have a label."""
    column = stored.column(place)
    if column.null_count == 0:
        return stored
    if not options.drop_unlabelled:
        row = column.is_null().to_pylist().index(True)
        raise ValueError(
            f"{path}, row {row}, {call(place, stored.column_names)}: the label is empty "
            f"({column.null_count} of {len(column)} are); --drop-unlabelled leaves such examples "
            "out"
        )
    return stored.filter(column.is_valid())


def _numbers(path, column, name: str) -> np.ndarray:
    """Return a column of numbers; NaN for a missing value."""
    from pyarrow import types

    kind = column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise ValueError(
            f"{path}, {name}: must hold numbers, got {kind}; encode such columns as numbers, or "
            "leave them out by --drop"
        )
    values = column.to_numpy()
    return values if values.dtype != object else np.array(values, dtype=np.float64)


def _labels(column) -> np.ndarray:
    values = np.array(column.to_pylist())
    return values if values.dtype != object else values.astype(str)
