"""List the installed weak learners and init models, and the plugins that failed to load.

The exit status is 1 if a plugin failed to load. ``cwboost plugins new NAME`` writes a plugin to
start from.
"""

from __future__ import annotations

import os

from cwboost.commands import OutputPath
from cwboost.support.columns import aligned

__all__ = ["add_arguments", "run"]


def add_arguments(parser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    new = actions.add_parser("new", help="write a new plugin, ready to be installed and changed")
    new.add_argument("name", help="name of the plugin: lower-case letters, digits and '_'")
    kinds = new.add_mutually_exclusive_group()
    for flag, what in (
        ("init", "a model that boosting starts from, in place of a weak learner"),
        ("raw", "a weak learner that is no threshold, from the contract itself"),
        ("cython", "a weak learner with an exact search in Cython"),
    ):
        kinds.add_argument(f"--{flag}", action="store_const", const=flag, dest="kind", help=what)
    new.add_argument(
        "--output",
        type=OutputPath,
        metavar="FOLDER",
        help="folder to write to (default: cwboost-NAME)",
    )


def run(args) -> int:
    if args.action == "new":
        from cwboost.commands._plugin_writer import write_plugin

        folder = write_plugin(args.name, args.output, args.kind or "family")
        # The path has a separator, so that pip does not take it for the name of a package.
        path = folder if folder.is_absolute() else f".{os.sep}{folder}"
        next_ = f'pip install "{path}[test]"; pytest {path}'
        print(f"Wrote {folder}. Next: {next_}", file=args.results)
        return 0
    return _list(args.results)


def _list(results) -> int:
    from cwboost.families.discovery import list_plugins
    from cwboost.families.plugin_loading import third_parties_enabled

    records = list_plugins()
    header = ("name", "kind", "distribution", "version", "API", "state", "capabilities")
    rows = [header]
    for record in records:
        api = "-" if record.api_version is None else str(record.api_version)
        capabilities = " ".join(record.capabilities) or "-"
        name = record.name or f"({record.entry_point})"
        source = record.distribution, record.version
        rows.append((name, record.kind, *source, api, record.state, capabilities))
    print(aligned(rows), file=results)
    failed = [record for record in records if record.error]
    if failed:
        print(file=results)
    for record in failed:
        name = record.name or record.entry_point
        print(f"{name} ({record.source}): {record.error}", file=results)
    if not third_parties_enabled():
        print("\nPlugins of other distributions are disabled (CWBOOST_PLUGINS=0).", file=results)
    elif disabled := os.environ.get("CWBOOST_DISABLE_PLUGINS"):
        print(f"\nDisabled: {disabled} (CWBOOST_DISABLE_PLUGINS).", file=results)
    return 1 if failed else 0
