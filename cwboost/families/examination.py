"""Conditions on a class that is to be a weak learner or init model."""

import inspect
import re
from dataclasses import dataclass

from cwboost.families.contract import API_VERSION, Capabilities, WeakLearnerFamily
from cwboost.support.warnings import warn_caller


@dataclass(eq=False)
class Kind:
    """What plugins can be.

    Messages call it `noun`. `group` is that of the entry points. A plugin derives from `base`, and
    its attribute `result` names the class of what it finds or fits, which derives from
    `result_base`.
    """

    noun: str
    group: str
    base: type
    result: str
    result_base: type


OLDEST_API_VERSION = 1
"""Oldest accepted version of the contract."""

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")

AUTO = "auto"
"""What parameters call the automatic choice, hence no name of a plugin."""


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
    if not isinstance(made, WeakLearnerFamily):
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


def warn_of_age(kind: Kind, plugin_class) -> None:
    """Warn the caller of a class that is written for an old version of its contract."""
    if plugin_class.api_version < API_VERSION:
        warn_caller(
            f"the {kind.noun} {plugin_class.name!r} is written for version "
            f"{plugin_class.api_version} of its contract; this cwboost has version {API_VERSION} "
            "and a later one will refuse it: the plugin needs an update",
            DeprecationWarning,
        )


def describe_error(error: BaseException) -> str:
    """Return the error's type and text on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def kind_of(value) -> str:
    """Return the name that messages give to the type of a value."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
