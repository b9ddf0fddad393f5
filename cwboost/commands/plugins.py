"""List the weak-learner families that are installed, and what failed to load.

Exit status 1 when something failed to load, so that a script can tell.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]


def add_arguments(parser) -> None:
    """Nothing yet but the listing itself."""


def run(args) -> int:
    return _list()


def _list() -> int:
    from cwboost.plugins import list_plugins, third_parties_enabled

    records = list_plugins()
    header = ("family", "distribution", "version", "API", "state", "capabilities")
    rows = [header]
    for record in records:
        api = "-" if record.api_version is None else str(record.api_version)
        capabilities = " ".join(record.capabilities) or "-"
        family = record.family or f"({record.entry_point})"
        rows.append((family, record.distribution, record.version, api, record.state, capabilities))
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    failed = [record for record in records if record.error]
    if failed:
        print()
    for record in failed:
        print(f"{record.family or record.entry_point} ({record.source}): {record.error}")
    if not third_parties_enabled():
        print("\nPlugins of other distributions are off (CWBOOST_PLUGINS=0).")
    return 1 if failed else 0
