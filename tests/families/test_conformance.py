"""The conformance suite on every built-in family, with many settings of its hyper-parameters."""

import pytest
from reference_family import every_stump
from sklearn.linear_model import RidgeClassifier
from small_plugins import Bushes, Differences, Ferns, Neighbours

from cwboost.families.discovery import list_plugins
from cwboost.testing import parametrize_with_plugin_checks

# Beside the default. Every combination that takes another path through a kernel belongs here.
SETTINGS = {
    "stump": [{"max_features": 2}],
    "projection": [{"n_projections": 1}],
    "tree": [
        {"max_depth": 1, "max_features": None, "criterion": "edge"},
        {"max_depth": None, "max_features": None, "min_leaf_weight": 0},
        {"max_leaf_nodes": 5, "max_features": None, "min_leaf_weight": 0},
        {"max_depth": 2, "max_features": 0.5, "max_bins": 7},
        {"max_depth": None, "max_leaf_nodes": 9, "criterion": "edge", "max_bins": 2},
    ],
    "sklearn": [{"estimator": RidgeClassifier()}],
    "mixed": [{"families": ["stump"]}, {"families": ["tree", "stump", "tree"]}],
}


BUILT_IN = {
    record.name: record.plugin_class
    for record in list_plugins()
    if record.distribution == "cwboost" and record.kind == "weak learner"
}


@parametrize_with_plugin_checks([f() for f in BUILT_IN.values()], brute_force=every_stump)
def test_family(plugin, check):
    keeps(plugin, check)


@pytest.mark.slow
@parametrize_with_plugin_checks(
    [BUILT_IN[name](**settings) for name in SETTINGS for settings in SETTINGS[name]],
    brute_force=every_stump,
)
def test_settings(plugin, check):
    if check.name != "check_sparse_memory":  # that of the default
        keeps(plugin, check)


def keeps(plugin, check):
    if check.name == "check_exact_pricing":
        members = getattr(plugin, "families", [plugin.name])
        assert members == ["stump"], f"enumerate the learners of {plugin!r} here"
    check(plugin)


def test_every_setting_belongs_to_a_family():
    assert set(SETTINGS) == set(BUILT_IN)


@parametrize_with_plugin_checks([Differences(), Neighbours(), Bushes(), Ferns(), Ferns(depth=1)])
def test_they_keep_the_contract(plugin, check):
    check(plugin)
