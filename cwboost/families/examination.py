"""Conditions on a class that is to be a weak learner or init model, and the record kept for it."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from cwboost.families.contract import API_VERSION, Capabilities, WeakLearnerFamily, WeakLearners
from cwboost.families.init_contract import FittedInit, InitModel

__all__ = [
    "INIT_MODELS",
    "WEAK_LEARNERS",
    "Kind",
    "PluginRecord",
    "describe_error",
    "examine",
    "kind_of",
    "warn_of_age",
]


@dataclass(frozen=True)
class Kind:
    """What plugins can be.

    Messages and `PluginRecord` call it `noun`. `group` is that of the entry points. A plugin
    derives from `base`, and its attribute `result` names the class of what it finds or fits, which
    derives from `result_base`. `shipped` are own classes that no entry point names, as
    ``module:name``, by their registered names.
    """

    noun: str
    group: str
    base: type
    result: str
    result_base: type
    shipped: Mapping[str, str]


WEAK_LEARNERS = Kind(
    "weak learner",
    "cwboost",
    WeakLearnerFamily,
    "learners_type",
    WeakLearners,
    {
        "mixed": "cwboost.families.composed.mixed:MixedFamily",
        "sklearn": "cwboost.families.composed.sklearn_family:SklearnFamily",
    },
)

INIT_MODELS = Kind(
    "init model",
    "cwboost.init",
    InitModel,
    "fitted_type",
    FittedInit,
    {"sklearn": "cwboost.families.init_models:SklearnInit"},
)

OLDEST_API_VERSION = 1
"""Oldest accepted version of the contract."""

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")

AUTO = "auto"
"""What parameters call the automatic choice, hence no name of a plugin."""


@dataclass(frozen=True)
class PluginRecord:
    """Record of one weak learner or init model, or of a plugin that failed before it had one.

    Parameters
    ----------
    kind : {"weak learner", "init model"}
    name : str or None
        Registered name; None if the plugin failed before it named one.
    distribution, version : str
        The installed distribution that declares the entry point.
    entry_point : str
        Name of the entry point.
    state : {"loaded", "failed", "conflict", "disabled"}
        Only what is loaded can be used.
    error : str or None
        Why it cannot be used; None if it is loaded or disabled.
    api_version : int or None
        Version of the contract that it declares; None if it declares none.
    capabilities : tuple of str
        What a weak learner declares with its default hyper-parameters.
    plugin_class : type or None
        The class, if it is loaded.
    exception : BaseException or None
        The plugin's exception, as the cause of a later error.
    is_registered : bool
        True for a class registered at run time, whose module stands for a distribution.
    """

    kind: str
    name: str | None
    distribution: str
    version: str
    entry_point: str
    state: str
    error: str | None = None
    api_version: int | None = None
    capabilities: tuple[str, ...] = ()
    plugin_class: type | None = field(default=None, repr=False)
    exception: BaseException | None = field(default=None, repr=False, compare=False)
    is_registered: bool = field(default=False, repr=False)

    @property
    def source(self) -> str:
        """Return the owner as messages name it."""
        if self.is_registered:
            return f"the class {self.distribution}.{self.entry_point}"
        return f"{self.distribution} {self.version}".rstrip()


def examine(kind: Kind, plugin_class, instance=None) -> tuple[str, ...]:
    """Raise TypeError or ValueError unless a class keeps its contract; return its capabilities.

    By default, an `instance` without arguments is made.
    """
    base = kind.base
    if not (isinstance(plugin_class, type) and issubclass(plugin_class, base)):
        raise TypeError(
            f"plugin must be a subclass of {base.__name__}, got {kind_of(plugin_class)}"
        )
    label = plugin_class.__name__
    name = getattr(plugin_class, "name", None)
    if not (isinstance(name, str) and NAME.fullmatch(name)) or name == AUTO:
        raise ValueError(
            f"{label}.name must be a str of letters, digits, '_', '-' and '.' that begins with a "
            f"letter, other than {AUTO!r}, got {name!r}"
        )
    _check_version(kind, plugin_class)
    if inspect.isabstract(plugin_class):
        missing = ", ".join(sorted(plugin_class.__abstractmethods__))
        raise TypeError(f"{label} does not define {missing}")
    result = getattr(plugin_class, kind.result, None)
    if not (isinstance(result, type) and issubclass(result, kind.result_base)):
        wanted, got = kind.result_base.__name__, kind_of(result)
        raise TypeError(f"{label}.{kind.result} must be a subclass of {wanted}, got {got}")
    for method in ("from_arrays", "concatenate"):
        found = inspect.getattr_static(result, method, staticmethod(None))
        if not isinstance(found, (classmethod, staticmethod)):
            raise TypeError(
                f"{result.__name__}.{method} must not take self: put @classmethod before it"
            )
    made = plugin_class() if instance is None else instance
    if kind is not WEAK_LEARNERS:
        return ()
    if not isinstance(made.capabilities, Capabilities):
        got = kind_of(made.capabilities)
        raise TypeError(f"{label}.capabilities must be a Capabilities, got {got}")
    return tuple(made.capabilities.names())


def _check_version(kind: Kind, plugin_class) -> None:
    label, version = plugin_class.__name__, getattr(plugin_class, "api_version", None)
    if isinstance(version, bool) or not isinstance(version, int):
        raise TypeError(f"{label}.api_version must be an int, got {version!r}")
    if not OLDEST_API_VERSION <= version <= API_VERSION:
        remedy = "the plugin needs an update" if version < API_VERSION else "cwboost is too old"
        raise ValueError(
            f"{label} is written for version {version} of the contract of a {kind.noun}, this "
            f"cwboost accepts versions {OLDEST_API_VERSION} to {API_VERSION}: {remedy}"
        )


def warn_of_age(family_class: type[WeakLearnerFamily]) -> None:
    """Warn the caller's caller of a family that is written for an old version of the contract."""
    if family_class.api_version < API_VERSION:
        warnings.warn(
            f"the weak learner {family_class.name!r} is written for version "
            f"{family_class.api_version} of its contract; this cwboost has version {API_VERSION} "
            "and a later one will refuse it: the plugin needs an update",
            DeprecationWarning,
            stacklevel=3,
        )


def describe_error(error: BaseException) -> str:
    """Return the error's type and text on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def kind_of(value) -> str:
    """Return the name that messages give to the type of a value."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
