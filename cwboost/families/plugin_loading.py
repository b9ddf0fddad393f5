"""The plugins that are installed: entry points of metadata, and the classes to which they lead.

Environment:
    CWBOOST_PLUGINS=0                do not look at other distributions at all
    CWBOOST_DISABLE_PLUGINS=a,b      leave out these distributions and entry points
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path

import pluggy

from cwboost import hookspecs

OWN_DISTRIBUTION = "cwboost"


@dataclass(frozen=True)
class PluginRecord:
    """Record of one weak learner or init model.

    Parameters
    ----------
    name : str
        Registered name, that of its entry point.
    distribution, version : str
        The distribution that declares the entry point; the class itself and "" for a class that
        was registered at run time.
    kind : {"weak learner", "init model"}
    entry_point : importlib.metadata.EntryPoint or None
    plugin_class : type or None
        The class, if it can be used.
    capabilities : tuple of str
        What a weak learner declares with its default hyper-parameters.
    exception : BaseException or None
        Why it cannot be used.
    """

    name: str
    distribution: str
    version: str
    kind: str
    entry_point: metadata.EntryPoint | None = field(default=None, repr=False)
    plugin_class: type | None = field(default=None, repr=False)
    capabilities: tuple[str, ...] = ()
    exception: BaseException | None = field(default=None, repr=False, compare=False)

    @property
    def state(self) -> str:
        """Return "loaded", "failed" or "disabled"; only what is loaded can be used."""
        if self.plugin_class is not None:
            return "loaded"
        return "disabled" if self.exception is None else "failed"

    @property
    def error(self) -> str | None:
        """Return type and text of the exception on one line; None if there is none."""
        return None if self.exception is None else describe_error(self.exception)

    @property
    def source(self) -> str:
        """Return the owner as messages name it."""
        return f"{self.distribution} {self.version}".rstrip()

    @property
    def is_off(self) -> bool:
        """Return True if ``CWBOOST_DISABLE_PLUGINS`` has the name or distribution of a plugin."""
        off = os.environ.get("CWBOOST_DISABLE_PLUGINS", "").split(",")
        owner = normalise(self.distribution)
        named = {normalise(word.strip()) for word in off} & {owner, normalise(self.name)}
        return bool(named) and owner != OWN_DISTRIBUTION and self.entry_point is not None


def describe_error(error: BaseException) -> str:
    """Return the error's type and text on one line; a text that cannot be made is left out."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def run_plugin_file(path: str) -> None:
    """Run a Python file, whose classes register themselves (`cwboost.register_family`)."""
    name = Path(path).stem
    if not path.endswith(".py") or name in sys.modules:
        raise ValueError(f"plugin must be a Python file of a new module name, got {path!r}")
    # Under its own name, as if a program had imported it: pickle looks there.
    spec = importlib.util.spec_from_file_location(name, path)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def normalise(name: str) -> str:
    """Return the name of a distribution as installers compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def third_parties_enabled() -> bool:
    """Return True if other distributions are searched (see ``CWBOOST_PLUGINS``)."""
    value = os.environ.get("CWBOOST_PLUGINS", "1")
    if value not in ("0", "1"):
        raise ValueError(f"the environment variable CWBOOST_PLUGINS must be 0 or 1, got {value!r}")
    return value == "1"


@cache
def own_plugins(group: str, kind: str) -> list[PluginRecord]:
    """Return records of cwboost's own entry points in a group, not loaded yet."""
    return list(_declared_by(metadata.distribution(OWN_DISTRIBUTION), group, kind))


@cache
def other_plugins(group: str, kind: str) -> list[PluginRecord]:
    """Return those of other distributions, of each name the first on the path, in their order."""
    distributions: dict[str, metadata.Distribution] = {}
    for distribution in metadata.distributions():
        distributions.setdefault(normalise(_label(distribution)[0]), distribution)
    distributions.pop(OWN_DISTRIBUTION, None)
    in_order = [distributions[name] for name in sorted(distributions)]
    return [record for found in in_order for record in _declared_by(found, group, kind)]


def _declared_by(distribution, group: str, kind: str) -> Iterator[PluginRecord]:
    label = *_label(distribution), kind
    try:
        for point in sorted(distribution.entry_points.select(group=group)):
            yield PluginRecord(point.name, *label, point)
    except Exception as error:
        # Damaged files of packages without a plugin are ignored.
        if f"[{group}]" in (distribution.read_text("entry_points.txt") or ""):
            yield PluginRecord("entry_points.txt", *label, exception=error)


def _label(distribution: metadata.Distribution) -> tuple[str, str]:
    """Return name and version; with damaged metadata, the name is the path of the folder."""
    try:
        name, version = distribution.metadata.get("Name"), distribution.metadata.get("Version")
    except Exception:
        name = version = None
    return name or f"(unnamed distribution in {distribution.locate_file('')})", version or ""


def load_class(record: PluginRecord, has_hook: bool):
    """Import a plugin; return what its entry point names, or its hook registers of that name."""
    loaded, target = record.entry_point.load(), record.entry_point.value
    if isinstance(loaded, type) or not has_hook:
        return loaded
    # A manager of its own needs no lock, and a failure touches no other plugin.
    manager, registered = pluggy.PluginManager("cwboost"), []
    manager.add_hookspecs(hookspecs)
    manager.register(loaded)
    manager.check_pending()
    manager.hook.cwboost_register_families(register=registered.append)
    if not registered:
        raise TypeError(
            f"{target} must be a class, as in 'module:Class', or implement the hook "
            f"cwboost_register_families, which must register a {record.kind}"
        )
    named = [plugin for plugin in registered if getattr(plugin, "name", None) == record.name]
    return (named or registered)[0]
