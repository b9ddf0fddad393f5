"""Loading of models for a command, and examples that fit them."""

import numpy as np

from cwboost.commands import CommandError, InputPath, check_jobs
from cwboost.commands._tables.options import Trained
from cwboost.commands._tables.reading import DATA, add_reading_arguments, read
from cwboost.input.columns import listed, quoted


def add_model_arguments(parser, default_label: str) -> None:
    """Declare the arguments of commands that take a model and examples."""
    parser.add_argument("model", type=InputPath, help="file written by cwboost fit")
    parser.add_argument("data", type=InputPath, help=DATA)
    parser.add_argument("--jobs", type=int, help="threads (default: those of the model)")
    parser.add_argument("--quiet", action="store_true", help="do not print how the file was read")
    add_reading_arguments(parser, default=default_label)


def load(path, jobs: int | None = None):
    """Load a model; the error for any other file names it."""
    from cwboost import ModelFileError, load_model

    check_jobs(jobs)
    try:
        classifier = load_model(path)
    except ModelFileError as error:
        raise CommandError(f"{path}: {error}") from error
    return classifier if jobs is None else classifier.set_params(n_jobs=jobs)


def read_for(classifier, args, *, needs_labels: bool):
    """Read the examples of a command, their features picked as the model knows them."""
    known = getattr(classifier, "categories_", {})
    names = getattr(classifier, "feature_names_in_", None)
    trained = Trained(
        classifier.n_features_in_,
        None if names is None else [str(name) for name in names],
        {place: values for place, values in known.items() if values.dtype == object},
        classifier.classes_.astype(str),
    )
    table = read(args, part="test", trained=trained, needs_labels=needs_labels)
    if table.names is None:  # else the classifier would warn
        vars(classifier).pop("feature_names_in_", None)
    return table


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
