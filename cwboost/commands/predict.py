"""Predict with a saved model and write CSV, one line per example.

The features are the columns that have the names of the model's, in any order; other columns are
ignored. If the file or the model has no names, the columns must be those of the model, in its
order. With --label, or with labels in an NPZ file, the command also prints the error on the
examples that have a label. Of an NPZ file with X_train and X_test, the test part is predicted.
"""

import csv
import sys
from contextlib import nullcontext

from cwboost.commands import OutputPath
from cwboost.commands._models import add_model_arguments, known_labels, load, read_for
from cwboost.support.files import replacing


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
    table = read_for(classifier, args, needs_labels=False)
    labels = None
    if table.y is not None:
        labels = known_labels(args.data, table.y, classifier.classes_)
    header, rows = _predictions(classifier, table.X, args)
    out = args.out and replacing(args.out, "w", newline="", encoding="utf-8")
    with out or nullcontext(args.results) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows.tolist())
    if labels is not None and len(labels):
        X = table.X if table.labelled is None else table.X[table.labelled]
        error = 1 - classifier.score(X, labels)
        print(f"error {error:.2%} on {len(labels)} examples", file=sys.stderr)
    return 0


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
