"""Labels and features from the columns of a file."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np

from cwboost.commands._tables.stored import Stored
from cwboost.commands._tables.table import Options, Table, call, find_column, place_of
from cwboost.commands._tables.values import are_dates, is_missing, is_number, labels_of, number
from cwboost.estimator.input.columns import listed, quoted

__all__ = ["table_of"]

UNNAMED = ("", "Unnamed: 0", "__index_level_0__")
"""Names that pandas gives to an index that has none, when it writes or reads a file."""
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", re.ASCII)
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.ASCII)


def table_of(stored: Stored, options: Options) -> Table:
    """Return the examples of a file.

    Raises
    ------
    ValueError
        For a column that is absent or does not hold what it must; the message names it, the file
        and the example.
    """
    path, names, notes = stored.path, stored.names, list(stored.notes)
    gone = {find_column(path, spec, names, stored.n_columns, "--drop") for spec in options.drop}
    label = _label(stored, options, gone, notes)
    kept, index = _kept(stored, options, gone, label, notes)
    trained = options.trained
    words = {kept[at] for at in trained.categories} if trained else set()
    columns = stored.columns(words | ({label} - {None}))
    for place in index:
        _check_index(stored, columns[place], place)
    labels = labelled = None
    if label is not None:
        labels, labelled = _labels(stored, options, columns[label], label)
        if not len(labels) and options.needs_labels:
            raise ValueError(f"{path}: no example has a label in {call(label, names)}")
        if options.drop_unlabelled:
            columns = [column.filter(labelled) for column in columns]
            rows = np.flatnonzero(labelled)
            stored = replace(stored, where=lambda row, where=stored.where: where(rows[row]))
            labelled = None
    may_be_words = trained is None and options.label is not None
    features = [
        _words(columns[place])
        if place in words
        else _feature(stored, options, columns[place], place, may_be_words)
        for place in kept
    ]
    categories = [at for at, column in enumerate(features) if column.dtype == object]
    if categories:
        called = (call(kept[at], names) for at in categories)
        notes.append(f"categories in {', '.join(called)}")
    names = names and [names[place] for place in kept]
    twice = [name for name, count in Counter(names or ()).items() if count > 1]
    if twice:
        notes.append(f"several columns are called {listed(twice)}, so names are not kept")
        names = None
    return Table(_joined(features), labels, labelled, names, notes, categories)


# ------------------------------------------------------------------------ which columns


def _by_name(stored: Stored, options: Options) -> bool:
    """Return True if the model and the file have names, so that columns are picked by them."""
    return bool(options.trained and options.trained.names and stored.names)


def _label(stored: Stored, options: Options, gone, notes) -> int | None:
    """Return the place of the labels, None if there are none."""
    path, names, spec, trained = stored.path, stored.names, options.label, options.trained
    if spec is None and not options.needs_labels:
        return None
    by_name = _by_name(stored, options)
    unknown = []
    if by_name:
        known = {*trained.names, *UNNAMED}
        unknown = [i for i, name in enumerate(names) if name not in known and i not in gone]
    if spec is None:
        place = unknown[0] if len(unknown) == 1 else stored.n_columns - 1
    elif not options.needs_labels and spec not in (names or ()) and place_of(spec) is None:
        notes.append(f"no column {quoted(spec)}, so no labels")
        return None
    else:
        place = find_column(path, spec, names, stored.n_columns, "label")
    if by_name and names[place] in trained.names:
        if not options.needs_labels:
            notes.append(f"{call(place, names)} is a feature of the model, so no labels")
            return None
        rest = f", one of [{listed([names[i] for i in unknown])}]" if unknown else ""
        raise ValueError(
            f"{path}: the label must be a column that is not a feature of the model, got "
            f"{call(place, names)}: name the label by --label{rest}"
        )
    no_room = trained and not by_name and stored.n_columns - len(gone) == trained.n_features
    if no_room and not options.needs_labels:
        notes.append("no column besides the features of the model, so no labels")
        return None
    notes.append(f"label in {call(place, names)}")
    return place


def _kept(stored: Stored, options: Options, gone, label, notes) -> tuple[list[int], set[int]]:
    """Return the places of the features, in the order of the model, and of left out indices."""
    path, names, trained = stored.path, stored.names, options.trained
    if _by_name(stored, options):
        places = {name: i for i, name in enumerate(names) if i not in gone and i != label}
        absent = [name for name in trained.names if name not in places]
        if absent:
            raise ValueError(
                f"{path}: must have the features of the model by name, lacks [{listed(absent)}]; "
                f"its columns are [{listed(names)}]"
            )
        for name in trained.names:
            find_column(path, name, names, stored.n_columns, "feature")
        ignored = [name for name in places if name not in {*trained.names, *UNNAMED}]
        if ignored:
            notes.append(f"not in the model and ignored: {listed(ignored)}")
        return [places[name] for name in trained.names], set()
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


def _check_index(stored: Stored, column, place: int) -> None:
    if len(column.unique()) < len(column):
        raise ValueError(
            f"{stored.path}: column {place} has no name, and its values occur repeatedly, so it is "
            f"not an index: give it a name, or leave it out by --drop {place}"
        )


# ------------------------------------------------------------------------ what they hold


def _labels(stored: Stored, options: Options, column, place: int):
    """Return the labels that there are, and which examples have one."""
    values = column.to_pylist()
    if stored.is_text:
        values = [text.strip() or None for text in values]
    labelled = np.array([value is not None for value in values], dtype=bool)
    if options.needs_labels and not options.drop_unlabelled and not labelled.all():
        row = int(np.argmin(labelled))
        raise ValueError(
            f"{stored.path}, {stored.where(row)}, {call(place, stored.names)}: the label is "
            f"empty ({(~labelled).sum()} of {len(labelled)} are); --drop-unlabelled leaves such "
            "examples out"
        )
    values = [value for value in values if value is not None]
    labels = labels_of(values) if stored.is_text else np.array(values)
    return labels if labels.dtype != object else labels.astype(str), labelled


def _feature(stored: Stored, options: Options, column, place: int, may_be_words: bool):
    """Return a column of numbers, or of words if it may hold them; refuse what is neither."""
    from pyarrow import types

    kind, called = column.type, call(place, stored.names)
    held = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_integer(kind) or types.is_floating(kind):
        values = column.to_numpy()
        return values.astype(np.float64) if stored.is_text else values
    if types.is_boolean(kind) or types.is_null(kind):
        has_gaps = stored.is_text or column.null_count
        return np.array(column.to_pylist(), dtype=np.float64 if has_gaps else bool)
    if types.is_string(held) or types.is_large_string(held):
        if stored.is_text:
            texts = [text.strip() for text in column.to_pylist()]
            try:
                return np.array([number(text, options.decimal) for text in texts])
            except ValueError:
                if not (may_be_words and _are_words(texts, options.decimal)):
                    raise _not_a_number(stored, options, texts, place) from None
        words = _words(column)
        if may_be_words and not are_dates(words):
            return words
        if may_be_words:
            kind = f"dates or times such as {quoted(next(filter(None, words)))}"
    wanted = "numbers or words" if options.trained is None else "numbers as in the model"
    raise ValueError(
        f"{stored.path}, {called}: must hold {wanted}, got {kind}; make numbers of such a column, "
        "as year or weekday of a date, or leave it out by --drop"
    )


def _words(column) -> np.ndarray:
    """Return a column of categories as objects, None for a missing value."""
    words = (None if value is None else str(value).strip() for value in column.to_pylist())
    return np.array([None if w is None or is_missing(w) else w for w in words], dtype=object)


def _are_words(texts, decimal: str) -> bool:
    """Return True if most of the fields that are not missing are words, not numbers.

    A number with commas is not a word: if it occurs, the decimal mark is wrong.
    """
    present = [text for text in texts if not is_missing(text)]
    words = [text for text in present if not is_number(text, decimal)]
    with_commas = any(THOUSANDS.fullmatch(t) or DECIMAL_COMMA.fullmatch(t) for t in words)
    return 2 * len(words) > len(present) and not with_commas


def _not_a_number(stored: Stored, options: Options, texts, place: int) -> ValueError:
    """Return the error for the first field of a column that is not a number, with advice."""
    row = next(row for row, text in enumerate(texts) if not is_number(text, options.decimal))
    text, called = texts[row], call(place, stored.names)
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


def _joined(columns) -> np.ndarray:
    """Return columns side by side: of objects if one of them holds text."""
    if not any(column.dtype == object for column in columns):
        return np.column_stack(columns)
    X = np.empty((len(columns[0]), len(columns)), dtype=object)
    for place, column in enumerate(columns):
        X[:, place] = column
    return X
