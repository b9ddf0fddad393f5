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
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import metadata

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

__all__ = [
    "Plugin",
    "index_others",
    "index_own",
    "is_own",
    "load_plugin",
    "normalise",
    "record_of",
    "switched_off",
    "third_parties_enabled",
]

OWN_DISTRIBUTION = "cwboost"


@dataclass(frozen=True)
class Plugin:
    """What a distribution declares: entry points of these names that lead to one object.

    If reading the metadata raised `damage`, there are no names.
    """

    distribution: str
    version: str
    names: tuple[str, ...]
    entry_point: metadata.EntryPoint | None
    damage: Exception | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.distribution, self.entry_point.value if self.entry_point else ""

    def record(self, kind: Kind, entry_point: str, **found) -> PluginRecord:
        """Return a record of what an entry point brings; `found` are its fields."""
        found = {"kind": kind.noun, "name": None} | found
        return PluginRecord(
            distribution=self.distribution, version=self.version, entry_point=entry_point, **found
        )


# -------------------------------------------------------------------------------- metadata


def index_own(kind: Kind) -> list[Plugin]:
    """Return the plugins of cwboost's own distribution, and the classes that it composes."""
    own = metadata.distribution(OWN_DISTRIBUTION)
    composed = [metadata.EntryPoint(*item, kind.group) for item in kind.shipped.items()]
    plugins = [Plugin(OWN_DISTRIBUTION, own.version, (point.name,), point) for point in composed]
    return [*_plugins_of(own, kind.group), *plugins]


def index_others(kind: Kind) -> list[Plugin]:
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
            yield Plugin(*_label(distribution), (), None, error)
        return
    by_value: dict[str, list[metadata.EntryPoint]] = {}
    for entry_point in entry_points:
        by_value.setdefault(entry_point.value, []).append(entry_point)
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


def is_own(distribution: str) -> bool:
    """Return True for the distribution of cwboost."""
    return normalise(distribution) == OWN_DISTRIBUTION


def third_parties_enabled() -> bool:
    """Return True if other distributions are searched (see ``CWBOOST_PLUGINS``)."""
    value = os.environ.get("CWBOOST_PLUGINS", "1")
    if value not in ("0", "1"):
        raise ValueError(f"the environment variable CWBOOST_PLUGINS must be 0 or 1, got {value!r}")
    return value == "1"


def switched_off(distribution: str, name: str) -> bool:
    """Return True if ``CWBOOST_DISABLE_PLUGINS`` has the distribution or the name."""
    given = os.environ.get("CWBOOST_DISABLE_PLUGINS", "").split(",")
    off = {normalise(one.strip()) for one in given if one.strip()}
    return not is_own(distribution) and not off.isdisjoint(map(normalise, (distribution, name)))


# -------------------------------------------------------------------------------- loading


def load_plugin(plugin: Plugin, kind: Kind) -> list[PluginRecord]:
    """Import a plugin, call its hook if it has one, and examine what it registers.

    Return one record per registered object, or one per entry point with the reason for none.
    """
    error = plugin.damage
    try:
        candidates = [] if plugin.entry_point is None else _candidates(plugin.entry_point, kind)
    except (Exception, SystemExit) as raised:
        candidates, error = [], raised
    if candidates:
        return [record_of(plugin, kind, one) for one in candidates]
    text = describe_error(error) if error else f"the plugin registered no {kind.noun}"
    failure = {"state": "failed", "error": text, "exception": error}
    return [plugin.record(kind, name, **failure) for name in plugin.names or [""]]


def _candidates(entry_point: metadata.EntryPoint, kind: Kind) -> list:
    """Return the class that an entry point names, or what its module's hook registers."""
    plugin = entry_point.load()
    if isinstance(plugin, type):
        return [plugin]
    if kind is not WEAK_LEARNERS:
        raise TypeError(f"{entry_point.value} must be a class, got {kind_of(plugin)}")
    # A manager of its own, so that a failure touches no other plugin.
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


def record_of(plugin: Plugin, kind: Kind, candidate) -> PluginRecord:
    """Return the record of one object that a plugin registers, which may be of any type."""
    name, api_version = (getattr(candidate, field, None) for field in ("name", "api_version"))
    if not (isinstance(candidate, type) and isinstance(name, str)):
        name = None
    entry_point = name if name in plugin.names else plugin.names[0]
    record = plugin.record(kind, entry_point, name=name, state="loaded")
    if isinstance(api_version, int):
        record = replace(record, api_version=api_version)
    try:
        return replace(record, capabilities=examine(kind, candidate), plugin_class=candidate)
    except (Exception, SystemExit) as error:
        return replace(record, state="failed", error=describe_error(error), exception=error)
