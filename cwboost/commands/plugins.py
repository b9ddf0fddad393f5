"""List the installed weak learners and init models, and the plugins that failed to load.

The exit status is 1 if a plugin failed to load. ``cwboost plugins new NAME`` writes a plugin to
start from, ``check NAME`` runs the conformance suite, ``bench NAME`` compares it with the default.
"""

import os

from cwboost.commands import OutputPath
from cwboost.support.columns import aligned


def add_arguments(parser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    new = actions.add_parser("new", help="write a new plugin, ready to be installed and changed")
    new.add_argument("name", help="name of the plugin: lower-case letters, digits and '_'")
    kinds = new.add_mutually_exclusive_group()
    for flag, what in (
        ("init", "a model that boosting starts from, in place of a weak learner"),
        ("raw", "a weak learner that is not a threshold, from the contract itself"),
        ("cython", "a weak learner with an exact search in Cython"),
    ):
        kinds.add_argument(f"--{flag}", action="store_const", const=flag, dest="kind", help=what)
    new.add_argument(
        "--output",
        type=OutputPath,
        metavar="FOLDER",
        help="folder to write to (default: cwboost-NAME)",
    )
    check = actions.add_parser("check", help="check a plugin against its contract")
    bench = actions.add_parser("bench", help="compare a plugin with the default, on bundled data")
    for action in (check, bench):
        action.add_argument("name", help="registered name of the plugin")
    bench.add_argument("--rounds", type=int, default=100, help="rounds of boosting (default: 100)")
    bench.add_argument("--init", metavar="NAME", help="init model of all (default: none)")


def run(args) -> int:
    if args.action in ("check", "bench"):
        plugin = _plugin(args.name)
        return _check(plugin, args.results) if args.action == "check" else _bench(plugin, args)
    if args.action == "new":
        from cwboost.commands._plugin_writer import write_plugin

        folder = write_plugin(args.name, args.output, args.kind or "family")
        # The path has a separator, so that pip does not take it for the name of a package.
        path = folder if folder.is_absolute() else f".{os.sep}{folder}"
        next_ = f'pip install "{path}[test]"; pytest {path}'
        print(f"Wrote {folder}. Next: {next_}", file=args.results)
        return 0
    return _list(args.results)


def _plugin(name: str):
    """Return an instance of a weak learner, or of an init model if no weak learner has the name."""
    from cwboost.families.discovery import get_family, get_init, list_plugins

    kinds = {record.kind for record in list_plugins() if record.name == name}
    return (get_init if kinds == {"init model"} else get_family)(name)()


def _check(plugin, results) -> int:
    """Run the conformance suite; print the first failure, which is the cause of later ones."""
    from cwboost.testing import PluginCheckError, check_plugin, plugin_checks

    try:
        check_plugin(plugin)
    except PluginCheckError as error:
        print(error, file=results)
        return 1
    print(f"{plugin!r} passes {len(plugin_checks(plugin))} checks.", file=results)
    return 0


def _bench(plugin, args) -> int:
    from cwboost.experiments.plugin_bench import bench_plugin

    for text in bench_plugin(plugin, args.rounds, args.init):
        print(text, file=args.results, flush=True)
    return 0


def _list(results) -> int:
    from cwboost.families.discovery import list_plugins
    from cwboost.families.plugin_loading import third_parties_enabled

    records = list_plugins()
    header = ("name", "kind", "distribution", "version", "state", "capabilities")
    rows = [header]
    for record in records:
        capabilities = " ".join(record.capabilities) or "-"
        source = record.distribution, record.version
        rows.append((record.name, record.kind, *source, record.state, capabilities))
    print(aligned(rows), file=results)
    failed = [record for record in records if record.error]
    if failed:
        print(file=results)
    for record in failed:
        print(f"{record.name} ({record.source}): {record.error}", file=results)
    if not third_parties_enabled():
        print("\nPlugins of other distributions are disabled (CWBOOST_PLUGINS=0).", file=results)
    elif disabled := os.environ.get("CWBOOST_DISABLE_PLUGINS"):
        print(f"\nDisabled: {disabled} (CWBOOST_DISABLE_PLUGINS).", file=results)
    return 1 if failed else 0
