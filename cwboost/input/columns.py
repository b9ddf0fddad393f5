"""Columns of arrays and frames: what they hold, and their values; narwhals reads the frames."""

import datetime
import reprlib
from decimal import Decimal
from numbers import Real

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from cwboost.support.checks import unmasked
from cwboost.support.extras import extra

LONGEST_SHOWN = 100  # characters of a name in a message
TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
ODD = {"M": "dates or times", "m": "dates or times", "c": "complex numbers"}
KINDS = {"b": "true and false", **dict.fromkeys("iuf", "numbers"), **dict.fromkeys("UT", "text")}


def as_columns(X):
    """Return X as a narwhals frame, a sparse matrix or an array, of two dimensions.

    Objects of other libraries that hand on Arrow data (the PyCapsule interface) become PyArrow
    tables, without a copy. Frames must be in memory, and have one name per column.
    """
    if np.ma.isMaskedArray(X):
        if X.dtype.kind in "iuf":
            X = np.where(np.ma.getmaskarray(X), np.nan, np.ma.getdata(X))
        X = np.asarray(unmasked(X))
    if not (sparse.issparse(X) or isinstance(X, np.ndarray)):
        try:
            frame = nw.from_native(X, pass_through=True)
        except nw.exceptions.DuplicateError as error:
            raise ValueError(f"X must have a name of its own for each column: {error}") from error
        if isinstance(frame, nw.LazyFrame):
            raise TypeError(
                f"X must be in memory, got a lazy frame ({type(X).__module__}.{type(X).__name__}): "
                "collect or compute it first"
            )
        if is_frame(frame):
            return frame
        if hasattr(X, "__arrow_c_stream__") and not nw.dependencies.is_into_series(X):
            with extra("tables", f"X, a {type(X).__name__} of Arrow data, needs pyarrow"):
                import pyarrow
            return nw.from_native(pyarrow.table(X))
        array = np.asarray(X)
        X = np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
    if X.ndim != 2:
        check_array(X, accept_sparse=True, dtype=None)  # raises, with a remedy
    return X


def is_frame(columns) -> bool:
    """Return True for a frame, as `as_columns` returns it."""
    return isinstance(columns, nw.DataFrame)


def names_of(X) -> list | None:
    """Return the names of a frame's columns, None for an array."""
    return X.columns if is_frame(X) else None


def column_label(place: int, names) -> str:
    """Return how messages call a column: its name, or its number if it has none."""
    return f"column {place}" if names is None else f"column {quoted(names[place])}"


def quoted(name) -> str:
    """Return a name in quotes, as messages show it: the middle of a long one is left out."""
    short = reprlib.Repr()
    short.maxstring = LONGEST_SHOWN
    return short.repr(str(name))


def listed(names, most: int = 50) -> str:
    """Return names in quotes with commas between them, as messages show them: `most` of many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(quoted, names[:most])) + more


def place_of(column, names, n_features: int, parameter: str) -> int:
    """Return the place of a column that a parameter gives by its name or place."""
    if isinstance(column, str) and names is not None and column in names:
        return list(names).index(column)
    is_place = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
    if is_place and 0 <= column < n_features:
        if names is not None and column in names and names[column] != column:
            raise ValueError(
                f"{parameter} must hold what is either the place of a column or a name, got "
                f"{column}: the column there has the name {names[column]!r}, and another one has "
                f"the name {column}; rename the columns of X to text, or pass a list of bools"
            )
        return int(column)
    known = "has no names" if names is None else f"has the columns {listed(list(names))}"
    raise ValueError(
        f"{parameter} must hold names of columns of X, or places from 0 to {n_features - 1}, got "
        f"{quoted(column) if isinstance(column, str) else column}; X {known}"
    )


def is_category_dtype(dtype) -> bool:
    """Return True for the dtype that a frame's schema has for a column of categories."""
    return isinstance(dtype, (nw.Categorical, nw.Enum))


def places_of_objects(X) -> list[int]:
    """Return the places of the columns whose numbers are read one by one: objects, decimals."""
    if is_frame(X):
        is_sparse = is_sparse_frame(X)
        return [j for j, dtype in enumerate(dtypes_of(X)) if not (is_sparse or is_plain(dtype))]
    return list(range(X.shape[1])) if not sparse.issparse(X) and X.dtype.kind == "O" else []


def is_sparse_frame(X) -> bool:
    """Return True for a pandas frame whose columns leave out zeros; SciPy can read it."""
    native = X.to_native()
    return nw.dependencies.is_pandas_dataframe(native) and all(
        str(dtype).startswith("Sparse") and dtype.fill_value == 0 for dtype in native.dtypes
    )


def is_plain(dtype) -> bool:
    """Return True for a dtype of numbers or bools that NumPy reads, with gaps or without."""
    return dtype.is_integer() or dtype.is_float() or isinstance(dtype, nw.Boolean)


def dtypes_of(X) -> list:
    """Return the dtypes of a frame's columns as narwhals has them, none for an array."""
    return list(X.schema.values()) if is_frame(X) else []


def odd_kind(X, place: int, dtype) -> str:
    """Return what a column holds that is neither number nor bool, "" if it holds nothing odd.

    `dtype` is that of `dtypes_of`, None for an array, in which words of numbers are numbers.
    """
    if dtype is not None:
        if is_plain(dtype):
            return ""
        if dtype.is_temporal() or dtype_of(X, place).startswith("period"):
            return "dates or times"
        if dtype.is_nested() or isinstance(dtype, nw.Binary):
            return "lists, records or bytes"
    values, _ = values_of(column_of(X, place))
    if values.dtype.kind in "biufMmc":
        return ODD.get(values.dtype.kind, "")
    for value in values.tolist():
        if isinstance(value, str):
            if dtype is not None or not is_number(value):
                return "text"
        elif isinstance(value, TIMES):
            return "dates or times"
        elif isinstance(value, (complex, np.complexfloating)):
            return "complex numbers"
        elif not isinstance(value, (Real, Decimal, np.bool_)):
            return f"objects of the type {type(value).__name__}"
    return ""


def is_number(text) -> bool:
    """Return True for a number, or text that Python reads as one."""
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


def column_of(X, place: int):
    """Return one column of a frame, or of an array; that of a frame as the frame has it."""
    return X[:, place].to_native() if is_frame(X) else X[:, place]


def dtype_of(X, place: int) -> str:
    """Return the name of a column's dtype as the frame or the array has it."""
    column = column_of(X, place)
    return str(column.dtype if hasattr(column, "dtype") else column.type)


def values_of(column) -> tuple[np.ndarray, np.ndarray]:
    """Return the values that a column holds, and where each row's is among them, -1 for none.

    Of a pandas column of categories each of these is returned once, so that rows are not looked at
    one by one.
    """
    if nw.dependencies.is_pandas_series(column) and hasattr(column.array, "categories"):
        codes, categories = column.array.codes, np.asarray(column.array.categories)
        occurs = np.bincount(codes[codes >= 0], minlength=len(categories)) > 0
        return categories[occurs], np.append(np.cumsum(occurs) - 1, -1)[codes]
    series = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        values = series.to_numpy()
        # A null of a dictionary of Arrow becomes a value; one among its values is not a null.
        missing = missing_in(values) | series.is_null().to_numpy()
    else:
        values = np.asarray(column)
        missing = missing_in(values)
    return values[~missing], np.where(missing, -1, np.cumsum(~missing) - 1)


def missing_in(values: np.ndarray) -> np.ndarray:
    """Return where an array holds gaps, in any spelling."""
    if values.dtype.kind == "O":
        # Of text, first what is quick to see.
        missing = [type(value) is not str and _is_missing(value) for value in values.tolist()]
        return np.array(missing, dtype=bool)
    return values != values if values.dtype.kind in "fmM" else np.zeros(len(values), dtype=bool)


def _is_missing(value) -> bool:
    """Return True for every spelling of a gap: None, NaN of any type, NaT and pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # of an array, say
        return False


def kind_of_values(values: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the kind of present values, and the values in one dtype: float64, bool or object.

    A kind that is not among `KINDS` names the types of the values, which cannot be categories.
    """
    if values.dtype.kind == "O":
        types = {type(value) for value in values.tolist()}
        if types <= {str, np.str_}:
            return "text", values
        if types <= {bool, np.bool_}:
            return "true and false", values.astype(bool)
        # np.timedelta64 is a subclass of np.integer.
        real, odd = (int, float, np.integer, np.floating), (bool, np.timedelta64)
        if all(issubclass(t, real) and t not in odd for t in types):
            return "numbers", values.astype(np.float64)
        return " and ".join(sorted(t.__name__ for t in types)), values
    kind = KINDS.get(values.dtype.kind, str(values.dtype))
    if kind == "numbers":
        return kind, values.astype(np.float64)
    return kind, values.astype(object) if kind == "text" else values
