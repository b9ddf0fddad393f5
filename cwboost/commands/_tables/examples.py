"""Labels and features from the columns of a file."""

import re

import numpy as np

from cwboost.commands._tables.columns import as_feature, as_key, as_known_categories, as_times
from cwboost.commands._tables.options import Options, Table
from cwboost.commands._tables.stored import Stored, called
from cwboost.commands._tables.words import MISSING, PARTS, strip
from cwboost.input.columns import listed, quoted

INDEX = ("", "Unnamed: 0", "__index_level_0__")
"""Names that pandas gives to an index that has none, when it reads or writes a file."""
INTEGER = r"0|-?[1-9][0-9]{0,17}"
"""As Python writes integers: the labels 01 and 1 differ."""


def examples_of(stored: Stored, options: Options) -> Table:
    """Return the examples of a file; a ValueError names the column that is not what it must be."""
    import pandas

    trained = options.trained
    label, features = _choose(stored, options)
    y, labelled = (None, None) if label is None else _labels(stored, options, label)
    times = {column: as_times(stored, column) for column, part in features if part}
    known = trained.categories if trained else {}
    X = {}
    for at, (column, part) in enumerate(features):
        if part:
            X[f"{column}_{part}"] = PARTS[part](times[column])
        elif at in known:
            X[column] = as_known_categories(stored, column, known[at])
        else:
            X[column] = as_feature(stored, column, options.decimal, trained is not None)
    counts = [f"{called(name)} ({X[name].nunique()})" for name in X if X[name].dtype == "category"]
    notes = [f"categories in {', '.join(counts)}"] if counts else []
    X, groups = pandas.DataFrame(X), None
    if trained and trained.names:
        X.columns = list(trained.names)
    elif trained or not stored.has_names:
        X.columns = range(X.shape[1])
    groups, times = (
        None
        if one is None or trained
        else as_key(stored, _find(stored, one, argument), options.decimal, is_time)
        for one, argument, is_time in (
            (options.groups, "--groups", False),
            (options.time, "--time", True),
        )
    )
    if labelled is not None and options.drop_unlabelled:
        X, times, groups = (None if one is None else one[labelled] for one in (X, times, groups))
        labelled = None
    groups = None if groups is None else groups.to_numpy()
    table = Table(X, y, labelled, groups, [*stored.notes, *notes])
    if times is not None:
        return table.take(times.reset_index(drop=True).sort_values(kind="stable").index)
    return table


def _choose(stored: Stored, options: Options):
    """Return the column of the label, None if there is none, and those of the features.

    Features are picked by name if the model and the file have names, else by place. Each is a pair
    of a column and a part of its dates, None for the column itself.
    """
    frame, trained, notes = stored.frame, options.trained, stored.notes
    names = trained.names if trained and trained.names and stored.has_names else None
    gone = [_find(stored, spec, "--drop") for spec in options.drop]
    index = [column for column in frame if column in INDEX and column not in gone]
    if index:
        notes.append(f"{called(index[0])} is left out as an index")
    if names is None:
        for spec, argument in ((options.groups, "--groups"), (options.time, "--time")):
            column = None if spec is None else _find(stored, spec, argument)
            gone += [column] if column is not None and spec not in options.dates else []
    kept = [column for column in frame if column not in {*gone, *index}]
    features = [_source(name, frame, names) for name in names or ()]
    unknown = [column for column in kept if column not in dict(features)]
    label = None
    if options.label is not None:
        label = _find(stored, options.label, "--label")
    elif options.needs_labels:
        if names and not unknown:
            raise stored.error("must have a column of labels, got only features of the model")
        label = unknown[-1] if names else frame.columns[-1]
    if label is not None:
        notes.append(f"label in {called(label)}")
        if label in dict(features):
            what = (
                f"must not be a feature of the model: --label names it, one of [{listed(unknown)}]"
            )
            raise stored.error(what, label)
        if label not in kept:
            raise stored.error("must not be left out: it is the label (--label names it)", label)
    kept = [column for column in kept if column != label]
    if names:
        absent = [column for column, _ in features if column not in kept]
        if absent:
            what = f"must have the features of the model by name, lacks [{listed(absent)}]"
            raise stored.error(f"{what}; its columns are [{listed(list(frame))}]")
        ignored = listed([column for column in unknown if column != label])
        notes.extend([f"not in the model and ignored: {ignored}"] if ignored else [])
        return label, features
    dates = [_find(stored, spec, "--dates") for spec in options.dates]
    if dates and not stored.has_names:
        raise stored.error("must have a header line for --dates, got none")
    for column in dates:
        if column not in kept:
            raise stored.error("must be a feature for --dates, got one that is left out", column)
        if same := [name for part in PARTS if (name := f"{column}_{part}") in kept]:
            raise stored.error(f"must make new names for --dates, got [{listed(same)}]", column)
    features = [(c, part) for c in kept for part in (PARTS if c in dates else (None,))]
    n_features = trained.n_features if trained else max(len(features), 1)
    if len(features) != n_features:
        advice = "--label names the label, such as --label -1; --sep sets the separator"
        wanted = "1 feature or more" if trained is None else f"{n_features} features"
        raise stored.error(f"must have {wanted}, got {len(features)} ({advice})")
    return label, features


def _source(feature: str, frame, names) -> tuple[str, str | None]:
    """Return the column that a feature of the model is made of, and the part of its dates.

    Of a column of dates, all parts are among the `names` of the features.
    """
    for part in PARTS:
        column = feature.removesuffix(f"_{part}")
        parts = {f"{column}_{each}" for each in PARTS}
        if feature not in frame and column in frame and feature in parts <= set(names):
            return column, part
    return feature, None


def _find(stored: Stored, spec: str, what: str):
    """Return a column that the user gave by name or number."""
    columns = stored.frame.columns
    if spec in columns:
        return spec
    if re.fullmatch(r"[+-]?[0-9]{1,9}", spec) and -len(columns) <= int(spec) < len(columns):
        return columns[int(spec)]
    known = (
        f"its columns are [{listed(list(columns))}]"
        if stored.has_names
        else "it has no header line"
    )
    numbers = f"{-len(columns)}..{len(columns) - 1}"
    raise stored.error(f"{what} must be a name or in {numbers}, got {quoted(spec)}; {known}")


def _labels(stored: Stored, options: Options, column):
    """Return the labels that there are, and which examples have one."""
    values = stored.frame[column]
    if stored.is_text:
        # "none" may name a class: no damage, no complaint.
        known = options.trained.classes if options.trained else ()
        values = strip(values, known, [word for word in MISSING if word != "none"])
    labelled = (values.notna() & (values != "")).to_numpy(dtype=bool)
    n_empty, may_be_empty = np.sum(~labelled), options.drop_unlabelled and labelled.any()
    if options.needs_labels and n_empty and not may_be_empty:
        what = f"must have a label, got none ({n_empty} of {len(labelled)} examples have none)"
        advice = "--drop-unlabelled leaves such examples out"
        raise stored.error(f"{what}; {advice}", column, labelled.argmin())
    values = values[labelled]
    # Of integers with gaps, pandas makes floats.
    is_integer = values.dtype == np.float64 and n_empty and (values % 1 == 0).all()
    if is_integer or (stored.is_text and values.str.fullmatch(INTEGER).all()):
        values = values.astype(np.int64)
    y = values.to_numpy()
    return y if y.dtype.kind in "biuf" else y.astype(str), labelled
