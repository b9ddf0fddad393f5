"""Selection of the checks that apply to a plugin, and running them with or without pytest."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module

import numpy as np

from cwboost.families.contract import Pricer, WeakLearnerFamily, WeakLearners
from cwboost.families.init_contract import InitModel
from cwboost.families.partitioned import PartitionedFamily
from cwboost.families.plugin_loading import describe_error
from cwboost.families.sealing.faults import add_note
from cwboost.testing.check import CHECKS, Check, remedy_of
from cwboost.testing.material import bind, material_of, pixels

# Each module adds its checks to `CHECKS`, the basic ones first.
ORDER = (
    *("declarations", "rows", "process", "pricing"),
    *("init_models", "learners", "claims", "life"),
)
for _name in ORDER:
    import_module(f"cwboost.testing.{_name}")

Plugin = WeakLearnerFamily | InitModel
MakeX = Callable[[Plugin, int, np.random.Generator], np.ndarray]
BruteForce = Callable[[WeakLearnerFamily, np.ndarray], "np.ndarray | WeakLearners"]


class PluginCheckError(AssertionError):
    """Error for a plugin that breaks its contract: the first cause, with what to do about it.

    Parameters
    ----------
    plugin : WeakLearnerFamily or InitModel
        The plugin that was checked.
    check : str, also an attribute
        Name of the first check that failed: what it checks is the cause.
    reason, remedy : str, also attributes
        What is wrong, and what to do.
    """

    def __init__(self, plugin: Plugin, check: str, reason: str, remedy: str):
        self.check, self.reason, self.remedy = check, reason, remedy
        super().__init__(f"{plugin!r} fails {check}: {reason}\n  {remedy}")


@dataclass(frozen=True)
class PluginCheck:
    """A check, callable with a plugin."""

    check: Check
    brute_force: BruteForce | None = None
    make_X: MakeX | None = None

    @property
    def name(self) -> str:
        """Name of the check, as used in `expected_failures`."""
        return self.check.name

    def __call__(self, plugin: Plugin) -> None:
        """Run the check; an error says what the plugin does wrong, its note what to do."""
        given = {"brute_force": self.brute_force} if self.name == "check_exact_pricing" else {}
        try:
            with material_of(self.make_X and partial(self.make_X, plugin)):
                self.check.run(plugin, **given)
        except Exception as error:
            add_note(error, remedy_of(self.check, plugin, error))
            raise


def plugin_checks(
    plugin: Plugin, *, brute_force: BruteForce | None = None, make_X: MakeX | None = None
) -> list[PluginCheck]:
    """Return the checks that apply to a plugin with its present hyper-parameters.

    Parameters
    ----------
    plugin : WeakLearnerFamily or InitModel
    brute_force, make_X : callable, optional
        See `check_plugin`.

    Returns
    -------
    list of PluginCheck
        Each with a ``name``; call it with the plugin. The basic ones come first.
    """
    if not isinstance(plugin, WeakLearnerFamily | InitModel):
        raise TypeError(f"plugin must be a WeakLearnerFamily or an InitModel, got {plugin!r}")
    is_family = isinstance(plugin, WeakLearnerFamily)
    with material_of(make_X and partial(make_X, plugin)):
        claims = _claims(plugin) if is_family else set()
    return [
        PluginCheck(check, brute_force, make_X)
        for check in CHECKS
        if check.kind in ("plugin", "family" if is_family else "model")
        and (check.claim is None or check.claim in claims)
        and not (make_X and check.has_own_widths)
    ]


def _claims(family: WeakLearnerFamily) -> set[str]:
    """Capabilities of the family, and what its pricer says of itself."""
    claims: set[str] = set()
    try:
        claims.update(family.capabilities.names())
        pricer = bind(family, pixels()).pricer
    except Exception:
        return claims  # the checks, all of which bind the family, say what is wrong
    claims |= {"exact"} if pricer.exact is True else set()
    claims |= {"rebound"} if type(pricer).rebound is not Pricer.rebound else set()
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
    """Run the checks that apply to a weak-learner family or an init model, up to a failure.

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
        If a check fails, an AssertionError. The checks go from basic ones to those that rest on
        them, so that the first that fails is the cause.
    ValueError
        If `expected_failures` has an unknown name, a check that does not apply, or an empty
        reason.
    """
    checks = plugin_checks(plugin, brute_force=brute_force, make_X=make_X)
    expected = _validated_expectations(expected_failures, checks)
    for check in checks:
        try:
            check(plugin)
        except Exception as error:
            if check.name not in expected:
                remedy = remedy_of(check.check, plugin, error)
                notes = [n for n in getattr(error, "__notes__", []) if n != remedy]
                reason = "; ".join([describe_error(error), *notes])
                raise PluginCheckError(plugin, check.name, reason, remedy) from error
        else:
            if check.name in expected:
                reason = f"passes, but was expected to fail ({expected[check.name]})"
                raise PluginCheckError(plugin, check.name, reason, "Take it from the list.")


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


def _validated_expectations(expected, checks) -> dict[str, str]:
    expected = dict(expected or {})
    applicable = {check.name for check in checks}
    for name, reason in expected.items():
        if name not in applicable:
            exists = name in {check.name for check in CHECKS}
            problem = "does not apply to this plugin" if exists else "is not a check"
            raise ValueError(
                f"expected_failures: {name!r} {problem}; those that apply: {sorted(applicable)}"
            )
        if not (isinstance(reason, str) and reason.strip()):
            raise ValueError(f"expected_failures[{name!r}] must give a reason, got {reason!r}")
    return expected
