"""Discovery of weak-learner families through the entry-point group ``cwboost``.

An entry point names a module (or object) that implements the hooks of `cwboost.hookspecs`. The
families of cwboost's own distribution are loaded first and alone; those of other distributions
only when a name is asked for that is none of them, or when plugins are listed. Each plugin gets a
hook manager of its own, so that whatever goes wrong in one is recorded there and touches no other.

Environment:
    CWBOOST_PLUGINS=0    do not look at other distributions at all
"""

from __future__ import annotations

import os
import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import metadata

import pluggy

from cwboost import hookspecs
from cwboost.families.contract import Capabilities, WeakLearnerFamily
from cwboost.families.examination import PluginRecord, describe_error, examine_family, kind_of

__all__ = [
    "FamilyError",
    "PluginRecord",
    "check_capabilities",
    "get_family",
    "list_plugins",
    "refresh",
    "resolve_weak_learner",
    "third_parties_enabled",
]

GROUP = "cwboost"
OWN_DISTRIBUTION = "cwboost"


class FamilyError(ValueError):
    """A weak-learner family that is unknown, failed to load, or is registered twice."""


# --- the public questions -----------------------------------------------------------------------


def get_family(name: str) -> type[WeakLearnerFamily]:
    """The class of a registered family.

    Parameters
    ----------
    name : str
        Its registered name.

    Raises
    ------
    FamilyError
        (a ValueError) If no family has the name, if two have it, or if the plugin that should
        bring it failed; the message says which, with the plugin's own error.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a weak learner must be a str, got {kind_of(name)}")
    own = _registry.own()
    family = _pick(name, own)
    if family is not None:
        return family
    others = _registry.others() if third_parties_enabled() else []
    family = _pick(name, others)
    if family is not None:
        return family
    raise FamilyError(_unknown_message(name, [*own, *others]))


def resolve_weak_learner(spec: str | WeakLearnerFamily) -> WeakLearnerFamily:
    """The family instance that an estimator's ``weak_learner`` asks for.

    Parameters
    ----------
    spec : str or WeakLearnerFamily
        A registered name, for the family with its default hyper-parameters, or an instance,
        which is returned as it is.

    Raises
    ------
    TypeError
        For anything else.
    FamilyError
        For a name that cannot be used (see `get_family`) or an instance that breaks the contract.
    """
    if isinstance(spec, str):
        return get_family(spec)()
    if isinstance(spec, WeakLearnerFamily):
        try:
            examine_family(type(spec), spec)
        except (TypeError, ValueError) as error:
            raise FamilyError(f"weak_learner={spec!r} cannot be used: {error}") from error
        return spec
    hint = ""
    if isinstance(spec, type) and issubclass(spec, WeakLearnerFamily):
        hint = f"; pass an instance: {spec.__name__}()"
    raise TypeError(
        "weak_learner must be the name of a registered family or a WeakLearnerFamily instance, "
        f"got {kind_of(spec)}{hint}"
    )


def list_plugins() -> list[PluginRecord]:
    """Every family and every failure, cwboost's own first, the others by distribution."""
    return [*_registry.own(), *(_registry.others() if third_parties_enabled() else [])]


def third_parties_enabled() -> bool:
    """Whether families of other distributions are looked for (see ``CWBOOST_PLUGINS``)."""
    value = os.environ.get("CWBOOST_PLUGINS", "1")
    if value not in ("0", "1"):
        raise ValueError(f"the environment variable CWBOOST_PLUGINS must be 0 or 1, got {value!r}")
    return value == "1"


def refresh() -> None:
    """Forget what was discovered, so that packages installed since are found."""
    _registry.clear()


def check_capabilities(
    family: WeakLearnerFamily,
    *,
    has_missing: bool = False,
    is_sparse: bool = False,
    requires: Iterable[str] = (),
) -> None:
    """Refuse, before training starts, what a family does not declare that it can do.

    Parameters
    ----------
    family : WeakLearnerFamily
    has_missing : bool, default=False
        The training matrix holds NaN.
    is_sparse : bool, default=False
        The training matrix is sparse.
    requires : iterable of str, default=()
        Further capabilities (names of `Capabilities`) that the caller relies on.

    Raises
    ------
    ValueError
        Naming the family, what is needed, and the registered families that have it.
    """
    needed = dict.fromkeys(requires, "is required")
    unknown = sorted(set(needed) - set(Capabilities.__dataclass_fields__))
    if unknown:
        raise ValueError(f"requires names no capability of a family: {', '.join(unknown)}")
    if has_missing:
        needed["missing_values"] = "is needed because X contains NaN"
    if is_sparse:
        needed["sparse_input"] = "is needed because X is sparse"
    declared = family.capabilities
    lacking = [capability for capability in needed if not getattr(declared, capability)]
    if not lacking:
        return
    reasons = "; ".join(f"{capability} {needed[capability]}" for capability in lacking)
    able = [
        repr(record.family)
        for record in list_plugins()
        if record.state == "loaded" and set(lacking) <= set(record.capabilities)
    ]
    raise ValueError(
        f"weak learner {family.name!r} ({family!r}) lacks a capability: {reasons}. "
        f"Registered families with {' and '.join(lacking)}: {', '.join(able) or 'none'}."
    )


# --- loading ------------------------------------------------------------------------------------


class _Registry:
    """Records of discovery, filled on demand and kept for the life of the process."""

    def __init__(self):
        self._lock = threading.RLock()
        self._loading = False
        self.clear()

    def clear(self) -> None:
        with self._lock:
            self._own: list[PluginRecord] | None = None
            self._others: list[PluginRecord] | None = None

    def own(self) -> list[PluginRecord]:
        with self._lock:
            if self._own is None:
                distribution = metadata.distribution(OWN_DISTRIBUTION)
                self._own = self._load([distribution], taken={})
            return self._own

    def others(self) -> list[PluginRecord]:
        with self._lock:
            if self._others is None:
                # An entry point that failed still reserves its name: a third party must not
                # stand in for a family of cwboost that is broken.
                taken = {}
                for record in self.own():
                    taken[record.family or record.entry_point] = record.source
                self._others = self._load(_other_distributions(), taken)
            return self._others

    def _load(self, distributions, taken) -> list[PluginRecord]:
        if self._loading:
            raise RuntimeError("a plugin asked for families while plugins were being loaded")
        self._loading = True
        try:
            records = []
            for distribution in distributions:
                records.extend(_load_distribution(distribution, taken))
        finally:
            self._loading = False
        return _mark_conflicts(records)


_registry = _Registry()


def _other_distributions() -> list[metadata.Distribution]:
    """Installed distributions but our own, the first on the path of each name, sorted by name."""
    found = {}
    for distribution in metadata.distributions():
        name, _ = _label(distribution)
        key = re.sub(r"[-_.]+", "-", name).lower()
        found.setdefault(key, distribution)
    found.pop(OWN_DISTRIBUTION, None)
    return [found[key] for key in sorted(found)]


def _label(distribution: metadata.Distribution) -> tuple[str, str]:
    """Name and version; a folder with damaged metadata is named by where it is."""
    try:
        name, version = distribution.metadata.get("Name"), distribution.metadata.get("Version")
    except Exception:
        name = version = None
    return name or f"(unnamed distribution in {distribution.locate_file('')})", version or ""


def _load_distribution(distribution, taken) -> Iterator[PluginRecord]:
    name, version = _label(distribution)
    try:
        entry_points = sorted(distribution.entry_points.select(group=GROUP))
    except Exception as error:
        # Other packages' damaged files are none of our business.
        if f"[{GROUP}]" in (distribution.read_text("entry_points.txt") or ""):
            yield PluginRecord(
                None, name, version, "", "failed", describe_error(error), exception=error
            )
        return
    for entry_point in entry_points:
        base = PluginRecord(None, name, version, entry_point.name, "failed")
        yield from _load_plugin(entry_point, base, taken)


def _load_plugin(entry_point, base: PluginRecord, taken) -> list[PluginRecord]:
    """Import a plugin, call its hooks and examine what it registers; never raises."""
    try:
        candidates = _call_hooks(entry_point)
    except (Exception, SystemExit) as error:
        return [replace(base, error=describe_error(error), exception=error)]
    if not candidates:
        return [replace(base, error="the plugin registered no family")]
    return [_examine_candidate(candidate, base, taken) for candidate in candidates]


def _call_hooks(entry_point) -> list:
    """What a plugin registers, through a hook manager that knows this plugin only."""
    manager = pluggy.PluginManager("cwboost")
    manager.add_hookspecs(hookspecs)
    plugin = entry_point.load()
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


def _examine_candidate(candidate, base: PluginRecord, taken) -> PluginRecord:
    """The record of one registered object, which may be anything at all."""
    name = getattr(candidate, "name", None)
    if isinstance(candidate, type) and isinstance(name, str):
        base = replace(base, family=name)
    version = getattr(candidate, "api_version", None)
    if isinstance(version, int):
        base = replace(base, api_version=version)
    try:
        capabilities = examine_family(candidate)
        if name in taken:
            raise ValueError(f"the name {name!r} is taken by {taken[name]}")
    except (Exception, SystemExit) as error:
        return replace(base, error=describe_error(error), exception=error)
    return replace(
        base, state="loaded", capabilities=tuple(capabilities.names()), family_class=candidate
    )


def _mark_conflicts(records: list[PluginRecord]) -> list[PluginRecord]:
    """Two loaded families of one name: neither can be used, and both say why."""
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


# --- messages -----------------------------------------------------------------------------------


def _pick(name: str, records: list[PluginRecord]) -> type[WeakLearnerFamily] | None:
    """The loaded family of this name; raises where the name belongs to one that is broken."""
    broken = []
    for record in records:
        if record.family == name and record.state == "loaded":
            return record.family_class
        if name == (record.family or record.entry_point):
            broken.append(record)
    if not broken:
        return None
    if broken[0].state == "conflict":
        raise FamilyError(broken[0].error)
    reasons = "; ".join(f"{record.source}: {record.error}" for record in broken)
    raise FamilyError(
        f"weak learner {name!r} cannot be used, its plugin failed: {reasons}"
    ) from broken[0].exception


def _unknown_message(name: str, records: list[PluginRecord]) -> str:
    known = sorted({record.family for record in records if record.state == "loaded"})
    message = f"unknown weak learner {name!r}; known: {', '.join(map(repr, known)) or 'none'}"
    failed = [record for record in records if record.state != "loaded"]
    if failed:
        reasons = (
            f"{record.source} ({record.family or record.entry_point}): {record.error}"
            for record in failed
        )
        message += f". Plugins that failed: {'; '.join(reasons)}"
    if not third_parties_enabled():
        message += ". Plugins of other distributions are off (CWBOOST_PLUGINS=0)"
    return message
