"""Selection of the checks that apply to a family, and running them with or without pytest."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from cwboost.families.contract import Pricer, WeakLearnerFamily, WeakLearners
from cwboost.families.examination import describe_error
from cwboost.families.partitioned import PartitionedFamily
from cwboost.families.sealing import add_note
from cwboost.testing import (
    checks_capabilities,
    checks_categories,
    checks_contract,
    checks_exactness,
    checks_input,
    checks_learners,
    checks_life,
    checks_loading,
    checks_pricing,
)
from cwboost.testing.material import bind, material_of, pixels
from cwboost.testing.remedies import remedy

__all__ = [
    "Check",
    "FamilyCheckError",
    "check_weak_learner_family",
    "family_checks",
    "parametrize_with_family_checks",
]

MakeX = Callable[[WeakLearnerFamily, int, np.random.Generator], np.ndarray]
BruteForce = Callable[[WeakLearnerFamily, np.ndarray], "np.ndarray | WeakLearners"]

MODULES = (
    checks_contract,
    checks_pricing,
    checks_exactness,
    checks_learners,
    checks_loading,
    checks_input,
    checks_life,
    checks_capabilities,
    checks_categories,
)

OWN_WIDTHS = {"check_categories", "check_exact_at_scale", "check_monotonic", "check_one_feature"}
OWN_WIDTHS |= {"check_sparse_memory"}
"""Checks that need other numbers of features than a family with `make_X` takes."""

# A check of a claim applies only to a family that makes the claim.
CLAIM_OF_CHECK = {
    "check_categories": "max_categories",
    "check_determinism": "deterministic",
    "check_exact_at_scale": "exact",
    "check_exact_pricing": "exact",
    "check_missing_values": "missing_values",
    "check_monotonic": "monotonic",
    "check_partitions": "partitioned",
    "check_several_columns": "several_columns",
    "check_symmetric": "symmetric",
    "check_sparse_input": "sparse_input",
    "check_sparse_memory": "sparse_input",
    "check_shared_pricing_is_own": "shared_pricing",
    "check_releases_gil": "releases_gil",
}


class FamilyCheckError(AssertionError):
    """Error for a family that breaks the contract.

    Parameters
    ----------
    family : WeakLearnerFamily
        The family that was checked; the message names it.
    failures : mapping
        Exception of each failed check, by the name of the check.

    Attributes
    ----------
    failures : dict
        Exception of each failed check, by the name of the check.
    """

    def __init__(self, family: WeakLearnerFamily, failures: Mapping[str, Exception]):
        self.failures = dict(failures)
        lines = [f"{family!r} fails {len(failures)} checks of a weak-learner family:"]
        for name, error in failures.items():
            lines += [f"  {name}: {describe_error(error)}", f"    {remedy(name, error)}"]
        super().__init__("\n".join(lines))


@dataclass(frozen=True)
class Check:
    """A check, callable with a family."""

    function: Callable[..., None]
    brute_force: BruteForce | None = None
    make_X: MakeX | None = None

    @property
    def name(self) -> str:
        """Name of the check, as used in `expected_failures`."""
        return self.function.__name__

    def __call__(self, family: WeakLearnerFamily) -> None:
        """Run the check; an error says what the family does wrong, its note what to do."""
        given = {"brute_force": self.brute_force} if self.name == "check_exact_pricing" else {}
        try:
            with _material(family, self.make_X):
                self.function(family, **given)
        except Exception as error:
            add_note(error, remedy(self.name, error))
            raise


def _material(family, make_X):
    """Let checks take their examples from `make_X`, or from the family's method of that name."""
    make_X = make_X or getattr(type(family), "make_X", None)
    return material_of(None if make_X is None else partial(make_X, family))


def family_checks(
    family: WeakLearnerFamily,
    *,
    brute_force: BruteForce | None = None,
    make_X: MakeX | None = None,
) -> list[Check]:
    """Return the checks that apply to a family with its present hyper-parameters.

    Parameters
    ----------
    family : WeakLearnerFamily
    brute_force, make_X : callable, optional
        See `check_weak_learner_family`.

    Returns
    -------
    list of Check
        Each with a ``name``; call it with the family.
    """
    with _material(family, make_X):
        claims = _claims(family)
    makes_X = make_X is not None or hasattr(family, "make_X")
    checks = []
    for function in _all_checks():
        claim = CLAIM_OF_CHECK.get(function.__name__)
        applies = claim is None or claim in claims
        if applies and not (makes_X and function.__name__ in OWN_WIDTHS):
            checks.append(Check(function, brute_force, make_X))
    return checks


def _claims(family: WeakLearnerFamily) -> set[str]:
    """Capabilities of the family, and what its pricer says of itself."""
    claims = set(family.capabilities.names())
    try:
        pricer = bind(family, pixels())
    except Exception:
        return claims  # the checks, all of which bind the family, say what is wrong
    claims |= {name for name in ("exact", "releases_gil") if getattr(pricer, name) is True}
    if type(pricer).price_shared is not Pricer.price_shared:
        claims.add("shared_pricing")
    if _prices_on_partitions(family):
        claims.add("partitioned")
    return claims


def _prices_on_partitions(family: WeakLearnerFamily) -> bool:
    if not isinstance(family, PartitionedFamily):
        return False
    try:
        family.check_partitioned()
    except (TypeError, ValueError):
        return False
    return True


def check_weak_learner_family(
    family: WeakLearnerFamily,
    *,
    brute_force: BruteForce | None = None,
    make_X: MakeX | None = None,
    expected_failures: Mapping[str, str] | None = None,
) -> None:
    """Run every check that applies to a family.

    Parameters
    ----------
    family : WeakLearnerFamily
        With the hyper-parameters to be tested; it is not changed.
    brute_force : callable, optional
        ``brute_force(family, X)`` returns every learner of the family that can be distinguished
        on `X`, as `WeakLearners` or as their outputs, an array of -1 and +1 of shape
        (n_samples, n_learners). Exact pricing is then compared with the best of them. The family
        may have a method ``brute_force(X)`` instead. Without either, exactness is tested against
        sampled learners of the family and against weights whose best edge is known. The matrices
        have at most 24 rows and 3 columns, and NaN if the family declares ``missing_values``.
    make_X : callable, optional
        ``make_X(family, n_samples, rng)`` returns examples that the family takes, for one that
        cannot take any number of features or any values, such as images of a given shape:
        an array of shape (n_samples, n_features), drawn with the generator `rng`. The family may
        have a method ``make_X(n_samples, rng)`` instead. Checks that need other numbers of
        features do not apply.
    expected_failures : mapping of str to str, optional
        Names of checks that the family is known to fail, with the reason. A listed check that
        passes is reported as a failure, so that the list stays current.

    Raises
    ------
    FamilyCheckError
        If a check fails; an AssertionError that lists all failed checks. The error of the first
        is its cause.
    ValueError
        If `expected_failures` has an unknown name, a check that does not apply, or an empty
        reason.
    """
    checks = family_checks(family, brute_force=brute_force, make_X=make_X)
    expected = _validated_expectations(expected_failures, checks)
    failures: dict[str, Exception] = {}
    for check in checks:
        try:
            check(family)
        except Exception as error:
            if check.name not in expected:
                failures[check.name] = error
        else:
            if check.name in expected:
                failures[check.name] = AssertionError(
                    f"passes, but was expected to fail ({expected[check.name]})"
                )
    if failures:
        raise FamilyCheckError(family, failures) from next(iter(failures.values()))


def parametrize_with_family_checks(
    families: Iterable[WeakLearnerFamily],
    *,
    brute_force: BruteForce | None = None,
    make_X: MakeX | None = None,
    expected_failures: (
        Mapping[str, str] | Callable[[WeakLearnerFamily], Mapping[str, str]] | None
    ) = None,
):
    """Return a pytest decorator that makes one test per check and family.

    Parameters
    ----------
    families : iterable of WeakLearnerFamily
    brute_force, make_X : callable, optional
        As in `check_weak_learner_family`.
    expected_failures : mapping, or callable that takes a family and returns one, optional
        As in `check_weak_learner_family`; the tests are marked ``xfail(strict=True)``.

    Examples
    --------
    >>> @parametrize_with_family_checks([MyFamily(), MyFamily(size=3)])  # doctest: +SKIP
    ... def test_family(family, check):
    ...     check(family)
    """
    import pytest

    params = []
    for family in families:
        checks = family_checks(family, brute_force=brute_force, make_X=make_X)
        given = expected_failures(family) if callable(expected_failures) else expected_failures
        expected = _validated_expectations(given, checks)
        for check in checks:
            marks = []
            if check.name in expected:
                marks = [pytest.mark.xfail(strict=True, reason=expected[check.name])]
            identifier = f"{' '.join(repr(family).split())}-{check.name}"
            params.append(pytest.param(family, check, id=identifier, marks=marks))
    return pytest.mark.parametrize("family, check", params)


@functools.cache
def _all_checks() -> tuple[Callable[..., None], ...]:
    """Return every function ``check_*``, in the order in which the modules define them."""
    return tuple(
        value
        for module in MODULES
        for name, value in vars(module).items()
        if name.startswith("check_") and value.__module__ == module.__name__
    )


def _validated_expectations(expected, checks) -> dict[str, str]:
    expected = dict(expected or {})
    applicable = {check.name for check in checks}
    for name, reason in expected.items():
        if name not in applicable:
            exists = name in {function.__name__ for function in _all_checks()}
            problem = "does not apply to this family" if exists else "is not a check"
            raise ValueError(
                f"expected_failures: {name!r} {problem}; those that apply: {sorted(applicable)}"
            )
        if not (isinstance(reason, str) and reason.strip()):
            raise ValueError(f"expected_failures[{name!r}] must give a reason, got {reason!r}")
    return expected
