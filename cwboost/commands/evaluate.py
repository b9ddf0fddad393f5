"""Measure a saved model on labelled examples: error, log loss, confusion matrix.

The features are the columns that have the names of the model's; without names they go by place.
The label is the column that the model does not know, or the last of several, unless --label names
one. Rows of the confusion matrix are true classes, columns predicted ones. With more classes than
fit on a screen, the command lists the commonest confusions instead; --json always has the
matrix.
"""

from __future__ import annotations

import json

from cwboost.commands._models import add_model_arguments, known_labels, load, read_for
from cwboost.support.columns import aligned

__all__ = ["add_arguments", "run"]

WIDEST = 100
LISTED = 20


def add_arguments(parser) -> None:
    add_model_arguments(parser, "the column that the model does not know, or the last")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args) -> int:
    from sklearn.metrics import confusion_matrix, log_loss

    classifier = load(args.model, args.jobs)
    table = read_for(classifier, args, needs_labels=True)
    classes = classifier.classes_
    y = known_labels(args.data, table.y, classes)
    predicted = classifier.predict(table.X)
    error = float((predicted != y).mean())
    loss = float(log_loss(y, classifier.predict_proba(table.X), labels=classes))
    matrix = confusion_matrix(y, predicted, labels=classes)
    if args.json:
        found = {
            "n_examples": len(y),
            "error": error,
            "log_loss": loss,
            "classes": classes.tolist(),
            "confusion_matrix": matrix.tolist(),
        }
        print(json.dumps(found, indent=2), file=args.results)
        return 0
    figures = f"examples  {len(y)}\nerror     {error:.2%}\nlog loss  {loss:.4f}\n"
    print(
        figures, _confusions([str(label) for label in classes], matrix), sep="\n", file=args.results
    )
    return 0


def _confusions(labels, matrix) -> str:
    """Return the matrix as text, or its largest entries if it is too wide."""
    rows = [["true \\ predicted", *labels]]
    rows += [[label, *map(str, counts)] for label, counts in zip(labels, matrix)]
    text = aligned(rows, right=range(1, len(labels) + 1))
    if max(map(len, text.splitlines())) <= WIDEST:
        return text
    pairs = [(i, j) for i, j in zip(*matrix.nonzero()) if i != j]
    pairs.sort(key=lambda pair: -matrix[pair])
    if not pairs:
        return "no confusions"
    rows = [("true", "predicted", "examples")]
    rows += [(labels[i], labels[j], str(matrix[i, j])) for i, j in pairs[:LISTED]]
    head = f"the commonest {len(rows) - 1} of {len(pairs)} confusions:"
    return f"{head}\n{aligned(rows, right=(2,))}"
