"""Names of the rules by which scores become class scores and probabilities, for export."""

from __future__ import annotations

__all__ = ["export_rule", "rule_of"]


def export_rule(name: str):
    """Decorate a method with the name of its rule; a method that overrides it has none."""

    def decorate(method):
        method.export_rule = name
        return method

    return decorate


def rule_of(estimator, method: str) -> str | None:
    """Return the name of the rule that a method of an estimator computes, None without a name."""
    return getattr(getattr(type(estimator), method), "export_rule", None)
