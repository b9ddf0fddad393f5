"""Labels and features from the columns of a file."""

from __future__ import annotations

import re

import numpy as np

from cwboost.commands._tables.options import Options, Table
from cwboost.commands._tables.stored import DOUBT, Stored
from cwboost.estimator.input.columns import call, listed, quoted

__all__ = ["examples_of"]

INDEX = ("Unnamed: 0", "__index_level_0__")
"""Names that pandas gives to an index that has none, when it reads or writes a file."""
DATE = r"(\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4})([T ]+\d.*)?|\d\d?:\d\d(:\d\d.*)?"
INTEGER = r"0|-?[1-9][0-9]{0,17}"
"""As Python writes integers: the labels 01 and 1 differ."""


def examples_of(stored: Stored, options: Options) -> Table:
    """Return the examples of a file; a ValueError names the column that is not what it must be."""
    import pandas

    trained, names, notes = options.trained, stored.names, stored.notes
    label, kept = _choose(stored, options)
    words = [kept[at] for at in trained.categories] if trained else []
    # What must be read again as it is written is read at once.
    as_written = words if label is None else [label, *words]
    written = stored.written(as_written) if as_written else {}
    y, labelled = (None, None) if label is None else _labels(stored, options, label, written[label])
    columns = (
        _words(written[place].where(stored.frame[place].notna()))
        if place in words
        else _feature(stored, options, place)
        for place in kept
    )
    X = pandas.DataFrame(dict(enumerate(columns)))
    categories = Table(X).categories
    if categories:
        counts = [f"{call(kept[at], names)} ({X[at].nunique()})" for at in categories]
        notes.append(f"categories in {', '.join(counts)}")
    names = trained.names if trained else names and [names[place] for place in kept]
    if names:
        X.columns = list(names)
    if labelled is not None and options.drop_unlabelled:
        X, labelled = X[labelled], None
    return Table(X, y, labelled, notes)


def _choose(stored: Stored, options: Options) -> tuple[int | None, list[int]]:
    """Return the place of the label, None if there is none, and the places of the features.

    Features are picked by name if the model and the file have names, else by place.
    """
    names, trained, notes = stored.names, options.trained, stored.notes
    gone = {_find(stored, spec, "--drop") for spec in options.drop}
    index = [at for at, name in enumerate(names or ()) if name in INDEX and at not in gone]
    if index:
        notes.append(f"column {index[0]} has no name and is left out as an index")
    kept = [at for at in stored.frame if at not in {*gone, *index}]
    wanted = trained.names if trained and names else None
    unknown = [at for at in kept if wanted and names[at] not in wanted]
    label = None
    if options.label is not None:
        label = _find(stored, options.label, "--label")
    elif options.needs_labels:
        label = unknown[0] if len(unknown) == 1 else stored.frame.shape[1] - 1
    if label is not None:
        notes.append(f"label in {call(label, names)}")
        if wanted and names[label] in wanted:
            others = listed([names[at] for at in unknown])
            what = f"is a feature of the model: name the label by --label, one of [{others}]"
            raise stored.error(what, label)
    kept = [at for at in kept if at != label]
    if wanted:
        there = {names[at]: at for at in kept}
        absent = listed([name for name in wanted if name not in there])
        if absent:
            what = f"must have the features of the model by name, lacks [{absent}]"
            raise stored.error(f"{what}; its columns are [{listed(names)}]")
        ignored = listed([names[at] for at in unknown if at != label])
        if ignored:
            notes.append(f"not in the model and ignored: {ignored}")
        return label, [there[name] for name in wanted]
    n_features = trained.n_features if trained else max(len(kept), 1)
    if len(kept) != n_features:
        advice = "--label names the label, such as --label -1; --sep sets the separator"
        raise stored.error(f"expected {n_features} features, got {len(kept)} ({advice})")
    return label, kept


def _find(stored: Stored, spec: str, what: str) -> int:
    """Return the place of a column that the user gave by name or number."""
    names, n_columns = stored.names or [], stored.frame.shape[1]
    if spec in names:
        return names.index(spec)
    if re.fullmatch(r"[+-]?[0-9]{1,9}", spec) and -n_columns <= int(spec) < n_columns:
        return int(spec) % n_columns
    known = f"its columns are [{listed(names)}]" if names else "it has no header line"
    numbers = f"{-n_columns}..{n_columns - 1}"
    raise stored.error(f"{what} must be a name or in {numbers}, got {quoted(spec)}; {known}")


def _labels(stored: Stored, options: Options, place: int, values):
    """Return the labels that there are, and which examples have one."""
    labelled = (values.notna() & (values != "")).to_numpy()
    n_empty, may_be_empty = np.sum(~labelled), options.drop_unlabelled and labelled.any()
    if options.needs_labels and n_empty and not may_be_empty:
        what = f"the label is empty ({n_empty} of {len(labelled)} are)"
        advice = "--drop-unlabelled leaves such examples out"
        raise stored.error(f"{what}; {advice}", place, labelled.argmin())
    values = values[labelled]
    if stored.is_text and values.str.fullmatch(INTEGER).all():
        values = values.astype(np.int64)
    y = values.to_numpy()
    y = y if y.dtype.kind in "biuf" else y.astype(str)
    is_guess = stored.names is None and options.header is None and options.trained is None
    # A word that no other example has for a label is rather the label's name.
    if is_guess and y.dtype.kind == "U" and y[0][0].isalpha() and np.sum(y == y[0]) == 1:
        raise stored.error(DOUBT)
    return y, labelled


def _feature(stored: Stored, options: Options, place: int):
    """Return a column of numbers, or of categories if it may; refuse what is neither."""
    from pandas.api.types import infer_dtype, is_numeric_dtype

    column = stored.frame[place]
    if is_numeric_dtype(column.dtype):
        return column
    kind = infer_dtype(column)
    if kind in ("boolean", "empty", "integer"):  # with gaps, or beyond 64 bits
        return column.astype(np.float64)
    if kind in ("string", "categorical"):
        words = _words(column)
        if stored.is_text:
            words = _words_or_numbers(stored, options, words, place)
        if words.dtype != "category":
            return words
        if 2 * words.str.fullmatch(DATE).sum() > words.count():
            kind = f"dates or times such as {quoted(words.dropna().iloc[0])}"
        elif options.trained is None:
            return words
    wanted = "numbers as in the model" if options.trained else "numbers or words"
    advice = "make numbers of it, such as year or weekday of a date, or leave it out by --drop"
    raise stored.error(f"must hold {wanted}, got {kind}; {advice}", place)


def _words(column):
    """Return a column of words with a categorical dtype."""
    words = column.astype("string").str.strip()
    return words.mask(words == "").astype("category")


def _words_or_numbers(stored: Stored, options: Options, words, place: int):
    """Return words, or the numbers beyond 64 bits that they are; refuse words among numbers."""
    from pandas import to_numeric

    marks = str.maketrans(",.", ".x") if options.decimal == "," else {}
    numbers = to_numeric(words.str.translate(marks), errors="coerce").astype(np.float64)
    odd = numbers.isna() & words.notna()
    if not odd.any():
        return numbers
    # A comma may be a decimal mark, or stand between thousands.
    alike = to_numeric(words.str.replace(",", ""), errors="coerce").notna()
    if options.trained is None and 2 * alike.sum() < words.count():
        return words
    row = int(odd.idxmax())
    advice = "--decimal sets the decimal mark, --label the label, --drop leaves columns out"
    what = f"{quoted(words[row])} is not a number, as other fields are ({advice})"
    raise stored.error(what, place, row)
