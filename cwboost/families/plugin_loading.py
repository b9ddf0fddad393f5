"""Loading of the families that a plugin registers; failures are recorded, never raised.

Each plugin gets a hook manager of its own, so that a failure in one touches no other.
"""

from __future__ import annotations

from dataclasses import replace

import pluggy

from cwboost import hookspecs
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.examination import PluginRecord, describe_error, examine_family
from cwboost.families.plugin_index import Plugin

__all__ = ["load_plugin", "record_of"]


def load_plugin(plugin: Plugin) -> list[PluginRecord]:
    """Import a plugin, call its hook and examine what it registers.

    Returns
    -------
    list of PluginRecord
        One per registered object, or one per entry point that tells why there is none.
    """
    if plugin.damage is not None:
        return _failures(plugin, describe_error(plugin.damage), plugin.damage)
    try:
        candidates = _candidates(plugin.entry_point)
    except (Exception, SystemExit) as error:
        return _failures(plugin, describe_error(error), error)
    if not candidates:
        return _failures(plugin, "the plugin registered no family")
    base = PluginRecord(None, plugin.distribution, plugin.version, plugin.names[0], "failed")
    return [record_of(candidate, base, plugin.names) for candidate in candidates]


def _failures(plugin: Plugin, error: str, exception=None) -> list[PluginRecord]:
    """Return a record per entry point: whoever asks for one of the names learns of the failure."""
    common = {"state": "failed", "error": error, "exception": exception}
    names = plugin.names or ("",)
    return [PluginRecord(None, plugin.distribution, plugin.version, n, **common) for n in names]


def _candidates(entry_point) -> list:
    """Return the family that an entry point names, or what its module's hook registers."""
    plugin = entry_point.load()
    if isinstance(plugin, type) and issubclass(plugin, WeakLearnerFamily):
        return [plugin]
    manager = pluggy.PluginManager("cwboost")
    manager.add_hookspecs(hookspecs)
    manager.register(plugin, name=entry_point.name)
    manager.check_pending()
    if not manager.hook.cwboost_register_families.get_hookimpls():
        raise TypeError(
            f"{entry_point.value} implements no hook of cwboost: define "
            "cwboost_register_families(register) and decorate it with @cwboost.hookimpl"
        )
    candidates: list = []
    manager.hook.cwboost_register_families(register=candidates.append)
    return candidates


def record_of(candidate, base: PluginRecord, entry_points=()) -> PluginRecord:
    """Return the record of one registered object, which may be of any type."""
    name = getattr(candidate, "name", None)
    if isinstance(candidate, type) and isinstance(name, str):
        base = replace(base, family=name)
        if name in entry_points:
            base = replace(base, entry_point=name)
    version = getattr(candidate, "api_version", None)
    if isinstance(version, int):
        base = replace(base, api_version=version)
    try:
        capabilities = examine_family(candidate)
    except (Exception, SystemExit) as error:
        return replace(base, error=describe_error(error), exception=error)
    return replace(
        base, state="loaded", capabilities=tuple(capabilities.names()), family_class=candidate
    )
