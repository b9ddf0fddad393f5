"""Conditions on a class that is to be a weak-learner family, and the record kept for it."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field

from cwboost.families.contract import API_VERSION, Capabilities, WeakLearnerFamily, WeakLearners

__all__ = ["PluginRecord", "describe_age", "describe_error", "examine_family", "kind_of"]

OLDEST_API_VERSION = 1
"""Oldest accepted version of the contract."""

FAMILY_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class PluginRecord:
    """Record of one family, or of a plugin that failed before it registered a family.

    Parameters
    ----------
    family : str or None
        Registered name; None if the plugin failed before it named one.
    distribution, version : str
        The installed distribution that declares the entry point.
    entry_point : str
        Name of the entry point.
    state : {"loaded", "failed", "conflict", "disabled"}
        Only a loaded family can be used.
    error : str or None
        Why the family cannot be used; None if it is loaded or disabled.
    api_version : int or None
        Version of the contract that the family declares; None if it declares none.
    capabilities : tuple of str
        What the family declares with its default hyper-parameters.
    family_class : type or None
        The class, if it is loaded.
    exception : BaseException or None
        The plugin's exception, as the cause of a later error.
    is_registered : bool
        True for a class registered at run time, whose module stands for a distribution.
    """

    family: str | None
    distribution: str
    version: str
    entry_point: str
    state: str
    error: str | None = None
    api_version: int | None = None
    capabilities: tuple[str, ...] = ()
    family_class: type[WeakLearnerFamily] | None = field(default=None, repr=False)
    exception: BaseException | None = field(default=None, repr=False, compare=False)
    is_registered: bool = field(default=False, repr=False)

    @property
    def source(self) -> str:
        """Return distribution and version as messages name them."""
        return f"{self.distribution} {self.version}".rstrip()


def examine_family(family_class, instance=None) -> Capabilities:
    """Check that a class keeps the contract of a family; return the capabilities it declares."""
    if not (isinstance(family_class, type) and issubclass(family_class, WeakLearnerFamily)):
        raise TypeError(f"expected a subclass of WeakLearnerFamily, got {kind_of(family_class)}")
    label = family_class.__name__
    name = getattr(family_class, "name", None)
    if not (isinstance(name, str) and FAMILY_NAME.fullmatch(name)):
        raise ValueError(
            f"{label}.name must be a str of letters, digits, '_', '-' and '.' that begins with a "
            f"letter, got {name!r}"
        )
    version = getattr(family_class, "api_version", None)
    if isinstance(version, bool) or not isinstance(version, int):
        raise TypeError(f"{label}.api_version must be an int, got {version!r}")
    if not OLDEST_API_VERSION <= version <= API_VERSION:
        remedy = "the plugin needs an update" if version < API_VERSION else "cwboost is too old"
        raise ValueError(
            f"{label} is written for version {version} of the contract of a family, this cwboost "
            f"accepts {_accepted()}: {remedy}"
        )
    if inspect.isabstract(family_class):
        missing = ", ".join(sorted(family_class.__abstractmethods__))
        raise TypeError(f"{label} does not define {missing}")
    learners_type = getattr(family_class, "learners_type", None)
    if not (isinstance(learners_type, type) and issubclass(learners_type, WeakLearners)):
        got = kind_of(learners_type)
        raise TypeError(f"{label}.learners_type must be a subclass of WeakLearners, got {got}")
    capabilities = (family_class() if instance is None else instance).capabilities
    if not isinstance(capabilities, Capabilities):
        raise TypeError(f"{label}.capabilities must be a Capabilities, got {kind_of(capabilities)}")
    return capabilities


def _accepted() -> str:
    if OLDEST_API_VERSION == API_VERSION:
        return f"version {API_VERSION}"
    return f"versions {OLDEST_API_VERSION} to {API_VERSION}"


def describe_age(family_class: type[WeakLearnerFamily]) -> str | None:
    """Return a warning for a family of an old version of the contract; None for the present one."""
    version = family_class.api_version
    if version >= API_VERSION:
        return None
    return (
        f"the weak learner {family_class.name!r} is written for version {version} of the contract "
        f"of a family; this cwboost has version {API_VERSION} and a later one will refuse it: the "
        "plugin needs an update"
    )


def describe_error(error: BaseException) -> str:
    """Return the error's type and text on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def kind_of(value) -> str:
    """Return the name that messages give to the type of a value."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
