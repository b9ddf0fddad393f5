"""Loading of models for a command, and rows that fit them."""

from collections.abc import Iterator

import numpy as np

from cwboost.commands import CommandError, InputPath, check_jobs
from cwboost.commands._tables import DATA, Known, Table, add_reading_arguments, read_parts
from cwboost.input.columns import listed, quoted

ROWS = 100_000
"""Rows of a large file that are in memory at a time."""


def add_model_arguments(parser, default_label: str) -> None:
    """Declare the arguments of commands that take a model and rows."""
    parser.add_argument("model", type=InputPath, help="file written by cwboost fit")
    parser.add_argument("data", type=InputPath, help=DATA)
    parser.add_argument("--jobs", type=int, help="threads (default: those of the model)")
    parser.add_argument("--quiet", action="store_true", help="do not print how the file was read")
    add_reading_arguments(parser, default_label)


def load(path, jobs: int | None = None):
    """Load a model; the error for any other file names it."""
    from cwboost import ModelFileError, load_model

    check_jobs(jobs)
    try:
        classifier = load_model("/dev/stdin" if str(path) == "-" else path)
    except ModelFileError as error:
        raise CommandError(f"{path}: {error}") from error
    return classifier if jobs is None else classifier.set_params(n_jobs=jobs)


def read_for(classifier, args, *, needs_labels: bool) -> Iterator[Table]:
    """Yield the rows of a command in parts, their features picked as the model knows them."""
    categories = getattr(classifier, "categories_", {})
    names = getattr(classifier, "feature_names_in_", None)
    known = Known(
        None if names is None else names.tolist(),
        classifier.n_features_in_,
        [place for place, values in categories.items() if values.dtype == object],
        classifier.classes_,
    )
    return read_parts(args, known=known, needs_labels=needs_labels, rows=ROWS)


def known_labels(path, y, classes):
    """Return labels as the model has them, compared as they are written unless all are numbers."""
    y, known = np.asarray(y), classes
    if not (y.dtype.kind in "biuf" and classes.dtype.kind in "biuf"):
        y, known = y.astype(str), classes.astype(str)
    index = {label: place for place, label in enumerate(known.tolist())}
    places = [index.get(label) for label in y.tolist()]
    if None in places:
        label = y[places.index(None)]
        raise CommandError(
            f"{path} must have labels of the model, [{listed(known, most=20)}], got "
            f"{quoted(label)} (--label names their column)"
        )
    return classes[places]
