"""Loading of models for a command, and examples that fit them."""

from __future__ import annotations

import numpy as np

from cwboost.commands import CommandError, InputPath
from cwboost.commands._tables.reading import DATA, add_reading_arguments, read
from cwboost.estimator.input.columns import listed, quoted

__all__ = ["add_model_arguments", "encoded_labels", "feature_names", "load", "read_for"]


def add_model_arguments(parser, label: str | None = None) -> None:
    """Declare the arguments of commands that take a model and examples.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    label : str, optional
        Default of ``--label``.
    """
    parser.add_argument("model", type=InputPath, help="file written by cwboost fit")
    parser.add_argument("data", type=InputPath, help=DATA)
    parser.add_argument("--jobs", type=int, help="threads (default: those of the model)")
    parser.add_argument("--quiet", action="store_true", help="do not say how the file was read")
    add_reading_arguments(parser, label)


def load(path, jobs: int | None = None):
    """Load a model; a file that is none is an error that names it."""
    from cwboost import ModelFileError, load_model

    try:
        classifier = load_model(path)
    except ModelFileError as error:
        raise CommandError(f"{path}: {error}") from error
    return classifier if jobs is None else classifier.set_params(n_jobs=jobs)


def feature_names(classifier) -> list[str]:
    """Return the names of the features that the model keeps, else x0, x1, ..."""
    numbers = [f"x{place}" for place in range(classifier.n_features_in_)]
    return [str(name) for name in getattr(classifier, "feature_names_in_", numbers)]


def read_for(classifier, args):
    """Read the examples of a command; refuse features that are not those of the model.

    The names of the features are removed from the classifier, which would warn that the array to
    predict has no names.
    """
    known = getattr(classifier, "categories_", {})
    categories = sorted(place for place, values in known.items() if values.dtype == object)
    table = read(args, part="test", categories=categories)
    trained = classifier.__dict__.pop("feature_names_in_", None)
    given, expected = table.X.shape[-1], classifier.n_features_in_
    if given != expected:
        hint = _hint(table, expected, trained, args.label)
        raise CommandError(f"{args.data}: expected {expected} features, got {given}{hint}")
    if table.names is not None and trained is not None:
        for number, (name, wanted) in enumerate(zip(table.names, trained)):
            if name != wanted:
                raise CommandError(
                    f"{args.data}: feature {number} must be {quoted(wanted)} as in the "
                    f"model, got {quoted(name)}"
                )
    return table


def _hint(table, n_expected, trained, label) -> str:
    """Return what to do about a number of features that is not the model's."""
    if label is not None:
        missed = table.y is not None and table.X.shape[-1] == n_expected - 1
        return " (its label column was not counted: does the file have labels?)" if missed else ""
    if table.X.shape[-1] != n_expected + 1:
        return ""
    extra = [name for name in table.names or () if trained is not None and name not in trained]
    if len(extra) == 1:
        name = quoted(extra[0])
        return f" (the model does not know {name}: if it is the label, --label names it)"
    return " (if one of them is the label, name it by --label, for example --label -1)"


def encoded_labels(path, y, classes):
    """Return the class index of each label; a label unknown to the model is an error.

    Labels are compared as numbers if both sides are numbers, else as they are written.
    """
    y = np.asarray(y)
    if not (y.dtype.kind in "biuf" and classes.dtype.kind in "biuf"):
        y, classes = y.astype(str), classes.astype(str)
    index = {label: place for place, label in enumerate(classes.tolist())}
    places = [index.get(label) for label in y.tolist()]
    if None in places:
        label = y[places.index(None)]
        raise CommandError(
            f"{path}: label {quoted(label)} is not one of the model's classes: "
            f"{listed(classes, most=20)}"
        )
    return np.array(places, dtype=np.int64)
