"""The conformance suite for weak-learner families.

`check_weak_learner_family` runs every check that applies to a family and needs no pytest;
`parametrize_with_family_checks` makes a pytest test of each. The checks are functions named
``check_*`` in the modules of this package; the docstring of each says what it demands.
"""

from cwboost.testing.runner import (
    FamilyCheckError,
    check_weak_learner_family,
    family_checks,
    parametrize_with_family_checks,
)

__all__ = [
    "FamilyCheckError",
    "check_weak_learner_family",
    "family_checks",
    "parametrize_with_family_checks",
]
