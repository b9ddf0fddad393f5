"""Labels and features from the columns of a file."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from cwboost.commands._tables.fields import DATE, MISSING, is_number, number
from cwboost.commands._tables.options import Options, Table
from cwboost.commands._tables.stored import Stored, place_of
from cwboost.estimator.input.columns import call as call_of_frame
from cwboost.estimator.input.columns import listed, quoted

__all__ = ["examples_of"]

UNNAMED = ("", "Unnamed: 0", "__index_level_0__")
"""Names that pandas gives to an index that has none, when it writes or reads a file."""
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", re.ASCII)
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.ASCII)


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
    table = stored.table(words | ({label} - {None}))
    frame = table.rename_columns(list(map(str, range(stored.n_columns)))).to_pandas(
        ignore_metadata=True
    )
    frame.columns = range(stored.n_columns)
    for place in index:
        if not frame[place].is_unique:
            raise ValueError(
                f"{stored.path}: column {place} has no name, and its values occur repeatedly, so "
                f"it is not an index: give it a name, or leave it out by --drop {place}"
            )
    labels = labelled = None
    if label is not None:
        labels, labelled = _labels(stored, options, table.column(label), label)
        if options.drop_unlabelled:
            frame, labelled = frame[labelled], None
    may_be_words = trained is None and options.label is not None
    X = pandas.DataFrame(
        {
            at: _categories(frame[place])
            if place in words
            else _feature(stored, options, frame[place], place, may_be_words)
            for at, place in enumerate(kept)
        }
    )
    table = Table(X, labels, labelled, notes)
    if table.categories:
        called = (_call(kept[at], names) for at in table.categories)
        notes.append(f"categories in {', '.join(called)}")
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
    path, names, n_columns = stored.path, stored.names or [], stored.n_columns
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
    unknown = [i for i in range(stored.n_columns) if by_name and names[i] not in known]
    unknown = [i for i in unknown if i not in gone]
    if spec is None:
        place = unknown[0] if len(unknown) == 1 else stored.n_columns - 1
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
    elif trained and not by_name and stored.n_columns - len(gone) == trained.n_features:
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
    kept = [i for i in range(stored.n_columns) if i not in {*gone, *index, label}]
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
    labelled = column.is_valid().to_numpy()
    values = column.drop_null().to_pandas()
    if stored.is_text:
        values = values.str.strip()
        labelled = (values != "").to_numpy()
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

    if is_numeric_dtype(column.dtype):
        return column.astype(np.float64) if stored.is_text else column
    present = column.dropna()
    kind = infer_dtype(present)
    if kind in ("boolean", "empty"):
        return column.astype(np.float64)
    if kind == "string" and stored.is_text:
        column = column.str.strip()
        counts = column.value_counts()
        numbers = {text: number(text, options.decimal) for text in counts.index}
        if None not in numbers.values():
            return column.map(numbers)
        if not (may_be_words and _are_words(counts, options.decimal)):
            raise _not_a_number(stored, options, column, place)
    if may_be_words and kind in ("string", "categorical"):
        words = _categories(column)
        dates = words.dropna().str.fullmatch(DATE)
        if 2 * dates.sum() <= len(dates):
            return words
        kind = f"dates or times such as {quoted(words.dropna().iloc[0])}"
    wanted = "numbers or words" if options.trained is None else "numbers as in the model"
    raise ValueError(
        f"{stored.path}, {_call(place, stored.names)}: must hold {wanted}, got {kind}; make "
        "numbers of such a column, as year or weekday of a date, or leave it out by --drop"
    )


def _categories(column):
    """Return a column of words with a categorical dtype."""
    words = column.astype("str").where(column.notna()).str.strip()
    return words.mask(words.str.lower().isin(MISSING)).astype("category")


def _are_words(counts, decimal: str) -> bool:
    """Return True if most of the fields that are not missing are words, not numbers.

    A number with commas is not a word: if it occurs, the decimal mark is wrong.
    """
    present = counts[[text.lower() not in MISSING for text in counts.index]]
    words = present[[not is_number(text, decimal) for text in present.index]]
    with_commas = any(THOUSANDS.fullmatch(t) or DECIMAL_COMMA.fullmatch(t) for t in words.index)
    return 2 * words.sum() > present.sum() and not with_commas


def _not_a_number(stored: Stored, options: Options, column, place: int) -> ValueError:
    """Return the error for the first field of a column that is not a number, with advice."""
    row, text = next((r, t) for r, t in column.items() if not is_number(t, options.decimal))
    called = _call(place, stored.names)
    if options.decimal == "." and THOUSANDS.fullmatch(text):
        advice = (
            f"; write {text.replace(',', '')} if commas separate thousands, or give --decimal , "
            "if they are decimal marks"
        )
    elif options.decimal == "." and DECIMAL_COMMA.fullmatch(text):
        advice = "; --decimal , reads decimal commas"
    elif options.trained is None and options.label is None:
        advice = f"; if {called} is the label, name it by --label"
    else:
        advice = (
            "; other fields are numbers, so it is not a column of categories (--drop leaves it out)"
        )
    return ValueError(
        f"{stored.path}, {stored.where(row)}, {called}: {quoted(text)} is not a number{advice}"
    )
