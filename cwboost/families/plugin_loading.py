"""The installed plugins: read from metadata, imported on demand; failures are recorded.

An entry point of the group ``cwboost`` or ``cwboost.init`` names a class, or a module with a hook,
and reserves its own name for it. Several entry points may name one module: they are one plugin.

Environment:
    CWBOOST_PLUGINS=0                do not look at other distributions at all
    CWBOOST_DISABLE_PLUGINS=a,b      leave out these distributions and entry points
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata

import pluggy

from cwboost import hookspecs
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.examination import Kind, describe_error, examine, kind_of

OWN_DISTRIBUTION = "cwboost"


@dataclass(frozen=True)
class Plugin:
    """What a distribution declares: entry points of these names that lead to one object.

    If they could not be read, `entry_point` is the error.
    """

    distribution: str
    version: str
    names: tuple[str, ...]
    entry_point: metadata.EntryPoint | Exception

    def record(self, kind: Kind, name: str, exception=None) -> PluginRecord:
        return PluginRecord(kind.noun, name, self.distribution, self.version, exception=exception)


@dataclass(frozen=True)
class PluginRecord:
    """Record of one weak learner or init model, or of a plugin that failed before it had one.

    Parameters
    ----------
    kind : {"weak learner", "init model"}
    name : str
        Registered name; that of the entry point if the plugin failed before it named one.
    distribution, version : str
        The installed distribution that declares the entry point.
    capabilities : tuple of str
        What a weak learner declares with its default hyper-parameters.
    plugin_class : type or None
        The class, if it can be used.
    exception : BaseException or None
        Why it cannot be used.
    is_registered : bool
        True for a class registered at run time, whose module stands for a distribution.
    """

    kind: str
    name: str
    distribution: str
    version: str
    capabilities: tuple[str, ...] = ()
    plugin_class: type | None = field(default=None, repr=False)
    exception: BaseException | None = field(default=None, repr=False, compare=False)
    is_registered: bool = field(default=False, repr=False)

    @property
    def state(self) -> str:
        """Return "loaded", "failed" or "disabled"; only what is loaded can be used."""
        if self.plugin_class is not None:
            return "loaded"
        return "disabled" if self.exception is None else "failed"

    @property
    def error(self) -> str | None:
        """Return why it cannot be used; None if it is loaded or disabled."""
        return None if self.exception is None else describe_error(self.exception)

    @property
    def api_version(self) -> int | None:
        """Return the version of the contract that a loaded class declares."""
        return getattr(self.plugin_class, "api_version", None)

    @property
    def source(self) -> str:
        """Return the owner as messages name it."""
        if self.is_registered:
            return f"the class {self.distribution}.{self.plugin_class.__qualname__}"
        return f"{self.distribution} {self.version}".rstrip()


# -------------------------------------------------------------------------------- metadata


@cache
def own_plugins(kind: Kind) -> list[Plugin]:
    """Return the plugins of cwboost's own distribution."""
    return list(_plugins_of(metadata.distribution(OWN_DISTRIBUTION), kind.group))


@cache
def other_plugins(kind: Kind) -> list[Plugin]:
    """Return the plugins of other distributions, of each name the first on the path, sorted."""
    found: dict[str, metadata.Distribution] = {}
    for distribution in metadata.distributions():
        found.setdefault(normalise(_label(distribution)[0]), distribution)
    found.pop(OWN_DISTRIBUTION, None)
    return [plugin for name in sorted(found) for plugin in _plugins_of(found[name], kind.group)]


def _plugins_of(distribution: metadata.Distribution, group: str) -> Iterator[Plugin]:
    try:
        entry_points = sorted(distribution.entry_points.select(group=group))
    except Exception as error:
        # Damaged files of packages without a plugin are ignored.
        if f"[{group}]" in (distribution.read_text("entry_points.txt") or ""):
            yield Plugin(*_label(distribution), ("entry_points.txt",), error)
        return
    by_value = defaultdict(list)
    for entry_point in entry_points:
        by_value[entry_point.value].append(entry_point)
    for points in by_value.values():
        yield Plugin(*_label(distribution), tuple(point.name for point in points), points[0])


def _label(distribution: metadata.Distribution) -> tuple[str, str]:
    """Return name and version; with damaged metadata, the name is the path of the folder."""
    try:
        name, version = distribution.metadata.get("Name"), distribution.metadata.get("Version")
    except Exception:
        name = version = None
    return name or f"(unnamed distribution in {distribution.locate_file('')})", version or ""


def normalise(name: str) -> str:
    """Return the name of a distribution as installers compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def third_parties_enabled() -> bool:
    """Return True if other distributions are searched (see ``CWBOOST_PLUGINS``)."""
    value = os.environ.get("CWBOOST_PLUGINS", "1")
    if value not in ("0", "1"):
        raise ValueError(f"the environment variable CWBOOST_PLUGINS must be 0 or 1, got {value!r}")
    return value == "1"


def is_off(distribution: str, name: str) -> bool:
    """Return True if ``CWBOOST_DISABLE_PLUGINS`` has the distribution, not cwboost, or the name."""
    given = os.environ.get("CWBOOST_DISABLE_PLUGINS", "").split(",")
    off = {normalise(one.strip()) for one in given if one.strip()}
    owner = normalise(distribution)
    return owner != OWN_DISTRIBUTION and not off.isdisjoint((owner, normalise(name)))


# -------------------------------------------------------------------------------- loading


def load_plugin(plugin: Plugin, kind: Kind) -> list[PluginRecord]:
    """Import a plugin, call its hook if it has one, and examine what it registers.

    Return one record per registered object, or one per entry point with the reason for none.
    """
    try:
        candidates = _candidates(plugin.entry_point, kind)
    except (Exception, SystemExit) as error:
        return [plugin.record(kind, name, error) for name in plugin.names]
    return [_examined(plugin, kind, candidate) for candidate in candidates]


def _candidates(entry_point: metadata.EntryPoint | Exception, kind: Kind) -> list:
    """Return the class that an entry point names, or what its module's hook registers."""
    if isinstance(entry_point, Exception):
        raise entry_point
    plugin = entry_point.load()
    if isinstance(plugin, type):
        return [plugin]
    if kind.base is not WeakLearnerFamily:
        raise TypeError(f"{entry_point.value} must be a class, got {kind_of(plugin)}")
    # A manager of its own, so that a failure touches no other plugin.
    manager = pluggy.PluginManager("cwboost")
    manager.add_hookspecs(hookspecs)
    manager.register(plugin, name=entry_point.name)
    manager.check_pending()
    candidates: list = []
    manager.hook.cwboost_register_families(register=candidates.append)
    if not candidates:
        raise TypeError(
            f"{entry_point.value} must be a class, as in 'module:Class', or implement the hook "
            f"cwboost_register_families, which must register a {kind.noun}"
        )
    return candidates


def _examined(plugin: Plugin, kind: Kind, candidate) -> PluginRecord:
    """Return the record of one object that a plugin registers, which may be of any type."""
    name = getattr(candidate, "name", None)
    is_named = isinstance(candidate, type) and isinstance(name, str)
    record = plugin.record(kind, name if is_named else plugin.names[0])
    try:
        return replace(record, capabilities=examine(kind, candidate), plugin_class=candidate)
    except (Exception, SystemExit) as error:
        return replace(record, exception=error)
