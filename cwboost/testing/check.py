"""What a check is: a function, what to do if it fails, the claim without which it is left out."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

CHECKS: list["Check"] = []
"""All checks, the basic ones first: the first that fails is the cause of what follows."""


@dataclass(frozen=True)
class Check:
    """A check: `run` takes a plugin of the `kind` "family", "model" (an init model) or "plugin"."""

    run: Callable[..., None]
    remedy: str
    claim: str | None  # it applies to families that make this claim
    has_own_widths: bool  # it needs other numbers of features than a family with `make_X` takes

    @property
    def name(self) -> str:
        """Return the name of the function."""
        return self.run.__name__

    @property
    def kind(self) -> str:
        """Return the name of what the function takes."""
        return next(iter(signature(self.run).parameters))


def check(remedy: str, claim: str | None = None, has_own_widths: bool = False) -> Callable:
    """Make the function below a check."""

    def register(run):
        CHECKS.append(Check(run, remedy, claim, has_own_widths))
        return run

    return register


def remedy_of(check: Check, plugin: Any, error: BaseException) -> str:
    """Return what to do about an error: mend the plugin's line that raised it, if one did."""
    package = type(plugin).__module__.partition(".")[0]
    lines = [
        f"line {line} of {frame.f_code.co_filename}, in {frame.f_code.co_name}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").partition(".")[0] == package
    ]
    if package == "cwboost" or not lines:
        return check.remedy
    if isinstance(error, ValueError) and getattr(error, "refused_examples", False):
        return f"Mend {lines[-1]}, or give the suite examples that the plugin takes by make_X."
    return f"Mend {lines[-1]}."
