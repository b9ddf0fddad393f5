"""The weak learners or init models that have names: found on demand, or registered at run time.

A name belongs to the first of these that has it: cwboost itself, a class registered at run time,
the plugin with an entry point of the name, any other plugin. A registration against this order is
refused, so the answer never depends on earlier imports.
"""

from __future__ import annotations

import difflib
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cwboost.families.examination import Kind, PluginRecord, examine, kind_of
from cwboost.families.plugin_loading import (
    Plugin,
    index_others,
    index_own,
    is_own,
    load_plugin,
    record_of,
    switched_off,
    third_parties_enabled,
)

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
        """Return the class of a name; `FamilyError` has the reason why there is no usable one."""
        if not isinstance(name, str):
            raise TypeError(f"name of a {self.kind.noun} must be a str, got {kind_of(name)}")
        records = self.find(name)
        if not records:
            raise FamilyError(self._unknown(name))
        if records[0].plugin_class is None:
            raise FamilyError(self._broken(name, records)) from records[0].exception
        return records[0].plugin_class

    def find(self, name: str) -> list[PluginRecord]:
        """Return the usable record of a name, or all that have a reason why there is none.

        Only the plugins that can answer are imported.
        """
        found: list[PluginRecord] = []
        for records in self._by_claim(name):
            found = [record for record in records if _name(record) == name]
            enabled = [record for record in found if record.state != "disabled"]
            if enabled:
                return [record for record in enabled if record.state == "loaded"] or enabled
        return found

    def _by_claim(self, name: str) -> Iterator[list[PluginRecord]]:
        """Yield the records of those who may have a name, the first who may first."""
        yield self._records(plugin for plugin in self._own_plugins() if name in plugin.names)
        yield [self._registered[name]] if name in self._registered else []
        others = self._other_plugins()
        yield self._records(plugin for plugin in others if name in plugin.names)
        yield self._records(others)

    def all(self) -> list[PluginRecord]:
        """Return every class and every failure: cwboost's own, those registered, the others."""
        own = self._records(self._own_plugins())
        others = self._records(self._other_plugins())
        return _settled([*own, *self._registered.values(), *others])

    # ---------------------------------------------------------------- registration

    def register(self, plugin_class: type) -> None:
        """Register a class; raise `FamilyError` if its name belongs to another one."""
        examine(self.kind, plugin_class)
        name = plugin_class.name
        if name not in self._registered:
            for record in self._known(name):
                if record.plugin_class is plugin_class:
                    return
                raise FamilyError(f"the name {name!r} is taken by {record.source}")
        program = Plugin(plugin_class.__module__, "", (plugin_class.__qualname__,), None)
        record = replace(record_of(program, self.kind, plugin_class), is_registered=True)
        present = self._registered.setdefault(name, record)
        # The same module and qualified name: the class was redefined (a notebook's cell).
        if present.source != record.source:
            raise FamilyError(f"the name {name!r} is taken by {present.source}")
        self._registered[name] = record

    def _known(self, name: str) -> list[PluginRecord]:
        """Return the records of a name without importing a plugin that does not declare it."""
        plugins = [*self._own_plugins(), *self._other_plugins()]
        records = self._records(p for p in plugins if name in p.names or p.key in self._loaded)
        return [r for r in records if _name(r) == name and r.state != "disabled"]

    # ---------------------------------------------------------------- loading

    def _own_plugins(self) -> list[Plugin]:
        own = self._own  # another thread may clear it
        if own is None:
            own = self._own = index_own(self.kind)
        return own

    def _other_plugins(self) -> list[Plugin]:
        if not third_parties_enabled():
            return []
        others = self._others
        if others is None:
            others = self._others = index_others(self.kind)
        return others

    def _records(self, plugins: Iterable[Plugin]) -> list[PluginRecord]:
        """Return the records of these plugins, which are imported unless they are disabled."""
        records = []
        for plugin in plugins:
            off = [name for name in plugin.names if switched_off(plugin.distribution, name)]
            records += [plugin.record(self.kind, name, state="disabled") for name in off]
            if not off or len(off) < len(plugin.names):
                loaded = self._load(plugin)
                records += [r for r in loaded if not switched_off(r.distribution, _name(r))]
        return _settled(records)

    def _load(self, plugin: Plugin) -> list[PluginRecord]:
        loading = vars(self._loading).setdefault("keys", set())
        if plugin.key in loading:
            raise RuntimeError("a plugin asked for another while plugins were being loaded")
        records = self._loaded.get(plugin.key)
        if records is not None:
            return records
        loading.add(plugin.key)
        try:
            return self._loaded.setdefault(plugin.key, load_plugin(plugin, self.kind))
        finally:
            loading.discard(plugin.key)

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
        records = self.all()
        names = sorted(record.name for record in records if record.state == "loaded")
        message = f"unknown {self.kind.noun} {name!r}"
        close = difflib.get_close_matches(name, names, n=1)
        message += f", did you mean {close[0]!r}?" if close else "."
        message += f" Known: {', '.join(map(repr, names)) or 'none'}."
        broken = {(record.source, record.error) for record in records if record.error}
        if broken:
            count = "1 plugin" if len(broken) == 1 else f"{len(broken)} plugins"
            message += f" {count} failed to load; 'cwboost plugins' shows why."
        if not third_parties_enabled():
            message += " Plugins of other distributions are off (CWBOOST_PLUGINS=0)."
        return message


def _name(record: PluginRecord) -> str:
    """Return the name that a record claims, also for what its plugin failed to bring."""
    return record.name or record.entry_point


def _claim(record: PluginRecord) -> int:
    """Return the rank of a record's claim to its name, 0 for the strongest."""
    if is_own(record.distribution) or record.is_registered:
        return int(record.is_registered)
    return 2 if record.entry_point == _name(record) else 3


def _settled(records: list[PluginRecord]) -> list[PluginRecord]:
    """Return the records; those whose name belongs to a stronger claim, or to two, are unusable."""
    claimants = defaultdict(list)
    for record in records:
        if record.state != "disabled":
            claimants[_name(record)].append(record)
    return [_settle(r, claimants[_name(r)]) if r.state == "loaded" else r for r in records]


def _settle(record: PluginRecord, claimants: list[PluginRecord]) -> PluginRecord:
    rivals = [other for other in claimants if other.plugin_class is not record.plugin_class]
    first = min(rivals, key=_claim, default=record)
    if _claim(first) < _claim(record):
        error = f"ValueError: the name {record.name!r} is taken by {first.source}"
        return replace(record, state="failed", error=error, capabilities=(), plugin_class=None)
    equals = [r for r in rivals if r.state == "loaded" and _claim(r) == _claim(record)]
    if equals:
        where = " and ".join(r.source for r in claimants if r is record or r in equals)
        error = f"the name {record.name!r} is registered by {where}; uninstall one of them"
        return replace(record, state="conflict", error=error, plugin_class=None)
    return record
