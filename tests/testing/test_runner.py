"""The conformance suite: a sound family passes, and each check catches the families it targets.

`broken.BROKEN` holds families that each break the contract in one way, with the message that the
check must give.
"""

import os
import re
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import numpy as np
import pytest
from attack_plugins import (
    BINDS,
    CAN,
    CASES,
    CHECKS,
    DRAWN,
    EXACT,
    PRICED,
    SHARED,
    family,
    init_model,
    result,
)
from derived_families import Corners, images
from reference_family import ReferenceStump, every_stump

from cwboost import Capabilities, StumpFamily
from cwboost.testing import (
    PluginCheckError,
    check_plugin,
    parametrize_with_plugin_checks,
    plugin_checks,
)
from cwboost.testing.remedies import GIVE_EXAMPLES, REMEDIES
from cwboost.testing.runner import CLAIM_OF_CHECK

NAMES = {f"check_{name}" for name in CHECKS}
FALSE_EDGES = PRICED, result("edges *= 1 + 1e-9")


def test_a_sound_family_passes():
    check_plugin(ReferenceStump(), brute_force=every_stump)


@parametrize_with_plugin_checks([ReferenceStump(share=0.5)])
def test_a_sound_family_that_samples_passes_in_pytest(plugin, check):
    check(plugin)


def test_a_sound_init_model_passes_checks_of_its_own():
    check_plugin(init_model())
    names = {check.name for check in plugin_checks(init_model())}
    assert "check_scores_without_own_label" in names and "check_edges" not in names


def test_sparse_input_can_be_handled():
    CHECKS["sparse_input"](family((CAN, "Capabilities(sparse_input=True)")))


@pytest.mark.parametrize("case", [case for case in CASES if case.place != "fit"], ids=str)
def test_a_fault_is_found(case):
    case.act()


def test_every_check_finds_a_fault():
    assert {case.place for case in CASES} >= set(CHECKS)


def test_every_capability_has_a_check():
    assert set(CLAIM_OF_CHECK) <= NAMES
    claims = {*Capabilities.__dataclass_fields__, "exact", "partitioned"}
    claims |= {"bind_rows", "candidates", "rebound"}
    assert set(CLAIM_OF_CHECK.values()) == claims


def test_every_check_has_a_docstring_and_a_remedy_of_one_line():
    for name, function in CHECKS.items():
        assert function.__doc__ and function.__doc__.strip().endswith("."), name
    assert REMEDIES.keys() == NAMES
    assert all(len(text) < 90 and text.endswith(".") for text in REMEDIES.values())


def test_a_failure_says_what_to_do():
    check = next(c for c in plugin_checks(ReferenceStump()) if c.name == "check_edges")
    with pytest.raises(AssertionError) as caught:
        check(family(FALSE_EDGES))
    assert REMEDIES["check_edges"] in "".join(traceback.format_exception(caught.value))


def test_a_family_may_bring_its_own_examples():
    check_plugin(Corners(), make_X=images)
    names = {check.name for check in plugin_checks(Corners(), make_X=images)}
    assert "check_one_feature" not in names and "check_edges" in names
    seen = set()

    def tall(family, n_samples, rng):
        X = rng.normal(size=(n_samples, 6))
        seen.add(X.shape[1])
        return X

    check_plugin(Corners(image_shape=(3, 2)), make_X=tall)
    assert seen == {6}


def test_a_family_that_refuses_the_examples_is_told_of_make_X():
    refuses = "if X.shape[1] != 12:\n    raise ValueError('image_shape must have 12 features')\n"
    with pytest.raises(PluginCheckError) as caught:
        check_plugin(family((BINDS, refuses + BINDS)))
    refused = [e for e in caught.value.failures.values() if "image_shape" in str(e)]
    assert len(refused) > 20
    assert len(caught.value.causes) == 1 and GIVE_EXAMPLES in str(caught.value)


def test_a_slip_is_one_cause_with_its_line():
    with pytest.raises(PluginCheckError) as caught:
        check_plugin(family((PRICED, f"self.not_there\n{PRICED}")))
    assert len(caught.value.failures) > 20
    (cause,) = caught.value.causes
    assert "AttributeError: 'ReferencePricer' object has no attribute 'not_there'" in cause
    assert re.search(r"Mend line \d+ of .*, in pack\.", cause) and "print" not in cause
    assert f"The same error fails {len(caught.value.failures) - 1} other checks." in cause


def test_what_cwboost_refuses_is_one_cause():
    with pytest.raises(PluginCheckError) as caught:
        check_plugin(family((BINDS, "return None")))
    failures, causes = caught.value.failures, caught.value.causes
    assert len(failures) > 20 and len(causes) < 4
    assert "bind must return a Pricer, got NoneType" in causes[0]
    assert "Mend what the error names, met by line" in causes[0]


def test_what_make_X_returns_is_checked():
    def too_few(family, n_samples, rng):
        return np.ones((2, 20))

    check = plugin_checks(Corners(), make_X=too_few)[-1]
    with pytest.raises(ValueError, match=r"make_X must return \d+ rows of features, got shape"):
        check(Corners())


def test_checks_of_undeclared_capabilities_do_not_apply():
    modest = family((CAN, "Capabilities()"), (EXACT, "self.exact = False"))
    names = {check.name for check in plugin_checks(modest)}
    of_init = {f"check_{k}" for k, check in CHECKS.items() if "checks_init" in check.__module__}
    assert names == NAMES - of_init - set(CLAIM_OF_CHECK) | {"check_determinism"}


def test_all_failures_are_reported_at_once():
    raises = SHARED, "raise RuntimeError('not today')"
    with pytest.raises(PluginCheckError) as caught:
        check_plugin(family((PRICED, result("edges += abs(weights).sum()")), raises))
    assert {"check_edges", "check_shared_pricing"} <= set(caught.value.failures)
    assert "RuntimeError: not today" in str(caught.value)
    assert REMEDIES["check_edges"] in str(caught.value)
    assert caught.value.__cause__ is next(iter(caught.value.failures.values()))


def test_expected_failures():
    plugin = family(FALSE_EDGES)
    with pytest.raises(PluginCheckError) as caught:
        check_plugin(plugin)
    expected = dict.fromkeys(caught.value.failures, "edges are rounded")
    assert "check_edges" in expected
    check_plugin(plugin, expected_failures=expected)
    expected["check_pickle"] = "does not pickle"
    with pytest.raises(PluginCheckError, match=r"check_pickle.*was expected to fail .does not"):
        check_plugin(plugin, expected_failures=expected)


@pytest.mark.parametrize(
    "expected, message",
    [
        ({"check_nothing": "why"}, "'check_nothing' is not a check"),
        ({"check_sparse_input": "why"}, "'check_sparse_input' does not apply"),
        ({"check_edges": ""}, "must give a reason, got ''"),
    ],
)
def test_expectations_are_validated(expected, message):
    with pytest.raises(ValueError, match=message):
        check_plugin(ReferenceStump(), expected_failures=expected)
    with pytest.raises(ValueError, match=message):
        parametrize_with_plugin_checks([ReferenceStump()], expected_failures=expected)


@pytest.mark.parametrize("plugin", [StumpFamily, "stump"], ids=str)
def test_a_class_or_a_name_is_no_plugin(plugin):
    with pytest.raises(TypeError, match="plugin must be a WeakLearnerFamily or an InitModel, got"):
        check_plugin(plugin)


def test_brute_force_is_validated():
    with pytest.raises(PluginCheckError, match="brute_force must return WeakLearners or"):
        check_plugin(ReferenceStump(), brute_force=lambda family, X: np.zeros((2, 2)))


def test_brute_force_may_return_outputs():
    def outputs(family, X):
        return every_stump(family, X).outputs(X)

    CHECKS["exact_pricing"](ReferenceStump(), brute_force=outputs)
    with pytest.raises(AssertionError, match="another learner of the family has"):
        CHECKS["exact_pricing"](family((DRAWN, "return features[:1]")), brute_force=outputs)


@pytest.mark.slow
def test_pytest_reports_expected_failures_that_pass(tmp_path):
    (tmp_path / "test_suite.py").write_text(
        textwrap.dedent(
            """
            from reference_family import ReferenceStump
            from cwboost.testing import parametrize_with_plugin_checks

            expected = {"check_edges": "is known to be wrong"}

            @parametrize_with_plugin_checks([ReferenceStump()], expected_failures=expected)
            def test_family(plugin, check):
                if check.name == "check_pickle":
                    raise AssertionError("wrong")
                check(plugin)
            """
        )
    )
    support = str(Path(__file__).parents[1] / "support")
    checks = "edges or pickle or one_feature"
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", str(tmp_path)]
    command += ["-o", f"pythonpath={support}", "--rootdir", str(tmp_path), "-k", checks]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=alone)
    assert "FAILED test_suite.py::test_family[ReferenceStump()-check_edges]" in done.stdout
    assert "[XPASS(strict)] is known to be wrong" in done.stdout
    assert "2 failed, 1 passed" in done.stdout
