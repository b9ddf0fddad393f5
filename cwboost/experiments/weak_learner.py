"""The weak learner of a reproduction, as text: ``stump`` or ``tree:max_depth=2``."""

from __future__ import annotations

import ast
from contextlib import suppress

from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.discovery import get_family

__all__ = ["parse_weak_learner"]


def parse_weak_learner(text: str) -> WeakLearnerFamily:
    """Return the family of ``NAME`` or ``NAME:PARAMETER=VALUE,...``, with literals or words."""
    registered, _, parameters = text.partition(":")
    family = get_family(registered)()
    for part in filter(None, parameters.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"weak_learner must be NAME:PARAMETER=VALUE,..., got {text!r}")
        with suppress(SyntaxError, ValueError):  # a word stays as it is
            value = ast.literal_eval(value)
        family.set_params(**{name: value})
    return family
