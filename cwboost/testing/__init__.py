"""The conformance suite for weak-learner families.

`check_weak_learner_family` runs every check that applies to a family, without pytest;
`parametrize_with_family_checks` makes one pytest test per check. The checks are the functions
named ``check_*`` in the modules of this package; the docstring of each states the requirement.
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
