"""Train a classifier on a CSV or NPZ file and save the model.

A CSV file has one example per line. It may begin with a header line of names, which the model
keeps. The label is the last column unless --label names another. An NPZ file has arrays X and y.
An empty field is a missing value.

    cwboost fit train.csv model.cwb --weak-learner tree --set weak_learner__max_depth=3
"""

from __future__ import annotations

import ast
from pathlib import Path

__all__ = ["add_arguments", "run"]

METHODS = {
    "cw": "CWBoostClassifier",
    "multiboost": "MultiBoostClassifier",
    "adaboost-ecc": "AdaBoostECCClassifier",
    "adaboost-mh": "AdaBoostMHClassifier",
    "adaboost-mo": "AdaBoostMOClassifier",
}


def add_arguments(parser) -> None:
    """Declare the arguments."""
    parser.add_argument("data", type=Path, help=".csv, .csv.gz or .npz file")
    parser.add_argument("model", type=Path, help="file to write the model to")
    parser.add_argument("--label", default="-1", help="label column, name or number (default: -1)")
    parser.add_argument("--method", choices=METHODS, default="cw", help="default: cw")
    parser.add_argument("--weak-learner", metavar="NAME", help="default: that of the method")
    parser.add_argument("--rounds", type=int, help="default: that of the method")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--jobs", type=int, help="threads (default: 1)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other parameter of the classifier, weak_learner__NAME for the weak learner's",
    )
    parser.add_argument("--quiet", action="store_true", help="do not show a progress bar")


def run(args) -> int:
    """Read, train, save."""
    import cwboost
    from cwboost.commands import CommandError
    from cwboost.commands._tables import read_table

    classifier = _classifier(args, getattr(cwboost, METHODS[args.method]))
    if not args.model.absolute().parent.is_dir():
        raise CommandError(f"{args.model}: its folder does not exist")
    table = read_table(args.data, args.label)
    if table.y is None:
        raise CommandError(f"{args.data}: must have an array y of labels")
    try:
        classifier.fit(table.X, table.y)
    except TypeError as error:  # a parameter given by --set
        raise CommandError(str(error)) from error
    except KeyboardInterrupt:
        if hasattr(classifier, "ensemble_"):
            _save(classifier, table, args.model)
        raise
    _save(classifier, table, args.model)
    return 0


def _save(classifier, table, model) -> None:
    """Save what was trained and say what it is."""
    import numpy as np

    error = 1 - classifier.score(table.X, table.y)
    if table.names is not None:
        classifier.feature_names_in_ = np.array(table.names, dtype=object)
    classifier.save(model)
    print(
        f"{model}: {classifier.ensemble_.n_rounds} rounds on {table.X.shape[0]} examples, "
        f"{table.X.shape[1]} features, {len(classifier.classes_)} classes; "
        f"training error {error:.2%}"
    )


def _classifier(args, make):
    from cwboost.families.discovery import resolve_weak_learner

    parameters = {"random_state": args.seed, "n_jobs": args.jobs, "verbose": int(not args.quiet)}
    if args.rounds is not None:
        parameters["n_estimators"] = args.rounds
    classifier = make(**parameters)
    weak_learner = args.weak_learner or classifier.weak_learner
    # Make an instance, so that its parameters can be set and an unknown name fails before reading.
    classifier.set_params(weak_learner=resolve_weak_learner(weak_learner))
    return classifier.set_params(**dict(map(_assignment, args.set)))


def _assignment(text: str):
    from cwboost.commands import CommandError

    name, equals, value = text.partition("=")
    if not (name and equals):
        raise CommandError(f"--set: expected NAME=VALUE, got {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value  # a word, such as sqrt
