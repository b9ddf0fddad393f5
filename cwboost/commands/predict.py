"""Predict with a saved model and write CSV, one line per example.

The file has the features that the model was trained on, in the same order; their names are
compared if both the file and the model have them. With --label, or with y in an NPZ file, the
command also prints the error.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

__all__ = ["add_arguments", "run"]


def add_arguments(parser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", type=Path, help="file written by cwboost fit")
    parser.add_argument("data", type=Path, help=".csv, .csv.gz or .npz file")
    parser.add_argument("--label", help="label column of a CSV file, name or number")
    parser.add_argument("--out", type=Path, metavar="FILE", help="output file (default: terminal)")
    parser.add_argument("--jobs", type=int, help="threads (default: those of the model)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--proba", action="store_true", help="probabilities of the classes")
    what.add_argument("--scores", action="store_true", help="scores of the classes")


def run(args) -> int:
    """Read, predict, write."""
    from cwboost import ModelFileError, load_model
    from cwboost.commands import CommandError
    from cwboost.commands._tables import read_table

    try:
        classifier = load_model(args.model)
    except ModelFileError as error:
        raise CommandError(f"{args.model}: {error}") from error
    if args.jobs is not None:
        classifier.set_params(n_jobs=args.jobs)
    table = read_table(args.data, args.label)
    _check_features(args.data, table, classifier)
    header, rows = _predictions(classifier, table.X, args)
    if args.out is None:
        _write(sys.stdout, header, rows)
    else:
        with args.out.open("w", newline="", encoding="utf-8") as file:
            _write(file, header, rows)
    if table.y is not None:
        labels = table.y.astype(classifier.classes_.dtype)
        error = 1 - classifier.score(table.X, labels)
        print(f"error {error:.2%} on {len(labels)} examples", file=sys.stderr)
    return 0


def _check_features(path, table, classifier) -> None:
    """Refuse features that differ from the model's in number, or in name if both have names."""
    from cwboost.commands import CommandError

    given, expected = table.X.shape[-1], classifier.n_features_in_
    if given != expected:
        hint = " (if one of them is the label, name it by --label)" if given == expected + 1 else ""
        raise CommandError(f"{path}: expected {expected} features, got {given}{hint}")
    # Removed from the classifier, which would warn that the array to predict has no names.
    trained = classifier.__dict__.pop("feature_names_in_", None)
    if table.names is None or trained is None:
        return
    for number, (name, wanted) in enumerate(zip(table.names, trained)):
        if name != wanted:
            raise CommandError(
                f"{path}: feature {number} must be {wanted!r} as in the model, got {name!r}"
            )


def _predictions(classifier, X, args):
    """Return the names of the columns and one row per example."""
    if not (args.proba or args.scores):
        return ["label"], classifier.predict(X)[:, None]
    if args.proba:
        return classifier.classes_.tolist(), classifier.predict_proba(X)
    scores = classifier.decision_function(X)
    if scores.ndim == 1:  # two classes: one score, of the second
        return [classifier.classes_[1]], scores[:, None]
    return classifier.classes_.tolist(), scores


def _write(file, header, rows):
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows.tolist())
