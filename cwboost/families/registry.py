"""The weak learners or init models that have names: found on demand, or registered at run time.

A name belongs to the first of these that has it: cwboost itself, a class registered at run time,
the one plugin with an entry point of the name. Nothing else is imported for it.
"""

import difflib
import inspect
import re
from dataclasses import dataclass, replace

from cwboost.families.contract import API_VERSION, Capabilities, WeakLearnerFamily, WeakLearners
from cwboost.families.init_contract import FittedInit, InitModel
from cwboost.families.plugin_loading import (
    PluginRecord,
    load_class,
    other_plugins,
    own_plugins,
    third_parties_enabled,
)

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")

AUTO = "auto"
"""What parameters call the automatic choice, hence no name of a plugin."""


def kind_of(value) -> str:
    """Return the name that messages give to the type of a value."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


class FamilyError(ValueError):
    """A weak learner or init model that is unknown, failed to load, or is registered twice."""


@dataclass(eq=False)
class Registry:
    """A kind of plugins and their records, filled on demand and kept for the process.

    Messages call the kind `noun`. `group` is that of the entry points. A plugin derives from
    `base`, and its attribute `result` names the class of what it makes, which derives from
    `result_base`. Threads may load the same at the same time; the first result stays. No lock is
    held while a plugin is imported: its import may wait for another thread that asks here.
    """

    noun: str
    group: str
    base: type
    result: str
    result_base: type

    def __post_init__(self):
        self._registered: dict[str, PluginRecord] = {}
        self.clear()

    def clear(self) -> None:
        """Forget what was loaded; what was registered at run time stays."""
        self._loaded: dict[PluginRecord, PluginRecord] = {}

    def get(self, name: str) -> type:
        """Return the class of a name; `FamilyError` has the reason why there is no usable one."""
        if not isinstance(name, str):
            raise TypeError(f"name of a {self.noun} must be a str, got {kind_of(name)}")
        record = self.find(name)
        if record is None:
            raise FamilyError(self._unknown(name))
        if record.plugin_class is not None:
            return record.plugin_class
        if record.state == "disabled":
            raise FamilyError(
                f"{self.noun} {name!r} is turned off: CWBOOST_DISABLE_PLUGINS names "
                f"{record.source} or its entry point"
            )
        message = f"{self.noun} {name!r} cannot be used: {record.source}: {record.error}"
        raise FamilyError(message) from record.exception

    def find(self, name: str) -> PluginRecord | None:
        """Return the record of a name; None if nothing has it."""
        for record in self._own():
            if record.name == name:  # which nobody can take
                return self._load(record)
        owners = self._owners(name) or [point for point in self._others() if point.name == name]
        return self._settled(owners[0]) if owners else None

    def all(self) -> list[PluginRecord]:
        """Return every class and every failure: cwboost's own, those registered, the others."""
        records = *self._own(), *self._registered.values(), *self._others()
        return [self._settled(record) for record in records]

    def register(self, plugin_class: type) -> None:
        """Register a class; raise `FamilyError` if a plugin or another class has its name."""
        capabilities, name = self.examine(plugin_class), plugin_class.name
        place = f"{plugin_class.__module__}.{plugin_class.__qualname__}"
        for owner in self._owners(name):
            if self._settled(owner).plugin_class is plugin_class:
                return
            # The same module and qualified name: the class was redefined (a notebook's cell).
            if owner.source != place:
                raise FamilyError(f"the name {name!r} is taken by {owner.source}")
        record = PluginRecord(name, place, "", self.noun, None, plugin_class, capabilities)
        self._registered[name] = record

    def examine(self, plugin_class, instance=None) -> tuple[str, ...]:
        """Raise TypeError or ValueError unless a class keeps its contract; return capabilities.

        By default, an `instance` without arguments is made.
        """
        if not (isinstance(plugin_class, type) and issubclass(plugin_class, self.base)):
            got = kind_of(plugin_class)
            raise TypeError(f"plugin must be a subclass of {self.base.__name__}, got {got}")
        label = plugin_class.__name__
        attributes = ("name", "api_version", self.result)
        name, version, result = (getattr(plugin_class, key, None) for key in attributes)
        if not (isinstance(name, str) and NAME.fullmatch(name)) or name == AUTO:
            raise ValueError(
                f"{label}.name must be a str of letters, digits, '_', '-' and '.' that begins with "
                f"a letter, other than {AUTO!r}, got {name!r}"
            )
        if type(version) is not int or version != API_VERSION:
            raise ValueError(
                f"{label}.api_version must be {API_VERSION}, the version of the contract of a "
                f"{self.noun} in this cwboost, got {version!r}: update the older of the two"
            )
        if missing := sorted(getattr(plugin_class, "__abstractmethods__", ())):
            raise TypeError(f"{label} does not define {', '.join(missing)}")
        if not (isinstance(result, type) and issubclass(result, self.result_base)):
            expected, got = self.result_base.__name__, kind_of(result)
            raise TypeError(f"{label}.{self.result} must be a subclass of {expected}, got {got}")
        for method in ("from_arrays", "concatenate"):
            function = inspect.getattr_static(result, method, staticmethod(None))
            if not isinstance(function, (classmethod, staticmethod)):
                raise TypeError(
                    f"{result.__name__}.{method} must not take self: put @classmethod before it"
                )
        made = plugin_class() if instance is None else instance
        if self.base is not WeakLearnerFamily:
            return ()
        if not isinstance(made.capabilities, Capabilities):
            got = kind_of(made.capabilities)
            raise TypeError(f"{label}.capabilities must be a Capabilities, got {got}")
        return tuple(made.capabilities.names())

    def declared(self) -> list[PluginRecord]:
        """Return the records of all plugins, as their entry points declare them."""
        return [*self._own(), *self._others()]

    def _own(self) -> list[PluginRecord]:
        return own_plugins(self.group, self.noun)

    def _others(self) -> list[PluginRecord]:
        return other_plugins(self.group, self.noun) if third_parties_enabled() else []

    def _owners(self, name: str) -> list[PluginRecord]:
        """Return who has the strongest claim to a name: several plugins if it is in conflict."""
        if own := [record for record in self._own() if record.name == name]:
            return own
        if name in self._registered:
            return [self._registered[name]]
        return [record for record in self._others() if record.name == name and not record.is_off]

    def _settled(self, record: PluginRecord) -> PluginRecord:
        """Return the record of a plugin once it is loaded, which its name must allow."""
        if record.entry_point is None or record.is_off:
            return record
        owners = self._owners(record.name)
        if owners == [record]:
            return self._load(record)
        sources = " and ".join(owner.source for owner in owners)
        remedy = ": uninstall one of them" if len(owners) > 1 else ""
        message = f"the name {record.name!r} is taken by {sources}{remedy}"
        return replace(record, exception=FamilyError(message))

    def _load(self, record: PluginRecord) -> PluginRecord:
        if record in self._loaded:
            return self._loaded[record]
        try:
            loaded = load_class(record, has_hook=self.base is WeakLearnerFamily)
            capabilities = self.examine(loaded)
            if loaded.name != record.name:
                raise ValueError(
                    f"the entry point must be called {loaded.name!r}, as the class that it brings, "
                    f"got {record.name!r}: each class needs an entry point of its name"
                )
            result = replace(record, plugin_class=loaded, capabilities=capabilities)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a plugin raises is its failure alone
            result = replace(record, exception=error)
        return self._loaded.setdefault(record, result)

    def _unknown(self, name: str) -> str:
        """Return the message for an unknown name: the closest, the known, and what failed."""
        records = self.all()
        names = sorted(record.name for record in records if record.state == "loaded")
        close = difflib.get_close_matches(name, names, n=1)
        message = f"unknown {self.noun} {name!r}"
        message += f", did you mean {close[0]!r}?" if close else "."
        message += f" Known: {', '.join(map(repr, names)) or 'none'}."
        if n_failed := len({record.source for record in records if record.error}):
            count = "1 plugin" if n_failed == 1 else f"{n_failed} plugins"
            message += f" {count} failed to load; 'cwboost plugins' shows why."
        if not third_parties_enabled():
            message += " Plugins of other distributions are off (CWBOOST_PLUGINS=0)."
        return message


WEAK_LEARNERS = Registry(
    "weak learner", "cwboost", WeakLearnerFamily, "learners_type", WeakLearners
)
INIT_MODELS = Registry("init model", "cwboost.init", InitModel, "fitted_type", FittedInit)


def registry_of(plugin_class: type[WeakLearnerFamily | InitModel]) -> Registry:
    """Return the registry of a class of its kind."""
    return WEAK_LEARNERS if issubclass(plugin_class, WeakLearnerFamily) else INIT_MODELS
