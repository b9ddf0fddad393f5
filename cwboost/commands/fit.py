"""Train a classifier on a table of examples and save the model.

pandas reads the file: its names, types and gaps are those of pandas.read_csv or read_parquet, so
that a model trained in Python predicts here, and the reverse. Columns of text and of true and false
are categories. The label is the last column unless --label names another. An interrupted fit saves
the finished rounds.

--groups COLUMN keeps rows together that have one value there, such as those of one patient, or
--time COLUMN orders the rows: whatever is held out of training is whole groups, or the last part of
time.

The training error is not the error on new rows. Unless there are validation rows, or early stopping
holds some out, a second training without a fifth of the rows measures the held-out error, after the
model is saved; --held-out 0 saves its time.

    cwboost fit train.csv model.cwb --weak-learner tree --set weak_learner__max_depth=3
    cwboost fit train.csv model.cwb --valid 0.2 --set early_stopping=True --history history.csv
"""

import argparse
import sys
from dataclasses import replace

import numpy as np

from cwboost.commands import CommandError, InputPath, OutputPath, assignment
from cwboost.commands._models import known_labels
from cwboost.commands._tables import DATA, Table, add_reading_arguments, find, read
from cwboost.input.columns import quoted
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
    add = parser.add_argument
    add("data", type=InputPath, help=DATA)
    add("model", type=OutputPath, help="file to write the model to")
    add("--method", choices=METHODS, default="cw", help="default: cw")
    add("--weak-learner", metavar="NAME", help="default: that of the method")
    add("--rounds", type=int, help="default: that of the method")
    limit = "limit of the training, and of that for the held-out error, each (default: none)"
    add("--time-limit", type=float, metavar="SECONDS", help=limit)
    valid = (
        "validation rows: a file, or a share of the rows such as 0.2, drawn by class. With "
        "--method cw they scale the probabilities, and stop training if its length is open"
    )
    add("--valid", type=_file_or_share, metavar="FILE|SHARE", help=valid)
    history = "write one line per round to this CSV file"
    add("--history", type=OutputPath, metavar="FILE", help=history)
    share = (
        "share of the rows that a second training leaves out to measure the error on them, 0 for "
        "none (default: 0.2)"
    )
    add("--held-out", type=float, default=0.2, metavar="SHARE", help=share)
    add("--seed", type=int, default=0, help="default: 0")
    add("--jobs", type=int, help="threads (default: 1)")
    other = "any other parameter of the classifier, weak_learner__NAME for the weak learner's"
    add("--set", action="append", default=[], metavar="NAME=VALUE", help=other)
    quiet = "do not show progress or how files were read"
    add("--quiet", action="store_true", help=quiet)
    add = add_reading_arguments(parser, "the last").add_mutually_exclusive_group().add_argument
    add("--groups", metavar="COLUMN", help="column of groups, which stay together; no feature")
    time = "column of numbers or dates by whose order the last part is held out; no feature"
    add("--time", metavar="COLUMN", help=time)


def run(args) -> int:
    classifier = _classifier(args)
    for path in (args.model, args.history):
        if path is not None and not path.absolute().parent.is_dir():
            raise CommandError(f"{path} must be in a folder that exists")
        if path is not None and path.is_dir():
            raise CommandError(f"{path} must be a file to write, got a folder")
    if not 0 <= args.held_out < 1:
        raise CommandError(f"--held-out must be a share >= 0 and < 1, got {args.held_out}")
    table = read(args)
    _refuse_identifiers(args, table)
    train, valid = _split(args, table)
    measured = [("training", train)] + ([] if valid is None else [("validation", valid)])
    try:
        _fit(args, classifier, train, valid)
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
    if args.held_out and valid is None and not _early_stopped(classifier):
        _measure_held_out(args, classifier, train)
    return 0


def _fit(args, classifier, train: Table, valid: Table | None = None) -> None:
    groups = {} if args.groups is None else {"groups": _key(train, args.groups, args)}
    X_val, y_val = (None, None) if valid is None else (valid.X, valid.y)
    classifier.fit(train.X, train.y, X_val=X_val, y_val=y_val, **groups)


# -------------------------------------------------------------------- the classifier


def _classifier(args):
    from sklearn.model_selection import TimeSeriesSplit

    import cwboost
    from cwboost.callbacks import CSVLog
    from cwboost.families.discovery import resolve_weak_learner

    make = getattr(cwboost, METHODS[args.method])
    callbacks = [*_limits(args), *([] if args.history is None else [CSVLog(args.history)])]
    parameters = {
        "random_state": args.seed,
        "n_jobs": args.jobs,
        "verbose": int(_shows_progress(args)),
        "callbacks": callbacks or None,
    }
    if args.rounds is not None:
        parameters["n_estimators"] = args.rounds
    for name, column in (("groups", args.groups), ("time", args.time)):
        if column is not None and args.method != "cw":
            raise CommandError(f"--{name} needs --method cw: others leave nothing out of training")
    if args.time is not None:
        parameters["cv"] = TimeSeriesSplit()
    classifier = make(**parameters)
    weak_learner = args.weak_learner or classifier.weak_learner
    # Make an instance, so that its parameters can be set and an unknown name fails before reading.
    classifier.set_params(weak_learner=resolve_weak_learner(weak_learner))
    assigned = dict(assignment(each, "--set") for each in args.set)
    if "callbacks" in assigned:
        raise CommandError("--set must be a parameter with a value, got callbacks: use --history")
    try:
        return classifier.set_params(**assigned)
    except ValueError as error:
        raise CommandError(f"--set: {error}") from error


def _limits(args) -> list:
    from cwboost.callbacks import TimeLimit

    try:
        return [] if args.time_limit is None else [TimeLimit(args.time_limit)]
    except ValueError as error:
        raise CommandError(str(error).replace("seconds", "--time-limit", 1)) from error


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


# -------------------------------------------------------------------- the rows


def _refuse_identifiers(args, table) -> None:
    """Refuse labels that are identifiers of rows, or targets of a regression."""
    another = "--label names another column"
    if not len(table.y):
        raise CommandError(f"{args.data} must have rows with a label, got none ({another})")
    values, counts = np.unique(table.y.astype(str), return_counts=True)
    once = values[counts == 1]
    if 2 * len(once) > len(table.y):
        raise CommandError(
            f"{args.data} must have several rows per class, got {len(once)} of {len(table.y)} "
            f"labels that occur once, such as {quoted(once[0])} ({another})"
        )
    if table.y.dtype.kind == "f" and (fractions := table.y[table.y % 1 != 0]).size:
        raise CommandError(
            f"{args.data} must have classes as labels, got numbers such as {fractions[0]:g} "
            f'({another}, --read \'dtype={{"{table.label}": "str"}}\' makes these classes)'
        )


def _key(table, column: str, args):
    """Return the column of groups or times, without gaps."""
    values = table.frame[find(list(table.frame), column, "--groups or --time", args.data)]
    if values.isna().any():
        raise CommandError(f"{args.data} must have a value in every row of {quoted(column)}")
    return values.to_numpy()


def _split(args, table) -> tuple[Table, Table | None]:
    """Return the training rows, in the order of time, and those for validation, None for none."""
    if args.time is not None:
        table = table.take(np.argsort(_times(_key(table, args.time, args)), kind="stable"))
    if args.valid is None:
        return table, None
    if not isinstance(args.valid, InputPath):
        return _held_out(args, table, args.valid, f"--valid {args.valid}")
    other = read(args, args.valid, table.known())
    classes = np.unique(table.y)
    return table, replace(other, y=known_labels(args.valid, other.y, classes))


def _times(values):
    """Return numbers as they are, and text as the dates that pandas reads in it, of one form."""
    from pandas import to_datetime

    if values.dtype.kind in "iufM":
        return values
    try:
        return to_datetime(values, utc=True).to_numpy()
    except (TypeError, ValueError) as error:
        raise CommandError(f"--time must name a column of numbers or dates: {error}") from error


def _held_out(args, table, share: float, argument: str) -> tuple[Table, Table]:
    """Return the rows without a share of them, and the share.

    The share is the last part of time, or whole groups, or drawn by class.
    """
    from cwboost.input.groups import keys_of_groups
    from cwboost.input.splits import part_of

    n = len(table.y)
    if args.time is not None:
        places = np.split(np.arange(n), [n - max(1, round(share * n))])
        return tuple(table.take(part) for part in places)
    groups = None if args.groups is None else keys_of_groups(_key(table, args.groups, args), n)
    try:
        places = part_of(table.y, share, args.seed, groups)
    except ValueError as error:
        what = str(error)[:400]  # which lists labels as long as they are
        raise CommandError(f"{argument} must leave examples: {what}") from error
    return tuple(table.take(np.sort(part)) for part in places)


def _file_or_share(text: str) -> InputPath | float:
    """Return a share of the rows, or the path of a file."""
    try:
        share = float(text)
    except ValueError:
        return InputPath(text)
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"must be a file or between 0 and 1, got {text}")
    return share


# -------------------------------------------------------------------- the end


def _finish(args, classifier, measured) -> None:
    """Save what was trained and print a summary with its errors on the sets of rows."""
    classifier.save(args.model)
    errors = [_error(classifier, name, table) for name, table in measured]
    if _early_stopped(classifier) and len(measured) == 1:
        valid_error = classifier.history_["valid_error"][classifier.ensemble_.n_rounds - 1]
        errors.append(f"validation error {valid_error:.2%}")
    n_rows, n_features = measured[0][1].X.shape
    print(
        f"{args.model}: {classifier.ensemble_.n_rounds} rounds on {n_rows} examples, "
        f"{n_features} features, {len(classifier.classes_)} classes; {', '.join(errors)}"
        + _reason(classifier),
        file=args.results,
    )


def _error(classifier, name: str, table: Table) -> str:
    count = "" if name == "training" else f" on {len(table.y)} examples"
    return f"{name} error {1 - classifier.score(table.X, table.y):.2%}{count}"


def _early_stopped(classifier) -> bool:
    """Return True if training held out rows of its own, whose errors it kept."""
    errors = classifier.history_.get("valid_error", ())
    return 0 < classifier.ensemble_.n_rounds <= len(errors) and not np.isnan(errors[-1])


def _measure_held_out(args, classifier, table: Table) -> None:
    """Train once more without a share of the rows and print the error on them."""
    from sklearn import clone

    try:
        train, held = _held_out(args, table, args.held_out, "--held-out")
    except CommandError as error:
        print(f"no held-out error: {error}", file=sys.stderr)
        return
    if not np.isin(held.y, train.y).all():
        print("no held-out error: a class occurs in the last part of time only", file=sys.stderr)
        return
    other = clone(classifier).set_params(callbacks=_limits(args) or None, verbose=0)
    _fit(args, other, train)
    print(
        f"{_error(other, 'held-out', held)}, of a model of the other {len(train.y)}",
        file=args.results,
    )


def _reason(classifier) -> str:
    """Return why training stopped before the last round, if it did."""
    if classifier.stop_reason_ == "n_estimators":
        return ""
    reason = REASONS.get(classifier.stop_reason_, classifier.stop_reason_)
    return f"; stopped after {classifier.n_iter_} rounds: {reason}"
