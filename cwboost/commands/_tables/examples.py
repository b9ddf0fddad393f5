"""Labels and features from the columns of a file."""

from __future__ import annotations

import re

import numpy as np

from cwboost.commands._tables.columns import as_feature, as_known_categories, as_times
from cwboost.commands._tables.options import Options, Table
from cwboost.commands._tables.stored import Stored
from cwboost.commands._tables.words import PARTS
from cwboost.estimator.input.columns import call, listed, quoted

__all__ = ["examples_of"]

INDEX = ("", "Unnamed: 0", "__index_level_0__")
"""Names that pandas gives to an index that has none, when it reads or writes a file."""
INTEGER = r"0|-?[1-9][0-9]{0,17}"
"""As Python writes integers: the labels 01 and 1 differ."""


def examples_of(stored: Stored, options: Options) -> Table:
    """Return the examples of a file; a ValueError names the column that is not what it must be."""
    import pandas

    trained, names = options.trained, stored.names
    label, features = _choose(stored, options)
    y, labelled = (None, None) if label is None else _labels(stored, options, label)
    times = {place: as_times(stored, place) for place, part in features if part}
    known = trained.categories if trained else {}
    columns = (
        PARTS[part](times[place])
        if part
        else as_known_categories(stored, place, known[at])
        if at in known
        else as_feature(stored, place, options.decimal, for_model=trained is not None)
        for at, (place, part) in enumerate(features)
    )
    X = pandas.DataFrame(dict(enumerate(columns)))
    counts = [
        f"{call(features[at][0], names)} ({len(words)})"
        for at, words in Table(X).categories.items()
    ]
    notes = [*stored.notes, *([f"categories in {', '.join(counts)}"] if counts else [])]
    if trained and trained.names:
        X.columns = list(trained.names)
    elif names:
        X.columns = [f"{names[at]}_{part}" if part else names[at] for at, part in features]
    if labelled is not None and options.drop_unlabelled:
        X, labelled = X[labelled], None
    return Table(X, y, labelled, notes)


def _choose(stored: Stored, options: Options):
    """Return the place of the label, None if there is none, and those of the features.

    Features are picked by name if the model and the file have names, else by place. Each is a pair
    of the place and the part of a date, None for the column itself.
    """
    names, trained, notes = stored.names, options.trained, stored.notes
    gone = {_find(stored, spec, "--drop") for spec in options.drop}
    index = [at for at, name in enumerate(names or ()) if name in INDEX and at not in gone]
    if index:
        notes.append(f"column {index[0]} has no name and is left out as an index")
    kept = [at for at in stored.frame if at not in {*gone, *index}]
    wanted = None
    if trained and trained.names and names:
        wanted = [_source(name, set(names)) for name in trained.names]
    sources = {name for name, _ in wanted or ()}
    unknown = [at for at in kept if wanted and names[at] not in sources]
    label = None
    if options.label is not None:
        label = _find(stored, options.label, "--label")
    elif options.needs_labels:
        label = unknown[0] if len(unknown) == 1 else stored.frame.shape[1] - 1
    if label is not None:
        notes.append(f"label in {call(label, names)}")
        if wanted and names[label] in sources:
            others = listed([names[at] for at in unknown])
            what = f"must not be a feature of the model: --label names the label, one of [{others}]"
            raise stored.error(what, label)
    kept = [at for at in kept if at != label]
    if wanted:
        there = {names[at]: at for at in kept}
        absent = listed([name for name, _ in wanted if name not in there])
        if absent:
            what = f"must have the features of the model by name, lacks [{absent}]"
            raise stored.error(f"{what}; its columns are [{listed(names)}]")
        ignored = listed([names[at] for at in unknown if at != label])
        if ignored:
            notes.append(f"not in the model and ignored: {ignored}")
        return label, [(there[name], part) for name, part in wanted]
    dates = {_find(stored, spec, "--dates") for spec in options.dates}
    if dates and not names:
        raise stored.error("must have a header line for --dates, got none")
    features = [(at, part) for at in kept for part in (PARTS if at in dates else (None,))]
    n_features = trained.n_features if trained else max(len(features), 1)
    if len(features) != n_features:
        advice = "--label names the label, such as --label -1; --sep sets the separator"
        raise stored.error(f"must have {n_features} features, got {len(features)} ({advice})")
    return label, features


def _source(feature: str, names: set[str]) -> tuple[str, str | None]:
    """Return the column that a feature of the model is made of, and the part of its dates."""
    if feature not in names:
        for part in PARTS:
            column = feature.removesuffix(f"_{part}")
            if column != feature and column in names:
                return column, part
    return feature, None


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


def _labels(stored: Stored, options: Options, place: int):
    """Return the labels that there are, and which examples have one."""
    values = stored.frame[place]
    values = values.str.strip() if stored.is_text else values
    labelled = (values.notna() & (values != "")).to_numpy(dtype=bool)
    n_empty, may_be_empty = np.sum(~labelled), options.drop_unlabelled and labelled.any()
    if options.needs_labels and n_empty and not may_be_empty:
        what = f"must have a label, got none ({n_empty} of {len(labelled)} examples have none)"
        advice = "--drop-unlabelled leaves such examples out"
        raise stored.error(f"{what}; {advice}", place, labelled.argmin())
    values = values[labelled]
    if stored.is_text and values.str.fullmatch(INTEGER).all():
        values = values.astype(np.int64)
    y = values.to_numpy()
    return y if y.dtype.kind in "biuf" else y.astype(str), labelled
