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

    Return one record per registered object, or one per entry point that tells why there is none.
    """
    if plugin.damage is not None:
        return _failures(plugin, kind, describe_error(plugin.damage), plugin.damage)
    try:
        candidates = _candidates(plugin.entry_point, kind)
    except (Exception, SystemExit) as error:
        return _failures(plugin, kind, describe_error(error), error)
    if not candidates:
        return _failures(plugin, kind, f"the plugin registered no {kind.noun}")
    about = None, plugin.distribution, plugin.version, plugin.names[0]
    base = PluginRecord(kind.noun, *about, "failed")
    return [record_of(kind, candidate, base, plugin.names) for candidate in candidates]


def _failures(plugin: Plugin, kind: Kind, error: str, exception=None) -> list[PluginRecord]:
    """Return a record per entry point: whoever asks for one of the names learns of the failure."""
    common = {"state": "failed", "error": error, "exception": exception}
    about = kind.noun, None, plugin.distribution, plugin.version
    return [PluginRecord(*about, name, **common) for name in plugin.names or ("",)]


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


def record_of(kind: Kind, candidate, base: PluginRecord, entry_points=()) -> PluginRecord:
    """Return the record of one registered object, which may be of any type."""
    name = getattr(candidate, "name", None)
    if isinstance(candidate, type) and isinstance(name, str):
        base = replace(base, name=name)
        if name in entry_points:
            base = replace(base, entry_point=name)
    version = getattr(candidate, "api_version", None)
    if isinstance(version, int):
        base = replace(base, api_version=version)
    try:
        capabilities = examine(kind, candidate)
    except (Exception, SystemExit) as error:
        return replace(base, error=describe_error(error), exception=error)
    return replace(base, state="loaded", capabilities=capabilities, plugin_class=candidate)
