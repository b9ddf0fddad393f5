"""Train a classifier on a file of examples and save the model.

A text file has one example per line. It may begin with a header line of names, which the model
keeps. The label is the last column unless --label names another. An NPZ file has arrays X and y, or
X_train, y_train, X_test and y_test; the command then also prints the test error. An empty field, ?,
NA, N/A, #N/A, <NA>, NaN, NaT, null and None are missing values, in any case. Columns of text are
categories; --set categorical_features=[0,2] adds columns of numbers, by place. --dates COLUMN makes
numbers of dates: year, month, weekday, hour and seconds since 1970; predict and evaluate then do
the same. An interrupted fit saves the finished rounds.

--groups COLUMN keeps rows together that have one value there, such as those of one patient, or
--time COLUMN orders the rows: whatever is held out of training is whole groups, or the last part of
time.

The training error is not the error on new examples. Unless there are validation or test examples,
or early stopping holds some out, a second training without a fifth of the examples measures the
held-out error, after the model is saved; --held-out 0 saves its time.

    cwboost fit train.csv model.cwb --weak-learner tree --set weak_learner__max_depth=3
    cwboost fit train.csv model.cwb --valid 0.2 --set early_stopping=True --history history.csv
"""

import argparse
import ast
import sys

import numpy as np

from cwboost.commands import CommandError, InputPath, OutputPath
from cwboost.commands._models import known_labels
from cwboost.commands._tables.npz import has_test_part
from cwboost.commands._tables.options import Table, Trained
from cwboost.commands._tables.reading import DATA, add_reading_arguments, read
from cwboost.input.categories import categorical_places
from cwboost.input.columns import as_columns, quoted
from cwboost.support.extras import install

# Why training ended before the last round, by the classifier's `stop_reason_`.
REASONS = {
    "tol": "a round lowered the objective by less than the fraction tol",
    "optimal": "no weak learner of the family can lower the objective",
    "gap": "the dual bound is close to the objective",
    "no column": "no weak learner was found that lowers the objective",
    "early stopping": "the validation examples gain no more",
}

OPTIONS = {"n_estimators": "--rounds", "n_jobs": "--jobs", "random_state": "--seed"}
"""Parameters of the classifiers that have options of their own."""

METHODS = {
    "cw": "CWBoostClassifier",
    "multiboost": "MultiBoostClassifier",
    "adaboost-ecc": "AdaBoostECCClassifier",
    "adaboost-mh": "AdaBoostMHClassifier",
    "adaboost-mo": "AdaBoostMOClassifier",
}


def add_arguments(parser) -> None:
    parser.add_argument("data", type=InputPath, help=DATA)
    parser.add_argument("model", type=OutputPath, help="file to write the model to")
    parser.add_argument("--method", choices=METHODS, default="cw", help="default: cw")
    parser.add_argument("--weak-learner", metavar="NAME", help="default: that of the method")
    parser.add_argument("--rounds", type=int, help="default: that of the method")
    parser.add_argument(
        "--valid",
        type=_file_or_share,
        metavar="FILE|SHARE",
        help="validation examples: a file, or a share of the examples such as 0.2, drawn by class. "
        "With --method cw they scale the probabilities, and stop training if its length is open",
    )
    parser.add_argument(
        "--history",
        type=OutputPath,
        metavar="FILE",
        help="write one line per round to this CSV file",
    )
    parser.add_argument(
        "--held-out",
        type=float,
        default=0.2,
        metavar="SHARE",
        help="share of the examples that a second training leaves out to measure the error on "
        "them, 0 for none (default: 0.2)",
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
        "--quiet", action="store_true", help="do not show progress or how files were read"
    )
    reading = add_reading_arguments(parser, label="-1")
    reading.add_argument(
        "--dates", action="append", default=[], metavar="COLUMN", help="column of dates"
    )
    held_out = reading.add_mutually_exclusive_group()
    held_out.add_argument(
        "--groups", metavar="COLUMN", help="column of groups, which stay together; no feature"
    )
    held_out.add_argument(
        "--time",
        metavar="COLUMN",
        help="column of dates or numbers by whose order the last part is held out; no feature, "
        "unless --dates names it too",
    )


def run(args) -> int:
    classifier = _classifier(args)
    for path in (args.model, args.history):
        if path is not None and not path.absolute().parent.is_dir():
            raise CommandError(f"{path} must be in a folder that exists")
        if path is not None and path.is_dir():
            raise CommandError(f"{path} must be a file to write, got a folder")
    if args.model.exists() and not args.model.is_file():
        # Saving puts a file in its place, even of /dev/null.
        raise CommandError(f"{args.model} must be a file to write, got a device or a pipe")
    if not 0 <= args.held_out < 1:
        raise CommandError(f"--held-out must be a share >= 0 and < 1, got {args.held_out}")
    table = read(args, needs_labels=True)
    _refuse_other_tasks(args, table)
    given = classifier.categorical_features
    if table.categories and isinstance(given, list | tuple):  # by --set
        places = {*categorical_places(as_columns(table.X), given), *table.categories}
        classifier.set_params(categorical_features=sorted(places))
    train, valid = _split(args, table)
    sets = [("training", train), ("validation", valid), ("test", _test_part(args, table))]
    measured = [(name, one.X, one.y) for name, one in sets if one is not None]
    try:
        _fit(classifier, train, valid)
    except (TypeError, ValueError) as error:  # a parameter that an option gives
        name, _, rest = str(error).partition(" ")
        raise CommandError(f"{OPTIONS.get(name, name)} {rest}") from error
    except KeyboardInterrupt:
        if hasattr(classifier, "ensemble_"):
            _finish(args, classifier, measured)
        else:
            print("no round was finished: nothing saved", file=sys.stderr)
        raise
    _finish(args, classifier, measured)
    if args.held_out and len(measured) == 1 and not _early_stopped(classifier):
        _measure_held_out(args, classifier, train)
    return 0


def _fit(classifier, train: Table, valid: Table | None = None) -> None:
    groups = {} if train.groups is None else {"groups": train.groups}
    X_val, y_val = (None, None) if valid is None else (valid.X, valid.y)
    classifier.fit(train.X, train.y, X_val=X_val, y_val=y_val, **groups)


# -------------------------------------------------------------------- the classifier


def _classifier(args):
    from sklearn.model_selection import TimeSeriesSplit

    import cwboost
    from cwboost.callbacks import CSVLog
    from cwboost.families.discovery import resolve_weak_learner

    make = getattr(cwboost, METHODS[args.method])
    parameters = {
        "random_state": args.seed,
        "n_jobs": args.jobs,
        "verbose": int(_shows_progress(args)),
    }
    if args.rounds is not None:
        parameters["n_estimators"] = args.rounds
    for name, column in (("groups", args.groups), ("time", args.time)):
        if column is not None and args.method != "cw":
            raise CommandError(f"--{name} needs --method cw: others leave nothing out of training")
    if args.time is not None:
        parameters["cv"] = TimeSeriesSplit()
    if args.history is not None:
        parameters["callbacks"] = [CSVLog(args.history)]
    classifier = make(**parameters)
    weak_learner = args.weak_learner or classifier.weak_learner
    # Make an instance, so that its parameters can be set and an unknown name fails before reading.
    classifier.set_params(weak_learner=resolve_weak_learner(weak_learner))
    assigned = dict(map(_assignment, args.set))
    try:
        return classifier.set_params(**assigned)
    except ValueError as error:
        raise CommandError(f"--set: {error}") from error


def _shows_progress(args) -> bool:
    """Return whether to show a progress bar; print what installs an absent tqdm."""
    if args.quiet:
        return False
    try:
        import tqdm  # noqa: F401
    except ImportError:
        print(f"no progress bar: {install('progress')}", file=sys.stderr)
        return False
    return True


def _assignment(text: str):
    name, equals, value = text.partition("=")
    name = name.strip()
    if not (name and equals):
        raise CommandError(f"--set must be NAME=VALUE, got {text!r}")
    if name == "callbacks":
        raise CommandError("--set must be a parameter with a value, got callbacks: use --history")
    try:
        return name, ast.literal_eval(value.strip())
    except (SyntaxError, ValueError):
        return name, value.strip()  # a word, such as sqrt


# -------------------------------------------------------------------- the examples


def _refuse_other_tasks(args, table) -> None:
    """Refuse labels that are no classes: identifiers of examples, and targets of a regression."""
    values, counts = np.unique(table.y, return_counts=True)
    once, advice = values[counts == 1], "--label names another column"
    if 2 * len(once) > len(table.y):
        raise CommandError(
            f"{args.data} must have several examples per class, got {len(once)} of {len(table.y)} "
            f"labels that occur once, such as {quoted(once[0])} ({advice})"
        )
    try:
        fractions = values[values.astype(float) % 1 != 0]
    except ValueError:  # words
        return
    if len(fractions):
        raise CommandError(
            f"{args.data} must have whole numbers or words as labels, got {quoted(fractions[0])}: "
            f"cwboost does not do regression ({advice})"
        )


def _split(args, table) -> tuple[Table, Table | None]:
    """Return the training examples and those for validation, None if there are none."""
    if args.valid is None:
        return table, None
    if isinstance(args.valid, InputPath):
        return table, _alike(args, args.valid, table)
    return _held_out(args, table, args.valid, f"--valid {args.valid}")


def _held_out(args, table, share: float, argument: str) -> tuple[Table, Table]:
    """Return the examples without a share of them, and the share.

    The share is the last part of time, or whole groups, or drawn by class.
    """
    from cwboost.input.groups import keys_of_groups
    from cwboost.input.splits import part_of

    n = len(table.y)
    if args.time is not None:
        places = np.split(np.arange(n), [n - max(1, round(share * n))])
        return tuple(table.take(part) for part in places)
    groups = None if table.groups is None else keys_of_groups(table.groups, n)
    try:
        places = part_of(table.y, share, args.seed, groups)
    except ValueError as error:
        what = str(error)[:400]  # which lists labels as long as they are
        raise CommandError(f"{argument} must leave examples: {what}") from error
    return tuple(table.take(np.sort(part)) for part in places)


def _file_or_share(text: str) -> InputPath | float:
    """Return a share of the examples, or the path of a file."""
    try:
        share = float(text)
    except ValueError:
        return InputPath(text)
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"must be a file or between 0 and 1, got {text}")
    return share


def _alike(args, path, table, part: str = "train"):
    """Read other examples; their features and labels must be those of the first."""
    classes = np.unique(table.y)
    trained = Trained(table.X.shape[1], table.names, table.categories, classes.astype(str))
    other = read(args, path, part=part, trained=trained, needs_labels=True)
    other.y = known_labels(path, other.y, classes)
    return other


def _test_part(args, table):
    """Return the test examples of an NPZ file that has them, else None."""
    if args.data.suffix.lower() != ".npz" or not has_test_part(args.data):
        return None
    return _alike(args, args.data, table, "test")


# -------------------------------------------------------------------- the end


def _finish(args, classifier, measured) -> None:
    """Save what was trained and print a summary with its errors on the sets of examples."""
    classifier.save(args.model)
    errors = [_error(classifier, *examples) for examples in measured]
    if _early_stopped(classifier) and len(measured) == 1:
        valid_error = classifier.history_["valid_error"][classifier.ensemble_.n_rounds - 1]
        errors.append(f"validation error {valid_error:.2%}")
    _, X, y = measured[0]
    print(
        f"{args.model}: {classifier.ensemble_.n_rounds} rounds on {len(y)} examples, "
        f"{X.shape[1]} features, {len(classifier.classes_)} classes; {', '.join(errors)}"
        + _reason(classifier),
        file=args.results,
    )


def _error(classifier, name: str, X, y) -> str:
    count = "" if name == "training" else f" on {len(y)} examples"
    return f"{name} error {1 - classifier.score(X, y):.2%}{count}"


def _early_stopped(classifier) -> bool:
    """Return True if training held out examples of its own, whose errors it kept."""
    errors = classifier.history_.get("valid_error", ())
    return 0 < classifier.ensemble_.n_rounds <= len(errors) and not np.isnan(errors[-1])


def _measure_held_out(args, classifier, table: Table) -> None:
    """Train once more without a share of the examples and print the error on them."""
    from sklearn import clone

    try:
        train, held = _held_out(args, table, args.held_out, "--held-out")
    except CommandError as error:
        print(f"no held-out error: {error}", file=sys.stderr)
        return
    if not np.isin(held.y, train.y).all():
        print("no held-out error: a class occurs in the last part of time only", file=sys.stderr)
        return
    other = clone(classifier).set_params(callbacks=None, verbose=0)
    _fit(other, train)
    print(
        f"{_error(other, 'held-out', held.X, held.y)}, of a model of the other {len(train.y)}",
        file=args.results,
    )


def _reason(classifier) -> str:
    """Return why training stopped before the last round, if it did."""
    if classifier.stop_reason_ == "n_estimators":
        return ""
    reason = REASONS.get(classifier.stop_reason_, classifier.stop_reason_)
    return f"; stopped after {classifier.n_iter_} rounds: {reason}"
