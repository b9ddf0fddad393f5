"""The families that have names: found in plugins on demand, or registered at run time.

A name belongs to the first of these that has it: cwboost itself, a class registered at run time,
the plugin with an entry point of the name, any other plugin. A registration against this order is
refused, so the answer never depends on earlier imports.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import replace

from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.examination import PluginRecord, examine_family
from cwboost.families.plugin_index import (
    Plugin,
    disabled_names,
    index_others,
    index_own,
    normalise,
    third_parties_enabled,
)
from cwboost.families.plugin_loading import load_plugin, record_of

__all__ = ["FamilyError", "Registry"]


class FamilyError(ValueError):
    """A weak-learner family that is unknown, failed to load, or is registered twice."""


class Registry:
    """Plugins and their records, filled on demand and kept for the life of the process."""

    def __init__(self):
        self._lock = threading.RLock()
        self._registered: dict[str, PluginRecord] = {}
        self._loading: set[tuple[str, str]] = set()
        self.clear()

    def clear(self) -> None:
        """Forget what was discovered; what was registered at run time stays."""
        with self._lock:
            self._own: list[Plugin] | None = None
            self._others: list[Plugin] | None = None
            self._loaded: dict[tuple[str, str], list[PluginRecord]] = {}

    # ---------------------------------------------------------------- questions

    def find(self, name: str) -> list[PluginRecord]:
        """Return the records of a name; only the plugins that can answer are imported."""
        with self._lock:
            named = [plugin for plugin in self._own_plugins() if name in plugin.names]
            if named:
                return _speaking_for(name, self._records(named))
            if name in self._registered:
                return [self._registered[name]]
            others, disabled = self._other_plugins()
            for plugins in ([plugin for plugin in others if name in plugin.names], others):
                found = _speaking_for(name, self._records(plugins))
                if found:
                    return found
            return _speaking_for(name, disabled)

    def owner(self, name: str) -> tuple[str, str] | None:
        """Return distribution and version of the plugin that a name's family comes from.

        None if there is no usable one, or if it was registered at run time.
        """
        with self._lock:
            records = self.find(name)
            if not records or records[0].state != "loaded" or records[0].is_registered:
                return None
            return records[0].distribution, records[0].version

    def all(self) -> list[PluginRecord]:
        """Return every family and every failure: cwboost's own, those registered, the others."""
        with self._lock:
            others, disabled = self._other_plugins()
            own = self._records(self._own_plugins())
            found = [*self._records(others), *disabled]
            found.sort(key=lambda record: normalise(record.distribution))
            return [*own, *self._registered.values(), *found]

    def present(self) -> list[PluginRecord]:
        """Return cwboost's own families, those registered, and those of plugins imported before."""
        with self._lock:
            others = [p for p in self._other_plugins()[0] if p.key in self._loaded]
            own = self._records(self._own_plugins())
            return [*own, *self._registered.values(), *self._records(others)]

    def names(self) -> set[str]:
        """Return the names that are known without importing more plugins."""
        with self._lock:
            names = {record.family for record in self.present() if record.state == "loaded"}
            loaded = set(self._loaded)
            waiting = [p for p in self._other_plugins()[0] if p.key not in loaded]
            return names.union(*(plugin.names for plugin in waiting))

    # ---------------------------------------------------------------- registration

    def register(self, family_class: type[WeakLearnerFamily]) -> None:
        """Register a class under its name for the rest of the process.

        Raises
        ------
        TypeError, ValueError
            If the class breaks the contract.
        FamilyError
            If the name belongs to another class.
        """
        examine_family(family_class)
        name = family_class.name
        base = PluginRecord(name, family_class.__module__, "", family_class.__qualname__, "failed")
        with self._lock:
            for record in [] if name in self._registered else self._known(name):
                if record.family_class is family_class:
                    return
                raise FamilyError(f"the name {name!r} is taken by {record.source}")
            present = self._registered.get(name)
            # The same module and qualified name: the class was redefined (a notebook's cell).
            if present is not None and _place(present.family_class) != _place(family_class):
                raise FamilyError(
                    f"the name {name!r} is taken by the class {_place(present.family_class)}, "
                    "which was registered before"
                )
            self._registered[name] = replace(record_of(family_class, base), is_registered=True)

    def _known(self, name: str) -> list[PluginRecord]:
        """Return the records of a name without importing a plugin that does not declare it."""
        own = self._own_plugins()
        others, _ = self._other_plugins()
        plugins = [p for p in [*own, *others] if name in p.names or p.key in self._loaded]
        return _speaking_for(name, self._records(plugins))

    # ---------------------------------------------------------------- loading

    def _own_plugins(self) -> list[Plugin]:
        if self._own is None:
            self._own = index_own()
        return self._own

    def _other_plugins(self) -> tuple[list[Plugin], list[PluginRecord]]:
        """Return plugins that may be imported, and records of the disabled ones."""
        if not third_parties_enabled():
            return [], []
        if self._others is None:
            self._others = index_others()
        disabled, enabled, records = disabled_names(), [], []
        for plugin in self._others:
            off = set(plugin.names)
            if normalise(plugin.distribution) not in disabled:
                off = {name for name in plugin.names if normalise(name) in disabled}
            for name in sorted(off):
                records.append(
                    PluginRecord(None, plugin.distribution, plugin.version, name, "disabled")
                )
            if not plugin.names or off < set(plugin.names):
                enabled.append(plugin)
        return enabled, records

    def _load(self, plugin: Plugin) -> list[PluginRecord]:
        if plugin.key in self._loading:
            raise RuntimeError("a plugin asked for families while plugins were being loaded")
        if plugin.key not in self._loaded:
            self._loading.add(plugin.key)
            try:
                self._loaded[plugin.key] = load_plugin(plugin)
            finally:
                self._loading.discard(plugin.key)
        return self._loaded[plugin.key]

    def _records(self, plugins: list[Plugin]) -> list[PluginRecord]:
        """Return the records of these plugins; names that belong to others are refused."""
        disabled = disabled_names()
        records = []
        for plugin in plugins:
            for record in self._load(plugin):
                if record.state == "loaded" and not plugin.is_own:
                    if normalise(record.family) in disabled:
                        continue
                    record = self._refuse_taken(record, plugin)
                records.append(record)
        return _mark_conflicts(records)

    def _refuse_taken(self, record: PluginRecord, plugin: Plugin) -> PluginRecord:
        """Return the record, marked as failed if its name belongs to someone else."""
        name, owner = record.family, None
        for own in self._own_plugins():
            if name in own.names:
                owner = f"{own.distribution} {own.version}"
        if name in self._registered:
            owner = f"the class {_place(self._registered[name].family_class)}"
            if self._registered[name].family_class is record.family_class:
                return record
        if owner is None and name not in plugin.names:
            for other in self._other_plugins()[0]:
                if name in other.names:
                    owner = f"an entry point of {other.distribution} {other.version}".rstrip()
        if owner is None:
            return record
        error = f"ValueError: the name {name!r} is taken by {owner}"
        return replace(record, state="failed", error=error, capabilities=(), family_class=None)


def _place(family_class: type) -> str:
    return f"{family_class.__module__}.{family_class.__qualname__}"


def _speaking_for(name: str, records: list[PluginRecord]) -> list[PluginRecord]:
    """Return the usable record of a name, or all that tell why there is none."""
    loaded = [record for record in records if record.family == name and record.state == "loaded"]
    return loaded or [record for record in records if name == (record.family or record.entry_point)]


def _mark_conflicts(records: list[PluginRecord]) -> list[PluginRecord]:
    """Mark loaded families of one name as conflicts: none can be used, and each tells why."""
    loaded = defaultdict(list)
    for record in records:
        if record.state == "loaded":
            loaded[record.family].append(record)
    marked = []
    for record in records:
        rivals = loaded.get(record.family, [])
        if record.state == "loaded" and len(rivals) > 1:
            where = " and ".join(f"{r.source} (entry point {r.entry_point!r})" for r in rivals)
            error = f"the name {record.family!r} is registered by {where}; uninstall one of them"
            record = replace(record, state="conflict", error=error, family_class=None)
        marked.append(record)
    return marked
