"""List the data sets of the paper, or fetch one.

The list names the sets in the folder, whose figures it compares with those of the source, the sets
that can be fetched, and those that must be downloaded by hand.
"""

from pathlib import Path

from cwboost.commands import CommandError, InputPath
from cwboost.support.columns import aligned

DEFAULT = Path("data")


def add_arguments(parser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "fetch"),
        default="list",
        help="default: list",
    )
    parser.add_argument("name", nargs="?", help="data set to fetch")
    parser.add_argument(
        "--data", type=InputPath, metavar="DIR", help="folder (default: data, if it exists)"
    )
    parser.add_argument("--quiet", action="store_true", help="do not show progress bars")


def run(args) -> int:
    folder = args.data
    if folder is None and (DEFAULT.is_dir() or args.action == "fetch"):
        folder = DEFAULT
    if args.action == "fetch" and args.name is None:
        raise CommandError("fetch must have the name of a data set, got none")
    if args.action == "list" and args.name is not None:
        raise CommandError(f"list must have no name, got {args.name}: fetch takes one")
    from cwboost.datasets.fetching import fetch, overview

    if args.action == "fetch":
        print(fetch(args.name, folder, quiet=args.quiet), file=args.results)
        return 0
    head = ("name", "what", f"in {folder}" if folder else "here", "to get it")
    print(aligned([head, *overview(folder)]), file=args.results)
    return 0
