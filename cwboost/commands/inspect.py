"""Show what a saved model consists of: summary, classes, importances, strongest weak learners.

Loss and training error are means over the training examples, with out-of-sample scores of the init
model; without one, the loss is 1 before the first round. The gap between the objective and its
lower bound is a share of the objective. The strongest weak learners are those of largest absolute
coefficient. A weak learner votes +1 or -1, as the last column describes, or is a tree that all
classes share, with a step per leaf and class. Its edge in its round is a share of all weight before
the first round; that of a shared tree is the sum over the classes.

    cwboost inspect model.cwb --top 20
    cwboost inspect model.cwb --json > model.json
"""

import json

from cwboost.commands import CommandError, InputPath, show
from cwboost.commands._models import load
from cwboost.recipe.parameters import Parameters
from cwboost.support.columns import aligned

TOP = 10
SHARES = ("gap", "train_error", "valid_error", "importance", "edge")


def add_arguments(parser) -> None:
    parser.add_argument("model", type=InputPath, help="file written by cwboost fit")
    parser.add_argument(
        "--top", type=int, default=TOP, metavar="N", help=f"rows of each table (default: {TOP})"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args) -> int:
    if args.top < 0:
        raise CommandError(f"--top must be >= 0, got {args.top}")
    classifier = load(args.model)
    contents = {
        "summary": _summary(classifier),
        "classes": classifier.classes_.tolist(),
        "importances": _importances(classifier, args.top),
        "strongest": _strongest(classifier, args.top),
    }
    show(args, json.dumps(contents, indent=2, default=str) if args.json else _text(contents))
    return 0


def _summary(classifier) -> dict:
    """Return the facts about a model by name, with the last values of its history."""
    summary = {
        "classifier": " ".join(repr(classifier).split()),
        "weak_learner": " ".join(repr(classifier.family_).split()),
        "features": classifier.n_features_in_,
        "classes": len(classifier.classes_),
        "rounds": classifier.ensemble_.n_rounds,
        "weak_learners": len(classifier.ensemble_.learners),
        "stopped_by": classifier.stop_reason_,
    }
    if classifier.init_ is not None:
        summary["init model"] = classifier.init_.model.name
        summary["training rows kept"] = classifier.init_.fitted.n_rows_kept
    last = classifier.ensemble_.n_rounds - 1
    for name in ("objective", "gap", "train_error", "valid_error"):
        values = classifier.history_.get(name, ())
        if 0 <= last < len(values) and values[last] == values[last]:  # not NaN
            summary[name] = float(values[last])
    if "objective" in summary:
        objective, C = summary.pop("objective"), _C(classifier)
        regularizer = 0.0 if C is None else classifier.ensemble_.coef().data.sum()
        summary["loss"] = float((objective - regularizer) / (C or 1.0))
        if "gap" in summary:
            summary["gap"] /= objective
    return summary


def _C(classifier) -> float | None:
    """Return C at the last round, the unit of objectives; None for AdaBoost, which has shares."""
    if not hasattr(classifier, "C"):
        return None
    if "C" in classifier.history_:  # of a thin model
        return float(classifier.history_["C"][classifier.ensemble_.n_rounds - 1])
    is_ours = hasattr(classifier, "correction")
    return float(Parameters.of(classifier).settings.C if is_ours else classifier.C)


def _importances(classifier, top: int) -> list[dict] | None:
    """Return the most important features; None if they are not known."""
    try:
        importances = classifier.feature_importances_
    except (AttributeError, NotImplementedError, ValueError):
        return None
    names = classifier._schema.feature_names
    order = sorted(range(len(names)), key=lambda place: -importances[place])[:top]
    return [{"feature": names[i], "importance": float(importances[i])} for i in order]


def _strongest(classifier, top: int) -> list[dict]:
    """Return the weak learners of largest coefficients, each with the class it votes for."""
    from cwboost.ensemble import inspection, tables
    from cwboost.ensemble.export_rules import sums_votes

    ensemble, labels = classifier.ensemble_, classifier.classes_.tolist()
    if not sums_votes(classifier):
        labels = [f"bit {k}" for k in range(ensemble.n_scores)]
    names, categories = classifier._compared
    rows = [
        row
        for score, label in enumerate(labels)
        for row in tables.strongest(
            inspection.class_columns(ensemble, score), label, names, categories, top
        )
    ]
    return sorted(rows, key=lambda row: -abs(row["coef"]))[:top]


def _text(contents: dict) -> str:
    """Return everything as text."""
    facts = contents["summary"] | {"classes": _classes(contents["classes"])}
    parts = [aligned([(name.replace("_", " "), _cell(name, v)) for name, v in facts.items()])]
    if contents["importances"] is None:
        parts.append("importances: not known for these weak learners")
    elif contents["importances"]:
        parts.append(_rows(contents["importances"], right=(1,)))
    if contents["strongest"]:
        parts.append(_rows(contents["strongest"], right=(1, 2, 3)))
    return "\n\n".join(parts)


def _classes(labels: list) -> str:
    shown = ", ".join(map(str, labels[:20]))
    return f"{len(labels)}: {shown}{', ...' if len(labels) > 20 else ''}"


def _rows(entries: list[dict], right) -> str:
    head = [name.replace("_", " ") for name in entries[0]]
    return aligned([head, *([_cell(name, v) for name, v in e.items()] for e in entries)], right)


def _cell(name: str, value) -> str:
    form = ".2%" if name in SHARES else ".4g"
    return format(value, form) if isinstance(value, float) else str(value)
