"""Loading of what a plugin registers; failures are recorded, never raised.

Each plugin gets a hook manager of its own, so that a failure in one touches no other.
"""

from __future__ import annotations

from dataclasses import replace

import pluggy

from cwboost import hookspecs
from cwboost.families.examination import (
    WEAK_LEARNERS,
    Kind,
    PluginRecord,
    describe_error,
    examine,
    kind_of,
)
from cwboost.families.plugin_index import Plugin

__all__ = ["load_plugin", "record_of"]


def load_plugin(plugin: Plugin, kind: Kind) -> list[PluginRecord]:
    """Import a plugin, call its hook if it has one, and examine what it registers.

    Each entry point has a record: of what is registered under its name, or of the failure.
    """
    names = plugin.names or ("",)
    about = None, plugin.distribution, plugin.version, names[0]
    base = PluginRecord(kind.noun, *about, "failed")
    try:
        if plugin.damage is not None:
            raise plugin.damage
        candidates = _candidates(plugin.entry_point, kind)
    except (Exception, SystemExit) as error:
        base = replace(base, error=describe_error(error), exception=error)
        return [replace(base, entry_point=name) for name in names]
    records = [record_of(kind, candidate, base, names) for candidate in candidates]
    told = {record.entry_point for record in records}
    base = replace(base, error=f"the plugin registered no {kind.noun} of this name")
    return records + [replace(base, entry_point=name) for name in names if name not in told]


def _candidates(entry_point, kind: Kind) -> list:
    """Return the class that an entry point names, or what its module's hook registers."""
    plugin = entry_point.load()
    if isinstance(plugin, type):
        return [plugin]
    if kind is not WEAK_LEARNERS:
        raise TypeError(f"{entry_point.value} must be a class, got {kind_of(plugin)}")
    manager = pluggy.PluginManager("cwboost")
    manager.add_hookspecs(hookspecs)
    manager.register(plugin, name=entry_point.name)
    manager.check_pending()
    if not manager.hook.cwboost_register_families.get_hookimpls():
        raise TypeError(
            f"{entry_point.value} is no class and implements no hook of cwboost: let the entry "
            "point name the class, as in 'module:Class'"
        )
    candidates: list = []
    manager.hook.cwboost_register_families(register=candidates.append)
    return candidates


def record_of(kind: Kind, candidate, base: PluginRecord, names) -> PluginRecord:
    """Return the record of a registered object of any type, which must have one of the names."""
    name = getattr(candidate, "name", None)
    if isinstance(candidate, type) and isinstance(name, str):
        base = replace(base, name=name, entry_point=name if name in names else base.entry_point)
    version = getattr(candidate, "api_version", None)
    if isinstance(version, int):
        base = replace(base, api_version=version)
    try:
        capabilities = examine(kind, candidate)
        if name not in names:
            known = " or ".join(map(repr, names))
            raise ValueError(f"the name must be that of an entry point, {known}, got {name!r}")
    except (Exception, SystemExit) as error:
        return replace(base, error=describe_error(error), exception=error)
    return replace(base, state="loaded", capabilities=capabilities, plugin_class=candidate)
