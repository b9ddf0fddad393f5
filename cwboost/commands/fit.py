"""Train a classifier on a file of examples and save the model.

A text file has one example per line. It may begin with a header line of names, which the model
keeps. The label is the last column unless --label names another. An NPZ file has arrays X and y, or
X_train, y_train, X_test and y_test; the command then also prints the test error. An empty field is
a missing value. Columns of text are categories; --set categorical_features=[0,2] adds columns of
numbers, by place. An interrupted fit saves the rounds that were finished.

    cwboost fit train.csv model.cwb --weak-learner tree --set weak_learner__max_depth=3
    cwboost fit train.csv model.cwb --valid 0.2 --set early_stopping=True --history history.csv
"""

from __future__ import annotations

import ast
import math
import sys
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from cwboost.commands import CommandError, InputPath, OutputPath, shows_progress
from cwboost.commands._models import encoded_labels
from cwboost.commands._tables.npz import has_test_part
from cwboost.commands._tables.reading import DATA, add_reading_arguments, read
from cwboost.estimator.input.columns import listed

__all__ = ["add_arguments", "run"]

# Why training ended before the last round, by the classifier's `stop_reason_`.
REASONS = {
    "enough": "more would hardly change the model",
    "tol": "a round lowered the objective by less than the fraction tol",
    "optimal": "no weak learner of the family can lower the objective",
    "no column": "no weak learner was found that lowers the objective",
    "early stopping": "the validation examples gain no more",
    "max_seconds": "the time given by max_seconds is over",
}

METHODS = {
    "cw": "CWBoostClassifier",
    "multiboost": "MultiBoostClassifier",
    "adaboost-ecc": "AdaBoostECCClassifier",
    "adaboost-mh": "AdaBoostMHClassifier",
    "adaboost-mo": "AdaBoostMOClassifier",
}


def add_arguments(parser) -> None:
    """Declare the arguments."""
    parser.add_argument("data", type=InputPath, help=DATA)
    parser.add_argument("model", type=OutputPath, help="file to write the model to")
    parser.add_argument("--method", choices=METHODS, default="cw", help="default: cw")
    parser.add_argument("--weak-learner", metavar="NAME", help="default: that of the method")
    parser.add_argument("--rounds", type=int, help="default: that of the method")
    parser.add_argument(
        "--valid",
        metavar="FILE|SHARE",
        help="validation examples: a file, or a share of the examples such as 0.2, drawn by class. "
        "Early stopping watches them, and probabilities are scaled on them",
    )
    parser.add_argument(
        "--history",
        type=OutputPath,
        metavar="FILE",
        help="write one line per round to this CSV file",
    )
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--jobs", type=int, help="threads (default: 1)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other parameter of the classifier, weak_learner__NAME for the weak learner's",
    )
    parser.add_argument(
        "--quiet", action="store_true", help="no progress bar, no word on how files were read"
    )
    add_reading_arguments(parser, label="-1")


def run(args) -> int:
    """Read, train, save, report."""
    classifier = _classifier(args)
    for path in (args.model, args.history):
        if path is not None and not path.absolute().parent.is_dir():
            raise CommandError(f"{path}: its folder does not exist")
        if path is not None and path.is_dir():
            raise CommandError(f"{path}: expected the name of a file to write, got a folder")
    table = _labelled(args.data, read(args))
    if table.categories:
        given = classifier.categorical_features  # by --set
        given = given if isinstance(given, list | tuple) else ()
        classifier.set_params(categorical_features=sorted({*given, *table.categories}))
    X, y, X_val, y_val = _split(args, table)
    measured = [
        ("training", X, y),
        ("validation", X_val, y_val),
        ("test", *_test_part(args, table)),
    ]
    try:
        classifier.fit(X, y, X_val=X_val, y_val=y_val)
    except TypeError as error:  # a parameter given by --set
        raise CommandError(str(error)) from error
    except KeyboardInterrupt:
        if hasattr(classifier, "ensemble_"):
            _finish(args, classifier, table, measured)
        else:
            print("no round was finished: nothing saved", file=sys.stderr)
        raise
    _finish(args, classifier, table, measured)
    return 0


# -------------------------------------------------------------------- the classifier


def _classifier(args):
    import cwboost
    from cwboost.callbacks import CSVLog
    from cwboost.families.discovery import resolve_weak_learner

    make = getattr(cwboost, METHODS[args.method])
    parameters = {
        "random_state": args.seed,
        "n_jobs": args.jobs,
        "verbose": int(shows_progress(args)),
    }
    if args.rounds is not None:
        parameters["n_estimators"] = args.rounds
    if args.history is not None:
        parameters["callbacks"] = [CSVLog(args.history)]
    classifier = make(**parameters)
    weak_learner = args.weak_learner or classifier.weak_learner
    # Make an instance, so that its parameters can be set and an unknown name fails before reading.
    classifier.set_params(weak_learner=resolve_weak_learner(weak_learner))
    return _set(classifier, dict(map(_assignment, args.set)))


def _set(classifier, assigned: dict):
    """Set the parameters given by --set; an unknown one is an error that names those there are."""
    family = assigned.pop("weak_learner", None)
    if family is not None:
        classifier.set_params(weak_learner=family)
    known = classifier.get_params(deep=True)
    for name in assigned:
        if name not in known:
            outer, nested, _ = name.partition("__")
            start = f"{outer}__" if nested else ""
            there = sorted(k for k in known if k.startswith(start) and (nested or "__" not in k))
            owner = "the weak learner" if nested else "the classifier"
            near = get_close_matches(name, there, 1)
            meant = f", did you mean {near[0]!r}?" if near else ";"
            raise CommandError(
                f"--set: {owner} has no parameter {name!r}{meant} there are: "
                f"{', '.join(there) or 'none'}"
            )
    return classifier.set_params(**assigned)


def _assignment(text: str):
    name, equals, value = text.partition("=")
    name = name.strip()
    if not (name and equals):
        raise CommandError(f"--set: expected NAME=VALUE, got {text!r}")
    if name == "callbacks":
        raise CommandError("--set: callbacks are Python objects; use --history, or Python")
    try:
        return name, ast.literal_eval(value.strip())
    except (SyntaxError, ValueError):
        return name, value.strip()  # a word, such as sqrt


# -------------------------------------------------------------------- the examples


def _labelled(path, table):
    if table.y is None:
        raise CommandError(f"{path}: must have an array y of labels")
    return table


def _split(args, table):
    """Return the training examples and those for validation, None if there are none."""
    if args.valid is None:
        return table.X, table.y, None, None
    share = _share(args.valid)
    if share is None:
        valid = _second_file(args, Path(args.valid), table)
        return table.X, table.y, valid.X, valid.y
    from sklearn.model_selection import train_test_split

    n_held, n_classes = math.ceil(share * len(table.y)), len(np.unique(table.y))
    if n_held < n_classes:
        raise CommandError(
            f"--valid {args.valid}: {n_held} of {len(table.y)} examples cannot hold one of each of "
            f"the {n_classes} classes"
        )
    try:
        kept, held = train_test_split(
            np.arange(len(table.y)), test_size=share, stratify=table.y, random_state=args.seed
        )
    except ValueError as error:
        raise CommandError(f"--valid {args.valid}: cannot split {args.data}: {error}") from error
    kept.sort()
    held.sort()
    return table.X[kept], table.y[kept], table.X[held], table.y[held]


def _share(text: str) -> float | None:
    """Return a share of the examples, None for the name of a file."""
    try:
        share = float(text)
    except ValueError:
        return None
    if not 0 < share < 1:
        raise CommandError(f"--valid: a share must lie between 0 and 1, got {text}")
    return share


def _second_file(args, path, table):
    """Read validation examples; their features and labels must be those of the first file."""
    return _alike(args, path, _labelled(path, read(args, path, categories=table.categories)), table)


def _alike(args, path, valid, table):
    """Check the features of other examples and return them with the labels of the first."""
    if valid.X.shape[1] != table.X.shape[1]:
        raise CommandError(
            f"{path}: expected {table.X.shape[1]} features as in {args.data}, got "
            f"{valid.X.shape[1]}"
        )
    if None not in (valid.names, table.names) and valid.names != table.names:
        names = listed(table.names)
        raise CommandError(f"{path}: must have the features of {args.data}, [{names}]")
    classes = np.unique(table.y)
    valid.y = classes[encoded_labels(path, valid.y, classes)]
    return valid


def _test_part(args, table):
    """Return the test examples of an NPZ file that has them, else None."""
    if args.data.suffix != ".npz" or not has_test_part(args.data):
        return None, None
    test = _alike(args, f"{args.data}, test part", read(args, part="test"), table)
    return test.X, test.y


# -------------------------------------------------------------------- the end


def _finish(args, classifier, table, measured) -> None:
    """Save what was trained and say what it is, with its errors on the sets of examples."""
    if table.names is not None:
        classifier.feature_names_in_ = np.array(table.names, dtype=object)
    classifier.save(args.model)
    vars(classifier).pop("feature_names_in_", None)  # the arrays to score have no names
    errors = [
        f"{name} error {1 - classifier.score(X, y):.2%}" + _count(name, y)
        for name, X, y in measured
        if X is not None
    ]
    _, X, y = measured[0]
    print(
        f"{args.model}: {classifier.ensemble_.n_rounds} rounds on {len(y)} examples, "
        f"{X.shape[1]} features, {len(classifier.classes_)} classes; {', '.join(errors)}"
        + _reason(classifier),
        file=args.results,
    )


def _count(name: str, y) -> str:
    return "" if name == "training" else f" on {len(y)} examples"


def _reason(classifier) -> str:
    """Return why training stopped before the last round, if it did."""
    if classifier.stop_reason_ == "n_estimators":
        return ""
    reason = REASONS.get(classifier.stop_reason_, classifier.stop_reason_)
    return f"; stopped after {classifier.n_iter_} rounds: {reason}"
