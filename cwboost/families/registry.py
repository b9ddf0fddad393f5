"""The weak learners or init models that have names: found on demand, or registered at run time.

A name belongs to the first of these that has it: cwboost itself, a class registered at run time,
the plugin with an entry point of the name, any other plugin. The answer never depends on earlier
imports.
"""

import difflib
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from cwboost.families.contract import WeakLearnerFamily, WeakLearners
from cwboost.families.examination import Kind, examine, kind_of, warn_of_age
from cwboost.families.init_contract import FittedInit, InitModel
from cwboost.families.plugin_loading import (
    Plugin,
    PluginRecord,
    is_off,
    load_plugin,
    other_plugins,
    own_plugins,
    third_parties_enabled,
)


class FamilyError(ValueError):
    """A weak learner or init model that is unknown, failed to load, or is registered twice."""


@dataclass(eq=False)
class Registry(Kind):
    """A kind of plugins and their records, filled on demand and kept for the process.

    Threads may find and load the same at the same time; the first result stays. No lock is held
    while a plugin is imported: its import may wait for another thread that asks here.
    """

    def __post_init__(self):
        self._registered: dict[str, PluginRecord] = {}
        self._loading = threading.local()  # its `plugins`: those that this thread is loading
        self.clear()

    def clear(self) -> None:
        """Forget what was loaded; what was registered at run time stays."""
        self._loaded: dict[Plugin, list[PluginRecord]] = {}

    def get(self, name: str) -> type:
        """Return the class of a name; `FamilyError` has the reason why there is no usable one.

        Warn of one that is written for an old version of the contract.
        """
        if not isinstance(name, str):
            raise TypeError(f"name of a {self.noun} must be a str, got {kind_of(name)}")
        record = self.find(name)
        if record is None:
            raise FamilyError(self._unknown(name))
        if record.state == "disabled":
            raise FamilyError(
                f"{self.noun} {name!r} is turned off: CWBOOST_DISABLE_PLUGINS names "
                f"{record.source} or its entry point"
            )
        if record.plugin_class is None:
            message = f"{self.noun} {name!r} cannot be used: {record.source}: {record.error}"
            raise FamilyError(message) from record.exception
        warn_of_age(self, record.plugin_class)
        return record.plugin_class

    def find(self, name: str) -> PluginRecord | None:
        """Return the record of a name; only the plugins that can answer are imported."""
        owners = self._owners(name)
        return _settled(owners[0], owners) if owners else None

    def all(self) -> list[PluginRecord]:
        """Return every class and every failure: cwboost's own, those registered, the others."""
        own, others = self._records(own_plugins(self)), self._records(self._others())
        records = [*own, *self._registered.values(), *others]
        return [_settled(record, self._owners(record.name)) for record in records]

    def register(self, plugin_class: type) -> None:
        """Register a class; raise `FamilyError` if a plugin or another class has its name."""
        capabilities = examine(self, plugin_class)
        name, module = plugin_class.name, plugin_class.__module__
        record = PluginRecord(
            self.noun, name, module, "", capabilities, plugin_class, is_registered=True
        )
        owners = [self._registered[name]] if name in self._registered else self._declared(name)
        for owner in owners:
            if owner.plugin_class is plugin_class:
                return
            # The same module and qualified name: the class was redefined (a notebook's cell).
            if owner.source != record.source:
                raise FamilyError(f"the name {name!r} is taken by {owner.source}")
        self._registered[name] = record

    def _declared(self, name: str) -> list[PluginRecord]:
        """Return the records of a name that an entry point reserves, unless they are disabled."""
        plugins = (*own_plugins(self), *self._others())
        records = self._records(plugin for plugin in plugins if name in plugin.names)
        return [one for one in records if one.name == name and one.state != "disabled"]

    def _owners(self, name: str) -> list[PluginRecord]:
        """Return the records with the strongest claim to a name: two if it is in conflict."""
        found = []
        for records in self._by_claim(name):
            found = [record for record in records if record.name == name]
            enabled = [record for record in found if record.state != "disabled"]
            loaded = {record.plugin_class: record for record in enabled if record.plugin_class}
            if enabled:
                return list(loaded.values()) or enabled[:1]
        return found[:1]

    def _by_claim(self, name: str) -> Iterator[list[PluginRecord]]:
        """Yield the records of those who may have a name, the first who may first."""
        yield self._records(plugin for plugin in own_plugins(self) if name in plugin.names)
        yield [self._registered[name]] if name in self._registered else []
        others = self._others()
        yield self._records(plugin for plugin in others if name in plugin.names)
        yield self._records(others)

    def _others(self) -> list[Plugin]:
        return other_plugins(self) if third_parties_enabled() else []

    def _records(self, plugins: Iterable[Plugin]) -> list[PluginRecord]:
        """Return the records of these plugins, which are imported unless they are disabled."""
        records = []
        for plugin in plugins:
            off = [name for name in plugin.names if is_off(plugin.distribution, name)]
            records += [plugin.record(self, name) for name in off]
            if len(off) < len(plugin.names):
                loaded = self._load(plugin)
                records += [one for one in loaded if not is_off(one.distribution, one.name)]
        return records

    def _load(self, plugin: Plugin) -> list[PluginRecord]:
        loading = vars(self._loading).setdefault("plugins", set())
        if plugin in loading:
            raise RuntimeError("a plugin asked for another while plugins were being loaded")
        if plugin in self._loaded:
            return self._loaded[plugin]
        loading.add(plugin)
        try:
            return self._loaded.setdefault(plugin, load_plugin(plugin, self))
        finally:
            loading.discard(plugin)

    def _unknown(self, name: str) -> str:
        """Return a message with the known names, the closest one, and how many plugins failed."""
        records = self.all()
        names = sorted(record.name for record in records if record.state == "loaded")
        message = f"unknown {self.noun} {name!r}"
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


def _settled(record: PluginRecord, owners: list[PluginRecord]) -> PluginRecord:
    """Return a record, as a failure if its name does not belong to its class alone."""
    others = [owner for owner in owners if owner.plugin_class is not record.plugin_class]
    if record.plugin_class is None or not others:
        return record
    taken = f"the name {record.name!r} is taken by {' and '.join(one.source for one in owners)}"
    remedy = ": uninstall one of them" if len(owners) > 1 else ""
    error = FamilyError(taken + remedy)
    return replace(record, capabilities=(), plugin_class=None, exception=error)


WEAK_LEARNERS = Registry(
    "weak learner", "cwboost", WeakLearnerFamily, "learners_type", WeakLearners
)
INIT_MODELS = Registry("init model", "cwboost.init", InitModel, "fitted_type", FittedInit)


def registry_of(plugin_class: type[WeakLearnerFamily | InitModel]) -> Registry:
    """Return the registry of a class of its kind."""
    return WEAK_LEARNERS if issubclass(plugin_class, WeakLearnerFamily) else INIT_MODELS
