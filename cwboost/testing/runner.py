"""Selection of the checks that apply to a plugin, and running them with or without pytest."""

import functools
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import signature

import numpy as np

from cwboost.families.contract import Pricer, WeakLearnerFamily, WeakLearners
from cwboost.families.init_contract import InitModel
from cwboost.families.partitioned import PartitionedFamily
from cwboost.families.plugin_loading import describe_error
from cwboost.families.sealing.faults import add_note
from cwboost.testing import (
    checks_capabilities,
    checks_contract,
    checks_exactness,
    checks_init,
    checks_input,
    checks_learners,
    checks_life,
    checks_pricing,
)
from cwboost.testing.material import bind, material_of, pixels
from cwboost.testing.remedies import cause, remedy

Plugin = WeakLearnerFamily | InitModel
MakeX = Callable[[Plugin, int, np.random.Generator], np.ndarray]
BruteForce = Callable[[WeakLearnerFamily, np.ndarray], "np.ndarray | WeakLearners"]

MODULES = (
    checks_contract,
    checks_pricing,
    checks_exactness,
    checks_learners,
    checks_input,
    checks_life,
    checks_capabilities,
    checks_init,
)

OWN_WIDTHS = {"check_exact_at_scale", "check_monotonic", "check_one_feature"}
OWN_WIDTHS |= {"check_sparse_memory", "check_interactions"}
"""Checks that need other numbers of features than a family with `make_X` takes."""

# A check of a claim applies only to a family that makes the claim.
CLAIM_OF_CHECK = {
    "check_bind_rows": "bind_rows",
    "check_candidates": "candidates",
    "check_determinism": "deterministic",
    "check_exact_at_scale": "exact",
    "check_exact_pricing": "exact",
    "check_interactions": "interactions",
    "check_missing_values": "missing_values",
    "check_monotonic": "monotonic",
    "check_partitions": "partitioned",
    "check_rebound": "rebound",
    "check_divisions": "divides",
    "check_symmetric": "symmetric",
    "check_sparse_input": "sparse_input",
    "check_sparse_memory": "sparse_input",
}


class PluginCheckError(AssertionError):
    """Error for a plugin that breaks its contract.

    Parameters
    ----------
    plugin : WeakLearnerFamily or InitModel
        The plugin that was checked; the message names it.
    failures : mapping, also an attribute
        Exception of each failed check, by the name of the check.

    Attributes
    ----------
    causes : list of str
        Errors with what to do about them. What one line raises in several checks is one cause.
    """

    def __init__(self, plugin: Plugin, failures: Mapping[str, Exception]):
        self.failures = dict(failures)
        met: dict[str, dict[str, Exception]] = {}
        for name, error in failures.items():
            met.setdefault(cause(plugin, error) or name, {})[name] = error
        self.causes = [_describe(plugin, errors) for errors in met.values()]
        checks = "1 check" if len(failures) == 1 else f"{len(failures)} checks"
        head = f"{plugin!r} fails {checks} of its contract:"
        super().__init__("\n".join([head, *self.causes]))


def _describe(plugin: Plugin, errors: Mapping[str, Exception]) -> str:
    """Return the first of the errors, what to do, and the number of the other checks."""
    name, error = next(iter(errors.items()))
    lines = [f"  {name}: {describe_error(error)}", f"    {remedy(plugin, errors)}"]
    if len(errors) > 1:
        lines.append(f"    The same error fails {len(errors) - 1} other checks.")
    return "\n".join(lines)


@dataclass(frozen=True)
class Check:
    """A check, callable with a plugin."""

    function: Callable[..., None]
    brute_force: BruteForce | None = None
    make_X: MakeX | None = None

    @property
    def name(self) -> str:
        """Name of the check, as used in `expected_failures`."""
        return self.function.__name__

    def __call__(self, plugin: Plugin) -> None:
        """Run the check; an error says what the plugin does wrong, its note what to do."""
        given = {"brute_force": self.brute_force} if self.name == "check_exact_pricing" else {}
        try:
            with material_of(self.make_X and partial(self.make_X, plugin)):
                self.function(plugin, **given)
        except Exception as error:
            add_note(error, remedy(plugin, {self.name: error}))
            raise


def plugin_checks(
    plugin: Plugin,
    *,
    brute_force: BruteForce | None = None,
    make_X: MakeX | None = None,
) -> list[Check]:
    """Return the checks that apply to a plugin with its present hyper-parameters.

    Parameters
    ----------
    plugin : WeakLearnerFamily or InitModel
    brute_force, make_X : callable, optional
        See `check_plugin`.

    Returns
    -------
    list of Check
        Each with a ``name``; call it with the plugin.
    """
    if not isinstance(plugin, WeakLearnerFamily | InitModel):
        raise TypeError(f"plugin must be a WeakLearnerFamily or an InitModel, got {plugin!r}")
    is_family, excluded = isinstance(plugin, WeakLearnerFamily), set()
    if is_family:
        with material_of(make_X and partial(make_X, plugin)):
            claims = _claims(plugin)
        excluded = {name for name, claim in CLAIM_OF_CHECK.items() if claim not in claims}
        excluded |= OWN_WIDTHS if make_X else set()
    # The name of what a check takes says what it is for.
    taken = {"plugin", "family" if is_family else "model"}
    return [
        Check(function, brute_force, make_X)
        for function in _all_checks()
        if taken & signature(function).parameters.keys() and function.__name__ not in excluded
    ]


def _claims(family: WeakLearnerFamily) -> set[str]:
    """Capabilities of the family, and what its pricer says of itself."""
    claims: set[str] = set()
    try:
        claims.update(family.capabilities.names())
        pricer = bind(family, pixels())
    except Exception:
        return claims  # the checks, all of which bind the family, say what is wrong
    if pricer.exact is True:
        claims.add("exact")
    if type(pricer).rebound is not Pricer.rebound:
        claims.add("rebound")
    for name in "bind_rows", "candidates":
        if getattr(type(family), name) is not getattr(WeakLearnerFamily, name):
            claims.add(name)
    if isinstance(family, PartitionedFamily):
        with suppress(TypeError, ValueError):  # what refuses partitions does not claim them
            family.check_partitioned()
            claims.add("partitioned")
    return claims


def check_plugin(
    plugin: Plugin,
    *,
    brute_force: BruteForce | None = None,
    make_X: MakeX | None = None,
    expected_failures: Mapping[str, str] | None = None,
) -> None:
    """Run every check that applies to a weak-learner family or an init model.

    Parameters
    ----------
    plugin : WeakLearnerFamily or InitModel
        With the hyper-parameters to be tested; it is not changed.
    brute_force : callable, optional
        ``brute_force(family, X)`` returns every learner of the family that can be distinguished
        on `X`, as `WeakLearners` or as their outputs, an array of -1 and +1 of shape
        (n_samples, n_learners). Exact pricing is then compared with the best of them. Without
        it, exactness is tested against sampled learners of the family and against weights whose
        best edge is known. The matrices have at most 24 rows and 3 columns, and NaN if the family
        declares ``missing_values``.
    make_X : callable, optional
        ``make_X(plugin, n_samples, rng)`` returns examples that the plugin takes, for one that
        cannot take any number of features or any values, such as images of a given shape:
        an array of shape (n_samples, n_features), drawn with the generator `rng`. Checks that
        need other numbers of features do not apply.
    expected_failures : mapping of str to str, optional
        Names of checks that the plugin is known to fail, with the reason. A listed check that
        passes is reported as a failure, so that the list stays current.

    Raises
    ------
    PluginCheckError
        If a check fails; an AssertionError that lists all failed checks. The error of the first
        is its cause.
    ValueError
        If `expected_failures` has an unknown name, a check that does not apply, or an empty
        reason.
    """
    checks = plugin_checks(plugin, brute_force=brute_force, make_X=make_X)
    expected = _validated_expectations(expected_failures, checks)
    failures: dict[str, Exception] = {}
    for check in checks:
        try:
            check(plugin)
        except Exception as error:
            if check.name not in expected:
                failures[check.name] = error
        else:
            if check.name in expected:
                failures[check.name] = AssertionError(
                    f"passes, but was expected to fail ({expected[check.name]})"
                )
    if failures:
        raise PluginCheckError(plugin, failures) from next(iter(failures.values()))


def parametrize_with_plugin_checks(
    plugins: Iterable[Plugin],
    *,
    brute_force: BruteForce | None = None,
    make_X: MakeX | None = None,
    expected_failures: Mapping[str, str] | None = None,
):
    """Return a pytest decorator that makes one test per check and plugin.

    Parameters
    ----------
    plugins : iterable of WeakLearnerFamily or InitModel
    brute_force, make_X : callable, optional
        As in `check_plugin`.
    expected_failures : mapping of str to str, optional
        As in `check_plugin`; the tests are marked ``xfail(strict=True)``.

    Examples
    --------
    >>> @parametrize_with_plugin_checks([MyFamily(), MyFamily(size=3)])  # doctest: +SKIP
    ... def test_contract(plugin, check):
    ...     check(plugin)
    """
    import pytest

    params = []
    for plugin in plugins:
        checks = plugin_checks(plugin, brute_force=brute_force, make_X=make_X)
        expected = _validated_expectations(expected_failures, checks)
        for check in checks:
            marks = []
            if check.name in expected:
                marks = [pytest.mark.xfail(strict=True, reason=expected[check.name])]
            identifier = f"{' '.join(repr(plugin).split())}-{check.name}"
            params.append(pytest.param(plugin, check, id=identifier, marks=marks))
    return pytest.mark.parametrize("plugin, check", params)


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
            problem = "does not apply to this plugin" if exists else "is not a check"
            raise ValueError(
                f"expected_failures: {name!r} {problem}; those that apply: {sorted(applicable)}"
            )
        if not (isinstance(reason, str) and reason.strip()):
            raise ValueError(f"expected_failures[{name!r}] must give a reason, got {reason!r}")
    return expected
