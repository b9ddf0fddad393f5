"""Measure a saved model on labelled examples: errors, probabilities, classes, prediction sets.

The features are the columns that have the names of the model's; without names they go by place.
The label is the column that is not a feature of the model, the last such column of the file,
unless --label names it. Rows of the confusion matrix are true classes, columns predicted ones; if
it is too wide for a screen, the commonest confusions stand in its place.

AUC is the mean area under the ROC curve of a class against the others. The calibration error is the
expected difference between the probability of the predicted class and the share of predictions that
are right, in 15 bins of equal width. Prediction sets (predict_set) should hold the true class for a
share 1 - alpha of the examples, and be small.
"""

import json
import sys

import numpy as np

from cwboost.commands import CommandError, OutputPath, show
from cwboost.commands._models import add_model_arguments, known_labels, load, read_for
from cwboost.support.columns import aligned
from cwboost.support.extras import extra
from cwboost.support.files import replacing

WIDEST = 100
LISTED = 20
BINS = 15


def add_arguments(parser) -> None:
    add_model_arguments(parser, "the last column that is not a feature of the model, or the last")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--alpha", type=float, default=0.1, help="error of the prediction sets (default: 0.1)"
    )
    parser.add_argument(
        "--calibration", type=OutputPath, metavar="FILE", help="draw the calibration curve"
    )


def run(args) -> int:
    if not 0 < args.alpha < 1:
        raise CommandError(f"--alpha must be between 0 and 1, got {args.alpha}")
    classifier = load(args.model, args.jobs)
    parts, sets = [], []
    for table in read_for(classifier, args, needs_labels=True):
        y = known_labels(args.data, table.y, classifier.classes_)
        parts.append((y, classifier.predict_proba(table.X), classifier.predict(table.X)))
        if len(sets) == len(parts) - 1:
            sets += _sets(classifier, table.X, y, args.alpha)
    y, p, predicted = map(np.concatenate, zip(*parts))
    if args.calibration:
        _draw_calibration(predicted == y, p.max(axis=1), args.calibration)
    measures = _measures(classifier.classes_, y, p, predicted) | {"prediction_sets": None}
    if sets:
        covered, sizes = map(np.concatenate, zip(*sets))
        coverage, size = float(covered.mean()), float(sizes.mean())
        measures["prediction_sets"] = {"alpha": args.alpha, "coverage": coverage, "size": size}
    show(args, json.dumps(measures, indent=2) if args.json else _text(measures))
    return 0


def _measures(classes, y, p, predicted) -> dict:
    """Return everything that labels, probabilities (n_examples, n_classes) and predictions give."""
    from sklearn.metrics import (
        accuracy_score,
        classification_report,
        confusion_matrix,
        log_loss,
        roc_auc_score,
    )

    labels = classes.tolist()
    # By place, since a class may have the name of an average.
    report = classification_report(
        y,
        predicted,
        labels=classes,
        target_names=range(len(labels)),
        output_dict=True,
        zero_division=0.0,
    )
    is_label = y[:, None] == classes
    split = is_label.any(axis=0) & ~is_label.all(axis=0)  # others have no ROC curve
    accuracy = float(accuracy_score(y, predicted))
    return {
        "n_examples": len(y),
        "error": 1 - accuracy,
        "accuracy": accuracy,
        "log_loss": float(log_loss(y, p, labels=classes)),
        "auc": float(roc_auc_score(is_label[:, split], p[:, split])) if split.any() else None,
        "calibration_error": _calibration_error(predicted == y, p.max(axis=1)),
        "classes": labels,
        "confusion_matrix": confusion_matrix(y, predicted, labels=classes).tolist(),
        "by_class": [{"class": label, **report.pop(k)} for k, label in enumerate(labels)],
        "averages": report,
    }


def _calibration_error(is_right, confidence) -> float:
    """Return the expected calibration error (Naeini et al. 2015) of the predicted classes."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, is_right - confidence)).sum() / len(bins))


def _draw_calibration(is_right, confidence, path) -> None:
    with extra("plot", "a calibration curve needs matplotlib"):
        from matplotlib.figure import Figure
    from sklearn.calibration import CalibrationDisplay

    figure = Figure(layout="constrained")
    CalibrationDisplay.from_predictions(
        is_right, confidence, n_bins=BINS, ax=figure.subplots(), name="predicted class"
    )
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:] or None)


def _sets(classifier, X, y, alpha: float) -> list:
    """Return which prediction sets hold the label, and their sizes; nothing without sets."""
    try:
        sets = classifier.predict_set(X, alpha=alpha)
    except TypeError as error:
        print(f"no prediction sets: {error}", file=sys.stderr)
        return []
    except ValueError:
        missing = "training left no examples out for them (cwboost fit --valid)"
        print(f"no prediction sets: {missing}", file=sys.stderr)
        return []
    return [(sets[np.arange(len(y)), np.searchsorted(classifier.classes_, y)], sets.sum(axis=1))]


def _text(measures: dict) -> str:
    auc = measures["auc"]
    figures = [
        ("examples", str(measures["n_examples"])),
        ("error", f"{measures['error']:.2%}"),
        ("log loss", f"{measures['log_loss']:.4f}"),
        ("AUC", "-" if auc is None else f"{auc:.4f}"),
        ("calibration error", f"{measures['calibration_error']:.2%}"),
    ]
    if sets := measures["prediction_sets"]:
        coverage = f"{sets['coverage']:.2%} hold the true class, {1 - sets['alpha']:.0%} wanted"
        figures.append(("prediction sets", f"{coverage}; {sets['size']:.2f} classes in the mean"))
    labels = [str(label) for label in measures["classes"]]
    rows = [tuple(measures["by_class"][0])]
    for row in measures["by_class"]:
        label, *shares, support = row.values()
        rows.append((str(label), *(f"{share:.3f}" for share in shares), f"{support:.0f}"))
    confusions = _confusions(labels, np.array(measures["confusion_matrix"]))
    return "\n\n".join([aligned(figures), aligned(rows, right=(1, 2, 3, 4)), confusions])


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
