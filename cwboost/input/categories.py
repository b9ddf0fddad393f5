"""Encoding of columns of categories as codes, which are learned in fit and kept with the model."""

from collections.abc import Mapping

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from cwboost.input.columns import (
    column_label,
    column_of,
    dtype_of,
    dtypes_of,
    is_category_dtype,
    is_frame,
    is_number,
    kind_of_values,
    listed,
    names_of,
    odd_kind,
    place_of,
    places_of_objects,
    quoted,
    values_of,
)
from cwboost.kernels import readable
from cwboost.support.warnings import warn_caller

FEATURE_DTYPES = (np.float64, np.float32, np.uint8)
"""Dtypes in which weak learners read numbers; others become the first."""

LARGEST_INTEGER = 2.0**53
MANY_LEVELS = 0.9
"""Share of the rows above which the texts of a column hardly repeat: names, numbers of files."""
CATEGORY_KINDS = {"O": "text", "b": "true and false", "f": "numbers"}
"""Kinds of categories, by the kind of dtype of their array."""

ADVICE = {
    "complex numbers": ": make columns of the real and the imaginary part. Complex data not "
    "supported",
    "dates or times": ": make columns such as year, weekday or seconds of it",
}


def by_frequency(values, counts) -> np.ndarray:
    """Return sorted categories in the order of their codes: by falling counts."""
    return values[np.argsort(-counts, kind="stable")]


def in_order_of(known: Mapping, learned: Mapping) -> dict[int, np.ndarray]:
    """Return learned categories, in the order of those known already where they are the same."""
    return {
        place: known[place] if place in known and set(known[place]) == set(values) else values
        for place, values in learned.items()
    }


def count_categories(
    X, categorical_features, weight=None
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Return the sorted categories of the columns that hold some, and their weights, by place.

    A row counts by its `weight`, None for ones. Categories without weight are absent. Arrays have
    the dtype object (text), float64 (numbers) or bool.
    """
    places = categorical_places(X, categorical_features)
    if places and sparse.issparse(X):
        raise ValueError(
            "categorical_features needs a dense X, got a sparse matrix: pass a frame or an array, "
            "or categorical_features=None"
        )
    names = names_of(X)
    learned = {}
    for place in places:
        _, values, of_rows = _present(X, place, names)
        known, at = np.unique(values, return_inverse=True)
        present = of_rows >= 0
        weight_present = None if weight is None else weight[present]
        of_values = np.bincount(of_rows[present], weight_present, minlength=len(values))
        totals = np.bincount(at, of_values, minlength=len(known))
        learned[place] = known[totals > 0], totals[totals > 0]
    return learned


def warn_of_many_levels(X, counted: Mapping, categorical_features) -> None:
    """Warn of text, taken for categories by default, that differs in nearly all rows."""
    if not isinstance(categorical_features, str):
        return
    dtypes, names = dtypes_of(X), names_of(X)
    for place, (known, _) in counted.items():
        if not is_category_dtype(dtypes[place]) and len(known) > max(2, MANY_LEVELS * len(X)):
            warn_caller(
                f"{column_label(place, names)} of X has {len(known)} different texts in {len(X)} "
                "rows, of which a model can learn little: leave it out, make numbers of it (of "
                "dates: pandas.to_datetime, then year or weekday), or convert it to a categorical "
                "dtype"
            )


def categorical_places(X, categorical_features) -> list[int]:
    """Return the places of the columns that hold categories, ascending.

    "from_dtype" selects the columns of a frame with text, bools or a categorical dtype, None none,
    and an array a mask, places or names.
    """
    if categorical_features is None:
        return []
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(
                "categorical_features must be 'from_dtype', None, or a list of names, places or "
                f"bools, got {categorical_features!r}"
            )
        return [place for place, dtype in enumerate(dtypes_of(X)) if _is_default(X, place, dtype)]
    given = np.asarray(categorical_features)
    names, n_features = names_of(X), X.shape[1]
    if given.ndim != 1:
        raise ValueError(f"categorical_features must have one dimension, got {given.ndim}")
    if given.dtype.kind == "b":
        if len(given) != n_features:
            raise ValueError(
                f"categorical_features must be a mask of {n_features} bools, one per column, got "
                f"{len(given)}"
            )
        return np.flatnonzero(given).tolist()
    every = {
        place_of(column, names, n_features, "categorical_features") for column in given.tolist()
    }
    return sorted(every)


def _is_default(X, place: int, dtype) -> bool:
    """Return True for a column of a frame that holds categories unless the user says otherwise."""
    if isinstance(dtype, nw.Object):  # text or bools with gaps, among other things
        return kind_of_values(values_of(column_of(X, place))[0])[0] in ("text", "true and false")
    return is_category_dtype(dtype) or isinstance(dtype, nw.String | nw.Boolean)


def encode(X, categories: Mapping[int, np.ndarray], categorical_features):
    """Return what `as_columns` returned as a matrix of numbers, with codes for `categories`.

    A category gets its rank by frequency in fit, from 0; a missing one, or one that was not seen in
    fit, becomes NaN. The matrix is CSR, CSC or an array that kernels can read.

    Raise ValueError for columns of text or times that are not categorical, or categories of another
    kind than those of fit, or where fit had none.
    """
    for n, what in zip(X.shape[::-1], ("feature(s)", "sample(s)")):
        if n == 0:
            raise ValueError(
                f"X must have rows and columns, got 0 {what} (shape={X.shape}) while a minimum of "
                "1 is required."
            )
    if categories and sparse.issparse(X):
        raise ValueError(
            f"X must be dense, since {column_label(min(categories), None)} held categories in "
            "fit, got a sparse matrix"
        )
    if not categories and not is_frame(X) and (sparse.issparse(X) or X.dtype.kind in "biuf"):
        return _numbers(X)
    names = names_of(X)
    _refuse_odd_columns(X, names, categories, isinstance(categorical_features, str))
    one_by_one = {place: _codes(X, place, names, known) for place, known in categories.items()}
    for place in places_of_objects(X):
        if place not in one_by_one:
            values, places = values_of(column_of(X, place))
            one_by_one[place] = np.append(values.astype(np.float64), np.nan)[places]
    if not one_by_one:
        return _numbers(X)
    others = [place for place in range(X.shape[1]) if place not in one_by_one]
    numbers = _numbers(X[:, others]) if others else np.empty((len(X), 0), dtype=np.float32)
    is_single = numbers.dtype == np.float32 and len(one_by_one) == len(categories)
    dtype = np.float32 if is_single else np.float64
    out = np.empty(X.shape, dtype=dtype)
    out[:, others] = numbers
    for place, column in one_by_one.items():
        out[:, place] = column
    return out


def _numbers(X):
    """Return columns of numbers as CSR, CSC or an array that kernels can read."""
    numbers = check_array(
        nw.to_native(X, pass_through=True),
        accept_sparse=["csr", "csc"],
        dtype=FEATURE_DTYPES,
        ensure_all_finite=False,
        input_name="X",
    )
    return numbers if sparse.issparse(numbers) else readable(numbers)


def _refuse_odd_columns(X, names, categories: Mapping, from_dtype: bool) -> None:
    """Raise ValueError for columns that hold no numbers and are not categorical.

    With `from_dtype`, fit would have taken a column of text for categories.
    """
    dtypes, text = dtypes_of(X) or [None] * X.shape[1], []
    for place, dtype in enumerate(dtypes):
        if place in categories:
            continue
        name = column_label(place, names)
        is_category = from_dtype and is_category_dtype(dtype)
        kind = "categories" if is_category else odd_kind(X, place, dtype)
        if is_category or (from_dtype and is_frame(X) and kind == "text"):
            odd = [value for value in values_of(column_of(X, place))[0] if not is_number(value)]
            such = f" such as {quoted(odd[0])}" if odd else ""
            raise ValueError(
                f"X must hold numbers in {name}, as in fit, got {kind}{such} (dtype "
                f"{dtype_of(X, place)}): convert it (pandas.to_numeric), or fit again"
            )
        if kind == "text":
            text.append(name)
        elif kind:
            is_object = kind.startswith("objects")
            advice = ": every argument must be a string, a bool or a number"
            raise (TypeError if is_object else ValueError)(
                f"X must hold numbers or categories, got {kind} in {name} (dtype "
                f"{dtype_of(X, place)}){advice if is_object else ADVICE.get(kind, '')}"
            )
    if text:
        raise ValueError(
            f"X must hold numbers or categories, got text in {', '.join(text)}: name such columns "
            "in categorical_features, or encode them"
        )


def check_categories(categories, n_features: int) -> None:
    """Check categories that come from a model file; raise a ValueError if they are wrong."""
    for place, values in categories.items():
        if type(place) is not int or not 0 <= place < n_features:
            raise ValueError(
                f"categories_ must have places from 0 to {n_features - 1}, got {place!r}"
            )
        is_array = isinstance(values, np.ndarray) and values.ndim == 1
        kind = values.dtype.kind if is_array else None
        is_mixed = kind == "O" and not all(isinstance(value, str) for value in values)
        if kind not in CATEGORY_KINDS or is_mixed:
            raise ValueError(f"categories_ of column {place} must be an array of text or numbers")
        if len(np.unique(values)) != len(values):
            raise ValueError(f"categories_ of column {place} must be distinct")


def _present(X, place: int, names) -> tuple[str, np.ndarray, np.ndarray]:
    """Return the kind of a column's categories and what `values_of` does."""
    values, places = values_of(column_of(X, place))
    kind, values = kind_of_values(values)
    if kind not in CATEGORY_KINDS.values():
        raise ValueError(
            f"X must hold categories of one kind, text or numbers or bools, got {kind} in "
            f"{column_label(place, names)}"
        )
    if kind == "numbers" and (np.abs(values) > LARGEST_INTEGER).any():
        raise ValueError(
            "X must hold categories up to 2**53 in size, which float64 can distinguish, got larger "
            f"ones in {column_label(place, names)}: make them text"
        )
    return kind, values, places


def _codes(X, place: int, names, known: np.ndarray) -> np.ndarray:
    """Return the codes of a column's categories as float64, NaN if missing or unknown."""
    kind, values, places = _present(X, place, names)
    if len(known) == 0 or len(values) == 0:
        return np.full(len(places), np.nan)
    if kind != CATEGORY_KINDS[known.dtype.kind]:
        values = _as_known(kind, values, known, column_label(place, names))
    code_of = {value: code for code, value in enumerate(known.tolist())}
    # The place -1 is that of the last entry.
    return np.array([*(code_of.get(value, np.nan) for value in values.tolist()), np.nan])[places]


def _as_known(kind: str, values: np.ndarray, known: np.ndarray, name: str) -> np.ndarray:
    """Return numbers as the categories of text or bools that they stand for, else raise ValueError.

    A reader of tables makes numbers of a batch whose codes are all digits, and floats beside gaps.
    """
    expected, advice = CATEGORY_KINDS[known.dtype.kind], ""
    if kind == "numbers" and expected == "true and false" and np.isin(values, (0, 1)).all():
        return values.astype(bool)
    if kind == "numbers" and expected == "text":
        spellings: dict[float, list[str]] = {}
        for text in filter(is_number, known.tolist()):
            spellings.setdefault(float(text), []).append(text)
        whole = [str(int(value)) if value % 1 == 0 else None for value in values.tolist()]
        odd = [
            value
            for value, text in zip(values.tolist(), whole)
            if text is None or spellings.get(value, [text]) != [text]
        ]
        if not odd:
            return np.array(whole, dtype=object)
        among = listed(spellings.get(odd[0], ()), most=3)
        advice = f" such as {odd[0]:g}{among and f', which may be {among}'}: read it as text"
    raise ValueError(
        f"X must hold categories of the kind {expected}, as in fit, got {kind} in {name}{advice}"
    )
