"""Labels and features from the columns of a file."""

from __future__ import annotations

from collections import Counter

import numpy as np

from cwboost.commands._tables.options import Options, Table
from cwboost.commands._tables.stored import MISSING, NUMBER, Stored, place_of
from cwboost.estimator.input.columns import call as call_of_frame
from cwboost.estimator.input.columns import listed, quoted

__all__ = ["examples_of"]

UNNAMED = ("", "Unnamed: 0", "__index_level_0__")
"""Names that pandas gives to an index that has none, when it writes or reads a file."""
DATE = r"(\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4})([T ]+\d.*)?|\d\d?:\d\d(:\d\d.*)?"
WITH_COMMA = r"^[+-]?[0-9]*(,[0-9]+)+(\.[0-9]*)?(e[+-]?[0-9]+)?$"


def examples_of(stored: Stored, options: Options) -> Table:
    """Return the examples of a file.

    Raises
    ------
    ValueError
        For a column that is absent or does not hold what it must; the message names it, the file
        and the example.
    """
    import pandas

    names, notes, trained = stored.names, list(stored.notes), options.trained
    gone = {_find(stored, spec, "--drop") for spec in options.drop}
    label = _label(stored, options, gone, notes)
    kept, index = _kept(stored, options, gone, label, notes)
    words = {kept[at] for at in trained.categories} if trained else set()
    columns = stored.table.columns
    for place in index:
        if len(columns[place].unique()) < len(columns[place]):
            raise ValueError(
                f"{stored.path}: column {place} has no name, and its values occur repeatedly, so "
                f"it is not an index: give it a name, or leave it out by --drop {place}"
            )
    labels = labelled = None
    if label is not None:
        labels, labelled = _labels(stored, options, columns[label], label)
    may_be_words = trained is None and options.label is not None
    X = pandas.DataFrame(
        {
            at: _categories(columns[place])
            if place in words
            else _feature(stored, options, columns[place], place, may_be_words)
            for at, place in enumerate(kept)
        }
    )
    if labelled is not None and options.drop_unlabelled:
        X, labelled = X[labelled], None
    table = Table(X, labels, labelled, notes)
    if table.categories:
        called = (_call(kept[at], names) for at in table.categories)
        notes.append(f"categories in {', '.join(called)}")
        free = [at for at in table.categories if 2 * X[at].nunique() > X[at].count()]
        if free and not trained:
            called = ", ".join(_call(kept[at], names) for at in free)
            notes.append(
                f"most fields of {called} occur once, so they say little of new examples: count "
                "their terms in Python, or leave them out by --drop"
            )
    if trained:
        names = trained.names
    elif names:
        names = [names[place] for place in kept]
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            notes.append(f"several columns are called {listed(twice)}, so names are not kept")
            names = None
    if names:
        X.columns = list(names)
    return table


def _call(place: int, names) -> str:
    """Return how messages call a column: its name, or its number if it has none or an empty one."""
    return call_of_frame(place, names if names and names[place] else None)


def _find(stored: Stored, spec: str, what: str) -> int:
    """Return the place of a column that the user gave by name or number."""
    path, names, n_columns = stored.path, stored.names or [], stored.table.num_columns
    places = [place for place, name in enumerate(names) if name == spec]
    if len(places) == 1:
        return places[0]
    place = place_of(spec)
    if place is None and places:
        raise ValueError(
            f"{path}: {what} must name one column, got {quoted(spec)}, the name of columns "
            f"{', '.join(map(str, places))}: give the number instead"
        )
    if place is None:
        known = f"its columns are [{listed(names)}]" if names else "it has no header line"
        raise ValueError(f"{path}: {what} must be one of its columns, got {quoted(spec)}; {known}")
    if not -n_columns <= place < n_columns:
        raise ValueError(
            f"{path}: {what} must be a column in {-n_columns}..{n_columns - 1} or a name, "
            f"got {place}"
        )
    return place % n_columns


def _by_name(stored: Stored, options: Options) -> bool:
    """Return True if the model and the file have names, so that columns are picked by them."""
    return bool(options.trained and options.trained.names and stored.names)


def _label(stored: Stored, options: Options, gone, notes) -> int | None:
    """Return the place of the labels, None if there are none."""
    path, names, spec, trained = stored.path, stored.names, options.label, options.trained
    if spec is None and not options.needs_labels:
        return None
    by_name = _by_name(stored, options)
    known = {*trained.names, *UNNAMED} if by_name else ()
    unknown = [i for i in range(stored.table.num_columns) if by_name and names[i] not in known]
    unknown = [i for i in unknown if i not in gone]
    if spec is None:
        place = unknown[0] if len(unknown) == 1 else stored.table.num_columns - 1
    elif not options.needs_labels and spec not in (names or ()) and place_of(spec) is None:
        notes.append(f"no column {quoted(spec)}, so no labels")
        return None
    else:
        place = _find(stored, spec, "label")
    no_label = None
    if by_name and names[place] in trained.names:
        no_label = f"{_call(place, names)} is a feature of the model"
        if options.needs_labels:
            rest = f", one of [{listed([names[i] for i in unknown])}]" if unknown else ""
            raise ValueError(f"{path}: {no_label}, not a label: name the label by --label{rest}")
    elif trained and not by_name and stored.table.num_columns - len(gone) == trained.n_features:
        no_label = "no column besides the features of the model"
    if no_label and not options.needs_labels:
        notes.append(f"{no_label}, so no labels")
        return None
    notes.append(f"label in {_call(place, names)}")
    return place


def _kept(stored: Stored, options: Options, gone, label, notes) -> tuple[list[int], set[int]]:
    """Return the places of the features, in the order of the model, and of left out indices."""
    path, names, trained = stored.path, stored.names, options.trained
    if _by_name(stored, options):
        there = [name for i, name in enumerate(names) if i not in gone and i != label]
        absent = [name for name in trained.names if name not in there]
        if absent:
            raise ValueError(
                f"{path}: must have the features of the model by name, lacks [{listed(absent)}]; "
                f"its columns are [{listed(names)}]"
            )
        ignored = [name for name in there if name not in {*trained.names, *UNNAMED}]
        if ignored:
            notes.append(f"not in the model and ignored: {listed(ignored)}")
        return [_find(stored, name, "feature") for name in trained.names], set()
    index = {i for i, name in enumerate(names or ()) if name in UNNAMED} - {label} - gone
    if index:
        notes.append(f"column {min(index)} has no name and is left out as an index")
    kept = [i for i in range(stored.table.num_columns) if i not in {*gone, *index, label}]
    if not kept:
        hint = "; if its lines hold several fields, name their separator by --sep"
        raise ValueError(f"{path}: has no column of features{hint if stored.is_text else ''}")
    if trained and len(kept) != trained.n_features:
        hint = ""
        if label is not None and len(kept) == trained.n_features - 1:
            hint = " (its label column was not counted: does the file have labels?)"
        elif label is None and len(kept) == trained.n_features + 1:
            hint = " (if one of them is the label, name it by --label, for example --label -1)"
        raise ValueError(f"{path}: expected {trained.n_features} features, got {len(kept)}{hint}")
    return kept, index


def _labels(stored: Stored, options: Options, column, place: int):
    """Return the labels that there are, and which examples have one."""
    values = column.to_pandas()
    labelled = (values.notna() & (values != "")).to_numpy()
    values = values[labelled]
    called = _call(place, stored.names)
    if options.needs_labels and not labelled.all() and not options.drop_unlabelled:
        raise ValueError(
            f"{stored.path}, {stored.where(int(labelled.argmin()))}, {called}: the label is empty "
            f"({(~labelled).sum()} of {len(labelled)} are); --drop-unlabelled leaves such examples "
            "out"
        )
    if options.needs_labels and not labelled.any():
        raise ValueError(f"{stored.path}: no example has a label in {called}")
    if stored.is_text:
        try:  # integers as Python writes them: 01 and 1 are different labels
            integers = values.astype(np.int64)
            values = integers if (integers.astype(str) == values).all() else values
        except (ValueError, OverflowError):
            pass
    labels = values.to_numpy()
    return labels.astype(str) if labels.dtype == object else labels, labelled


def _feature(stored: Stored, options: Options, column, place: int, may_be_words: bool):
    """Return a column of numbers, or of categories if it may; refuse what is neither."""
    from pandas.api.types import infer_dtype, is_numeric_dtype

    if stored.is_text:
        return _feature_of_text(stored, options, column, place, may_be_words)
    values = column.to_pandas()
    if is_numeric_dtype(values.dtype):
        return values
    kind = infer_dtype(values.dropna())
    if kind in ("boolean", "empty"):
        return values.astype(np.float64)
    if may_be_words and kind in ("string", "categorical"):
        return _words(stored, options, column, place)
    raise _neither(stored, options, place, kind)


def _words(stored: Stored, options: Options, column, place: int):
    """Return a column of categories; refuse dates, as frames do, which have a dtype for them."""
    words = _categories(column)
    is_date = words.dropna().str.fullmatch(DATE)
    if 2 * is_date.sum() > len(is_date):
        kind = f"dates or times such as {quoted(words.dropna().iloc[0])}"
        raise _neither(stored, options, place, kind)
    return words


def _neither(stored: Stored, options: Options, place: int, kind: str) -> ValueError:
    """Return the error for a column that holds neither numbers nor words."""
    wanted = "numbers or words" if options.trained is None else "numbers as in the model"
    return ValueError(
        f"{stored.path}, {_call(place, stored.names)}: must hold {wanted}, got {kind}; make "
        "numbers of such a column, as year or weekday of a date, or leave it out by --drop"
    )


def _feature_of_text(stored: Stored, options: Options, column, place: int, may_be_words: bool):
    """Return a column of numbers, or of categories if most of its fields are no numbers."""
    from pyarrow import bool_, compute, float64

    plain = column if options.decimal == "." else compute.replace_substring(column, ",", ".")
    plain = _without_missing(plain)
    is_number = compute.match_substring_regex(plain, NUMBER).fill_null(True).to_numpy()
    if is_number.all():
        # The words of truth occur among themselves only: a cast takes no others.
        is_true = compute.match_substring_regex(plain, "(?i)^[tf]")
        if not compute.any(is_true).as_py():
            return plain.cast(float64()).to_pandas()
        if compute.all(is_true).as_py():
            return plain.cast(bool_()).to_pandas().astype(np.float64)
    n_words, n_present = np.count_nonzero(~is_number), len(plain) - plain.null_count
    with_comma = compute.match_substring_regex(plain, WITH_COMMA).fill_null(False).to_numpy()
    if may_be_words and 2 * n_words > n_present and not with_comma.any():
        return _words(stored, options, column, place)
    raise _not_a_number(stored, options, column, place, int(np.argmin(is_number)), with_comma)


def _without_missing(column):
    """Return a column of text whose missing values are null."""
    import pyarrow
    from pyarrow import compute

    is_missing = compute.is_in(compute.utf8_lower(column), pyarrow.array(MISSING))
    return compute.if_else(is_missing, None, column)


def _categories(column):
    """Return a column of words with a categorical dtype."""
    from pyarrow import compute, string

    words = compute.utf8_trim_whitespace(column.cast(string()))
    return _without_missing(words).to_pandas().astype("category")


def _not_a_number(stored: Stored, options: Options, column, place, row, with_comma) -> ValueError:
    """Return the error for a field of a column that is not a number, with advice."""
    called, text = _call(place, stored.names), column[row].as_py()
    if options.decimal == "." and with_comma[row]:
        advice = "; --decimal , reads decimal commas, and commas between thousands must go"
    elif options.trained is None and options.label is None:
        advice = f"; if {called} is the label, name it by --label"
    else:
        advice = (
            "; other fields are numbers, so it is not a column of categories (--drop leaves it out)"
        )
    return ValueError(
        f"{stored.path}, {stored.where(row)}, {called}: {quoted(text)} is not a number{advice}"
    )
