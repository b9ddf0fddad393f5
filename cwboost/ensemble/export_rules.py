"""Names of the rules by which scores become class scores and probabilities, for export."""


def export_rule(name: str):
    """Decorate a method with the name of its rule; a method that overrides it has none."""

    def decorate(method):
        method.export_rule = name
        return method

    return decorate


def rule_of(estimator, method: str) -> str | None:
    """Return the name of the rule that a method of a classifier computes, None without a name."""
    function = getattr(type(estimator), method, None)
    if function is None:
        raise TypeError(
            f"classifier must be one of cwboost, got {type(estimator).__name__}; of a search, pass "
            "its best_estimator_"
        )
    return getattr(function, "export_rule", None)


def sums_votes(classifier) -> bool:
    """Return whether the scores of the classes are the sums of the learners' votes."""
    return rule_of(classifier, "_class_scores") == "identity"


def require_votes(classifier) -> None:
    """Raise TypeError unless the classifier `sums_votes`."""
    if not sums_votes(classifier):
        raise TypeError(
            "classifier must have scores that are sums of votes for classes, got "
            f"{type(classifier).__name__}"
        )
