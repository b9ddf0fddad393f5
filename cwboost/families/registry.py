"""The weak learners or init models that have names: found on demand, or registered at run time.

A name belongs to the first of these that has it: cwboost itself, a class registered at run time,
the plugin with an entry point of the name, any other plugin. A registration against this order is
refused, so the answer never depends on earlier imports.
"""

from __future__ import annotations

import difflib
import threading
from collections import defaultdict
from dataclasses import replace

from cwboost.families.examination import Kind, PluginRecord, examine, kind_of
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
    """A weak learner or init model that is unknown, failed to load, or is registered twice."""


class Registry:
    """Plugins of one kind and their records, filled on demand and kept for the process.

    Threads may find and load the same at the same time; the first result stays. No lock is held
    while a plugin is imported: its import may wait for another thread that asks here.
    """

    def __init__(self, kind: Kind):
        self.kind = kind
        self._registered: dict[str, PluginRecord] = {}
        self._loading = threading.local()  # its `keys`: the plugins that this thread is loading
        self.clear()

    def clear(self) -> None:
        """Forget what was discovered; what was registered at run time stays."""
        self._own: list[Plugin] | None = None
        self._others: list[Plugin] | None = None
        self._loaded: dict[tuple[str, str], list[PluginRecord]] = {}

    # ---------------------------------------------------------------- questions

    def get(self, name: str) -> type:
        """Return the class of a name; `FamilyError` says why there is no usable one."""
        if not isinstance(name, str):
            raise TypeError(f"name of {self.kind.noun}: expected a str, got {kind_of(name)}")
        records = self.find(name)
        if not records:
            raise FamilyError(self._unknown(name))
        if records[0].state != "loaded":
            raise FamilyError(self._broken(name, records)) from records[0].exception
        return records[0].plugin_class

    def find(self, name: str) -> list[PluginRecord]:
        """Return the records of a name; only the plugins that can answer are imported."""
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

    def all(self) -> list[PluginRecord]:
        """Return every class and every failure: cwboost's own, those registered, the others."""
        others, disabled = self._other_plugins()
        own = self._records(self._own_plugins())
        found = [*self._records(others), *disabled]
        found.sort(key=lambda record: normalise(record.distribution))
        return [*own, *self._registered.values(), *found]

    def present(self) -> list[PluginRecord]:
        """Return cwboost's own classes, those registered, and those of plugins imported before."""
        others = [p for p in self._other_plugins()[0] if p.key in self._loaded]
        own = self._records(self._own_plugins())
        return [*own, *self._registered.values(), *self._records(others)]

    def names(self) -> set[str]:
        """Return the names that are known without importing more plugins."""
        names = {record.name for record in self.present() if record.state == "loaded"}
        waiting = [p for p in self._other_plugins()[0] if p.key not in self._loaded]
        return names.union(*(plugin.names for plugin in waiting))

    # ---------------------------------------------------------------- registration

    def register(self, plugin_class: type) -> None:
        """Register a class; raise `FamilyError` if its name belongs to another one."""
        examine(self.kind, plugin_class)
        name = plugin_class.name
        about = name, plugin_class.__module__, "", plugin_class.__qualname__
        base = PluginRecord(self.kind.noun, *about, "failed")
        for record in [] if name in self._registered else self._known(name):
            if record.plugin_class is plugin_class:
                return
            raise FamilyError(f"the name {name!r} is taken by {record.source}")
        record = replace(record_of(self.kind, plugin_class, base), is_registered=True)
        present = self._registered.setdefault(name, record)
        # The same module and qualified name: the class was redefined (a notebook's cell).
        if _place(present.plugin_class) != _place(plugin_class):
            raise FamilyError(
                f"the name {name!r} is taken by the class {_place(present.plugin_class)}, "
                "which was registered before"
            )
        self._registered[name] = record

    def _known(self, name: str) -> list[PluginRecord]:
        """Return the records of a name without importing a plugin that does not declare it."""
        own = self._own_plugins()
        others, _ = self._other_plugins()
        plugins = [p for p in [*own, *others] if name in p.names or p.key in self._loaded]
        return _speaking_for(name, self._records(plugins))

    # ---------------------------------------------------------------- loading

    def _own_plugins(self) -> list[Plugin]:
        own = self._own
        if own is None:
            own = self._own = index_own(self.kind)
        return own

    def _other_plugins(self) -> tuple[list[Plugin], list[PluginRecord]]:
        """Return plugins that may be imported, and records of the disabled ones."""
        if not third_parties_enabled():
            return [], []
        others = self._others
        if others is None:
            others = self._others = index_others(self.kind)
        disabled, enabled, records = disabled_names(), [], []
        for plugin in others:
            off = set(plugin.names)
            if normalise(plugin.distribution) not in disabled:
                off = {name for name in plugin.names if normalise(name) in disabled}
            for name in sorted(off):
                about = None, plugin.distribution, plugin.version, name
                records.append(PluginRecord(self.kind.noun, *about, "disabled"))
            if not plugin.names or off < set(plugin.names):
                enabled.append(plugin)
        return enabled, records

    def _load(self, plugin: Plugin) -> list[PluginRecord]:
        loading = vars(self._loading).setdefault("keys", set())
        if plugin.key in loading:
            raise RuntimeError("a plugin asked for another while plugins were being loaded")
        records = self._loaded.get(plugin.key)
        if records is not None:
            return records
        loading.add(plugin.key)
        try:
            records = load_plugin(plugin, self.kind)
        finally:
            loading.discard(plugin.key)
        return self._loaded.setdefault(plugin.key, records)

    def _records(self, plugins: list[Plugin]) -> list[PluginRecord]:
        """Return the records of these plugins; names that belong to others are refused."""
        disabled = disabled_names()
        records = []
        for plugin in plugins:
            for record in self._load(plugin):
                if record.state == "loaded" and not plugin.is_own:
                    if normalise(record.name) in disabled:
                        continue
                    record = self._refuse_taken(record, plugin)
                records.append(record)
        return _mark_conflicts(records)

    def _refuse_taken(self, record: PluginRecord, plugin: Plugin) -> PluginRecord:
        """Return the record, marked as failed if its name belongs to someone else."""
        name, owner = record.name, None
        for own in self._own_plugins():
            if name in own.names:
                owner = f"{own.distribution} {own.version}"
        if name in self._registered:
            owner = f"the class {_place(self._registered[name].plugin_class)}"
            if self._registered[name].plugin_class is record.plugin_class:
                return record
        if owner is None and name not in plugin.names:
            for other in self._other_plugins()[0]:
                if name in other.names:
                    owner = f"an entry point of {other.distribution} {other.version}".rstrip()
        if owner is None:
            return record
        error = f"ValueError: the name {name!r} is taken by {owner}"
        return replace(record, state="failed", error=error, capabilities=(), plugin_class=None)

    # ---------------------------------------------------------------- messages

    def _broken(self, name: str, records: list[PluginRecord]) -> str:
        first, noun = records[0], self.kind.noun
        if first.state == "conflict":
            return first.error
        if first.state == "disabled":
            return (
                f"{noun} {name!r} is turned off: CWBOOST_DISABLE_PLUGINS names {first.source} or "
                "its entry point"
            )
        reasons = "; ".join(f"{record.source}: {record.error}" for record in records)
        return f"{noun} {name!r} cannot be used, its plugin failed: {reasons}"

    def _unknown(self, name: str) -> str:
        """Return a message with the known names, the closest one, and how many plugins failed."""
        names = sorted(self.names())
        message = f"unknown {self.kind.noun} {name!r}"
        close = difflib.get_close_matches(name, names, n=1)
        message += f", did you mean {close[0]!r}?" if close else "."
        message += f" Known: {', '.join(map(repr, names)) or 'none'}."
        broken = [record for record in self.present() if record.error]
        if broken:
            n_plugins = len({(record.source, record.error) for record in broken})
            count = "1 plugin" if n_plugins == 1 else f"{n_plugins} plugins"
            message += f" {count} failed to load; 'cwboost plugins' says why."
        if not third_parties_enabled():
            message += " Plugins of other distributions are off (CWBOOST_PLUGINS=0)."
        return message


def _place(plugin_class: type) -> str:
    return f"{plugin_class.__module__}.{plugin_class.__qualname__}"


def _speaking_for(name: str, records: list[PluginRecord]) -> list[PluginRecord]:
    """Return the usable record of a name, or all that tell why there is none."""
    loaded = [record for record in records if record.name == name and record.state == "loaded"]
    return loaded or [record for record in records if name == (record.name or record.entry_point)]


def _mark_conflicts(records: list[PluginRecord]) -> list[PluginRecord]:
    """Mark loaded families of one name as conflicts: none can be used, and each tells why."""
    loaded = defaultdict(list)
    for record in records:
        if record.state == "loaded":
            loaded[record.name].append(record)
    marked = []
    for record in records:
        rivals = loaded.get(record.name, [])
        if record.state == "loaded" and len(rivals) > 1:
            where = " and ".join(rival.source for rival in rivals)
            error = f"the name {record.name!r} is registered by {where}; uninstall one of them"
            record = replace(record, state="conflict", error=error, plugin_class=None)
        marked.append(record)
    return marked
