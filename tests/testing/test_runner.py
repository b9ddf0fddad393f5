"""The conformance suite: sound plugins pass, and each wrong one is refused by its cause.

`attack_plugins.CASES` holds plugins that each break the contract in one way, with the cause and the
message that must be given.
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
from attack_plugins import BINDS, CAN, CASES, DRAWN, EXACT, PRICED, family, init_model, result
from derived_families import Corners, images
from reference_family import ReferenceStump, every_stump

from cwboost import Capabilities, StumpFamily
from cwboost.testing import (
    PluginCheckError,
    check_plugin,
    parametrize_with_plugin_checks,
    plugin_checks,
)
from cwboost.testing.check import CHECKS

BY_NAME = {check.name: check for check in CHECKS}
FALSE_EDGES = PRICED, result("edges *= 1 + 1e-9")
RARELY_FALSE = PRICED, result("edges = edges * (1 + (len(edges) == 21))")


def test_a_sound_family_passes():
    check_plugin(ReferenceStump(), brute_force=every_stump)


@parametrize_with_plugin_checks([ReferenceStump(share=0.5), init_model()])
def test_sound_plugins_pass_in_pytest(plugin, check):
    check(plugin)


@pytest.mark.parametrize("case", [case for case in CASES if case.cause != "training"], ids=str)
def test_the_cause_of_a_fault_is_named(case):
    case.act()


def test_every_check_names_a_fault_or_is_passed_by_causes_before_it():
    causes = {f"check_{name}" for case in CASES for name in case.cause.split("|")}
    assert causes - {"check_training"} <= BY_NAME.keys()
    assert BY_NAME.keys() - causes == {"check_scores_of_every_matrix"}


def test_every_claim_has_a_check():
    claims = {*Capabilities.__dataclass_fields__, "exact", "partitioned"}
    claims |= {"bind_rows", "candidates", "rebound"}
    claims -= {"deterministic"} - {check.claim for check in CHECKS}
    assert {check.claim for check in CHECKS} - {None} == claims


def test_a_failure_says_what_to_do():
    check = next(c for c in plugin_checks(ReferenceStump()) if c.name == "check_pricing")
    with pytest.raises(Exception, match="has the edge") as caught:
        check(family(FALSE_EDGES))
    assert BY_NAME["check_pricing"].remedy in "".join(traceback.format_exception(caught.value))


def test_a_family_may_bring_its_own_examples():
    check_plugin(Corners(), make_X=images)
    names = {check.name for check in plugin_checks(Corners(), make_X=images)}
    assert "check_monotonic" not in names and "check_pricing" in names
    seen = set()

    def tall(family, n_samples, rng):
        X = rng.normal(size=(n_samples, 6))
        seen.add(X.shape[1])
        return X

    check_plugin(Corners(image_shape=(3, 2)), make_X=tall)
    assert seen == {6}


def test_a_family_that_refuses_the_examples_is_told_of_make_X():
    refuses = "if X.shape[1] != 12:\n    raise ValueError('image_shape must have 12 features')\n"
    with pytest.raises(PluginCheckError, match="image_shape must have 12 features") as caught:
        check_plugin(family((BINDS, refuses + BINDS)))
    assert "or give the suite examples that the plugin takes by make_X" in caught.value.remedy


def test_a_slip_is_mended_at_its_line():
    with pytest.raises(PluginCheckError, match="no attribute 'not_there'") as caught:
        check_plugin(family((PRICED, f"self.not_there\n{PRICED}")))
    assert re.fullmatch(r"Mend line \d+ of planted_\d+, in pack\.", caught.value.remedy)


def test_what_make_X_returns_is_checked():
    def too_few(family, n_samples, rng):
        return np.ones((2, 20))

    check = plugin_checks(Corners(), make_X=too_few)[-1]
    with pytest.raises(ValueError, match=r"make_X must return \d+ rows of features, got shape"):
        check(Corners())


def test_checks_of_claims_that_are_not_made_do_not_apply():
    modest = family((CAN, "Capabilities()"), (EXACT, "self.exact = False"))
    names = {check.name for check in plugin_checks(modest)}
    expected = {c.name for c in CHECKS if c.claim in (None, "deterministic") and c.kind != "model"}
    assert names == expected


def test_expected_failures():
    plugin = family(RARELY_FALSE)
    expected = {"check_number_of_targets": "edges of 21 targets are false"}
    with pytest.raises(PluginCheckError, match="check_number_of_targets: FamilyFault"):
        check_plugin(plugin)
    check_plugin(plugin, expected_failures=expected)
    expected["check_fit"] = "does not fit"
    with pytest.raises(PluginCheckError, match=r"check_fit.*was expected to fail .does not"):
        check_plugin(plugin, expected_failures=expected)


@pytest.mark.parametrize(
    "expected, message",
    [
        ({"check_nothing": "why"}, "'check_nothing' is not a check"),
        ({"check_sparse_input": "why"}, "'check_sparse_input' does not apply"),
        ({"check_pricing": ""}, "must give a reason, got ''"),
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


def test_brute_force_is_validated_and_may_return_outputs():
    with pytest.raises(PluginCheckError, match="brute_force must return WeakLearners or"):
        check_plugin(ReferenceStump(), brute_force=lambda family, X: np.zeros((2, 2)))

    def outputs(family, X):
        return every_stump(family, X).outputs(X)

    run = BY_NAME["check_exact_pricing"].run
    run(ReferenceStump(), brute_force=outputs)
    with pytest.raises(AssertionError, match="another learner of the family has"):
        run(family((DRAWN, "return features[:1]")), brute_force=outputs)


@pytest.mark.slow
def test_pytest_reports_expected_failures_that_pass(tmp_path):
    (tmp_path / "test_suite.py").write_text(
        textwrap.dedent(
            """
            from reference_family import ReferenceStump
            from cwboost.testing import parametrize_with_plugin_checks

            expected = {"check_pricing": "is known to be wrong"}

            @parametrize_with_plugin_checks([ReferenceStump()], expected_failures=expected)
            def test_family(plugin, check):
                if check.name == "check_fit":
                    raise AssertionError("wrong")
                check(plugin)
            """
        )
    )
    support = str(Path(__file__).parents[1] / "support")
    checks = "check_pricing or check_fit or check_redraws"
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", str(tmp_path)]
    command += ["-o", f"pythonpath={support}", "--rootdir", str(tmp_path), "-k", checks]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=alone)
    assert "FAILED test_suite.py::test_family[ReferenceStump()-check_pricing]" in done.stdout
    assert "[XPASS(strict)] is known to be wrong" in done.stdout
    assert "2 failed, 1 passed" in done.stdout
