"""Weak-learner families: the contract, their discovery, families composed of other things."""

from importlib import import_module

_LAZY = {
    "DerivedFeatureFamily": "cwboost.families.composed.derived_features",
    "MixedFamily": "cwboost.families.composed.mixed",
    "SklearnFamily": "cwboost.families.composed.sklearn_family",
}
__all__ = sorted(_LAZY)


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
