"""Predict with a saved model and write CSV, one line per row of the file.

The features are the columns that have the names of the model's, in any order; other columns are
ignored. If the file or the model has no names, the columns must be those of the model, in its
order. With --label, the command also prints the error on the rows that have a label.
"""

import csv
import sys

from cwboost.commands import OutputPath, result
from cwboost.commands._models import add_model_arguments, known_labels, load, read_for


def add_arguments(parser) -> None:
    add_model_arguments(parser, "no label")
    parser.add_argument(
        "--out", type=OutputPath, metavar="FILE", help="output file (default: terminal)"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--proba", action="store_true", help="probabilities of the classes")
    what.add_argument("--scores", action="store_true", help="scores of the classes")


def run(args) -> int:
    classifier = load(args.model, args.jobs)
    n_labelled = n_wrong = 0
    with result(args, args.out) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_header(classifier, args))
        for table in read_for(classifier, args, needs_labels=False):
            writer.writerows(_predictions(classifier, table.X, args).tolist())
            if table.y is not None and len(table.y):
                X = table.X if table.labelled is None else table.X[table.labelled]
                y = known_labels(args.data, table.y, classifier.classes_)
                n_wrong += int((classifier.predict(X) != y).sum())
                n_labelled += len(y)
    if n_labelled:
        print(f"error {n_wrong / n_labelled:.2%} on {n_labelled} examples", file=sys.stderr)
    return 0


def _header(classifier, args) -> list:
    classes = classifier.classes_.tolist()
    if not (args.proba or args.scores):
        return ["label"]
    return classes[1:] if args.scores and len(classes) == 2 else classes


def _predictions(classifier, X, args):
    """Return one row per row of X; of two classes, one score, of the second."""
    if args.proba:
        return classifier.predict_proba(X)
    given = classifier.decision_function(X) if args.scores else classifier.predict(X)
    return given if given.ndim == 2 else given[:, None]
