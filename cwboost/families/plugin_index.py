"""The installed plugins, read from metadata; nothing is imported here.

A plugin is one class or module that a distribution names in the entry-point group ``cwboost`` or
``cwboost.init``, under one name or several. The name of an entry point is that of a weak learner or
init model; it reserves the name.

Environment:
    CWBOOST_PLUGINS=0                do not look at other distributions at all
    CWBOOST_DISABLE_PLUGINS=a,b      leave out these distributions and entry points
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from cwboost.families.examination import Kind

__all__ = [
    "OWN_DISTRIBUTION",
    "Plugin",
    "disabled_names",
    "index_others",
    "index_own",
    "normalise",
    "third_parties_enabled",
]

OWN_DISTRIBUTION = "cwboost"


@dataclass(frozen=True)
class Plugin:
    """Declaration of an installed distribution.

    `names` are the entry points that lead to one module, `entry_point` is the first of these. If
    reading the metadata raised `damage`, there are none.
    """

    distribution: str
    version: str
    names: tuple[str, ...]
    entry_point: metadata.EntryPoint | None
    damage: BaseException | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Return the identity of the plugin: its distribution and the module that it names."""
        return self.distribution, self.entry_point.value if self.entry_point else ""

    @property
    def is_own(self) -> bool:
        return normalise(self.distribution) == OWN_DISTRIBUTION


def index_own(kind: Kind) -> list[Plugin]:
    """Return the plugins of cwboost's own distribution, and the classes that it composes."""
    plugins = list(_plugins_of(metadata.distribution(OWN_DISTRIBUTION), kind.group))
    version = metadata.version(OWN_DISTRIBUTION)
    for name, value in kind.shipped.items():
        entry_point = metadata.EntryPoint(name, value, kind.group)
        plugins.append(Plugin(OWN_DISTRIBUTION, version, (name,), entry_point))
    return plugins


def index_others(kind: Kind) -> list[Plugin]:
    """Return the plugins of other distributions, by distribution; none if they are turned off."""
    if not third_parties_enabled():
        return []
    found = _other_distributions()
    return [plugin for distribution in found for plugin in _plugins_of(distribution, kind.group)]


def third_parties_enabled() -> bool:
    """Return True if other distributions are searched (see ``CWBOOST_PLUGINS``)."""
    value = os.environ.get("CWBOOST_PLUGINS", "1")
    if value not in ("0", "1"):
        raise ValueError(f"the environment variable CWBOOST_PLUGINS must be 0 or 1, got {value!r}")
    return value == "1"


def disabled_names() -> frozenset[str]:
    """Return the distributions and entry points of ``CWBOOST_DISABLE_PLUGINS``, normalised."""
    names = os.environ.get("CWBOOST_DISABLE_PLUGINS", "").split(",")
    return frozenset(normalise(name.strip()) for name in names if name.strip())


def normalise(name: str) -> str:
    """Return the name of a distribution as installers compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _other_distributions() -> list[metadata.Distribution]:
    """Return the other installed distributions, the first on the path per name, sorted by name."""
    found = {}
    for distribution in metadata.distributions():
        name, _ = _label(distribution)
        found.setdefault(normalise(name), distribution)
    found.pop(OWN_DISTRIBUTION, None)
    return [found[key] for key in sorted(found)]


def _label(distribution: metadata.Distribution) -> tuple[str, str]:
    """Return name and version; with damaged metadata, the name is the path of the folder."""
    try:
        name, version = distribution.metadata.get("Name"), distribution.metadata.get("Version")
    except Exception:
        name = version = None
    return name or f"(unnamed distribution in {distribution.locate_file('')})", version or ""


def _plugins_of(distribution: metadata.Distribution, group: str) -> Iterator[Plugin]:
    try:
        entry_points = sorted(distribution.entry_points.select(group=group))
    except Exception as error:
        # Damaged files of packages without a plugin are ignored.
        if f"[{group}]" in (distribution.read_text("entry_points.txt") or ""):
            yield Plugin(*_label(distribution), (), None, damage=error)
        return
    by_module: dict[str, list[metadata.EntryPoint]] = {}
    for entry_point in entry_points:
        by_module.setdefault(entry_point.value, []).append(entry_point)
    for points in by_module.values():
        names = tuple(point.name for point in points)
        yield Plugin(*_label(distribution), names, points[0])
