"""List the data sets of the paper, fetch one, or compare one with its known figures.

Without an action, list the sets in the folder, those that can be fetched and those that must be
downloaded by hand.
"""

from __future__ import annotations

from pathlib import Path

from cwboost.commands import CommandError, InputPath
from cwboost.support.columns import aligned

__all__ = ["add_arguments", "run"]

DEFAULT = Path("data")


def add_arguments(parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "fetch", "check"),
        default="list",
        help="default: list",
    )
    parser.add_argument("name", nargs="?", help="data set to fetch or check")
    parser.add_argument(
        "--data", type=InputPath, metavar="DIR", help="folder (default: data, if it exists)"
    )
    parser.add_argument("--quiet", action="store_true", help="do not show progress bars")


def run(args) -> int:
    """List, fetch or check."""
    folder = args.data
    if folder is None and (DEFAULT.is_dir() or args.action == "fetch"):
        folder = DEFAULT
    if args.action == "list":
        return _list(folder, args.results)
    if args.name is None:
        raise CommandError(f"name: {args.action} needs the name of a data set")
    if args.action == "fetch":
        from cwboost.datasets import fetch

        print(fetch(args.name, folder, quiet=args.quiet), file=args.results)
        return 0
    return _check(args.name, folder, args.results)


def _list(folder, results) -> int:
    from cwboost.datasets.fetching import overview

    rows = [("name", "what", f"in {folder}" if folder else "here", "to get it"), *overview(folder)]
    print(aligned(rows), file=results)
    return 0


def _check(name, folder, results) -> int:
    from cwboost.datasets import load
    from cwboost.datasets.catalogue import find
    from cwboost.datasets.loading import nearest_accuracy

    known = find(name).nearest_accuracy
    bunch = load(name, folder)
    head = f"{bunch.name}: counts and statistics agree with the source ({bunch.format})"
    print(head, file=results)
    if known is None or "X_test" not in bunch:
        return 0
    found = nearest_accuracy(bunch)
    print(f"{bunch.name}: nearest neighbour {found:.4f}, known {known:.4f}", file=results)
    # The known figures are rounded to four digits.
    return 0 if abs(found - known) <= 5.1e-5 else 1
