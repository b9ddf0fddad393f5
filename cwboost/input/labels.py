"""Class labels as users have them: they keep type and identity, whatever container they are in."""

from contextlib import suppress

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from cwboost.input.columns import missing_in
from cwboost.support.checks import unmasked

TYPES = {
    "bool": (bool, np.bool_),
    "int": (int, np.integer),
    "float": (float, np.floating),
    "str": (str,),
}
"""Types of labels in containers of objects; a bool is an int, so the order counts."""

LABELS = "class labels, which are bools, integers, whole floats or text"


def read_labels(y, name: str = "y", *, warn: bool = False) -> np.ndarray:
    """Return class labels as an array of bools, integers, whole floats or text.

    They come as a list, or as an array or a column of NumPy, pandas, polars or Arrow; with `warn`,
    there is a warning for a matrix of one column. Raise ValueError, which calls them by `name`, if
    a label is missing, or labels are of several types or no class labels.
    """
    y = unmasked(y)
    is_list = isinstance(y, list | tuple)
    # NumPy would make floats of a list of large integers, and text of one with numbers among text.
    labels = np.asarray(y, dtype=object if is_list else None)
    if labels.dtype.kind == "T":
        labels = labels.astype(object)
    if labels.dtype.kind not in "biufUO":
        raise ValueError(f"{name} must hold {LABELS}, got {labels.dtype}")
    labels = column_or_1d(labels, warn=warn)
    if labels.dtype.kind == "O":
        _refuse_missing(labels, missing_in(labels), name)
        labels = _of_one_type(labels, name)
    if labels.dtype.kind == "f":
        _refuse_missing(labels, ~np.isfinite(labels), name)
        try:
            check_classification_targets(labels)
        except ValueError as error:
            raise ValueError(f"{name} must hold class labels. {error}") from error
    return labels.astype(str) if is_list and labels.dtype.kind == "O" else labels


def shown(label) -> str:
    """Return a label as messages show it, without the NumPy type."""
    return repr(label.item() if isinstance(label, np.generic) else label)


def _refuse_missing(labels, missing, name: str) -> None:
    if missing.any():
        at = int(np.argmax(missing))
        raise ValueError(f"{name} must hold class labels, got {shown(labels[at])} for example {at}")


def _of_one_type(labels, name: str) -> np.ndarray:
    """Return an array of objects as one of bools, integers or floats if it holds such only."""
    types = {_type_name(kind) for kind in {type(label) for label in labels}}
    if types <= {"int", "float"} and "float" in types:
        floats = labels.astype(np.float64)
        if (floats == labels).all():  # Python compares integers and floats exactly
            return floats
    if types == {"int"}:
        for dtype in (np.int64, np.uint64):
            with suppress(OverflowError):
                return labels.astype(dtype)
        raise ValueError(
            f"{name} must hold integers of at most 64 bits, got larger ones: make them text"
        )
    if len(types) > 1:
        raise ValueError(f"{name} must hold labels of one type, got {' and '.join(sorted(types))}")
    if not types <= {"bool", "str"}:
        raise ValueError(f"{name} must hold {LABELS}, got objects of the type {types.pop()}")
    return labels.astype(bool) if types == {"bool"} else labels


def _type_name(kind: type) -> str:
    """Return the name in `TYPES` of a type, or else its own."""
    # np.timedelta64 is a subclass of np.integer.
    known = (name for name, types in TYPES.items() if issubclass(kind, types))
    return kind.__name__ if issubclass(kind, np.timedelta64) else next(known, kind.__name__)


def encode_labels(y, classes: np.ndarray, name: str = "y", weight=None) -> np.ndarray:
    """Return the class index of each label of `y`, see `read_labels`.

    Refuse an unknown label, unless its `weight` is zero: its index is then any.
    """
    labels = read_labels(y, name)
    places = np.zeros(len(labels), dtype=np.int64)
    known = np.zeros(len(labels), dtype=bool)
    if any({labels.dtype.kind, classes.dtype.kind} <= set(kinds) for kinds in ("biuf", "UO")):
        # In the dtype of the classes: a float of both dtypes would merge large integers.
        with np.errstate(invalid="ignore"):
            as_classes = labels.astype(classes.dtype)
        places = np.minimum(np.searchsorted(classes, as_classes), len(classes) - 1)
        known = (classes[places] == as_classes) & (as_classes == labels)
    if weight is not None:
        known |= weight == 0
    if not known.all():
        unknown = shown(labels[np.argmin(known)])
        raise ValueError(f"{name} must hold only training labels, got {unknown}")
    return places
