"""Families by name: shipped ones, those of plugins, and unknown names; checks before their use."""

import pytest
from plugin_folder import BUILT_IN

import cwboost
from cwboost.families.discovery import (
    FamilyError,
    check_capabilities,
    get_family,
    list_plugins,
    resolve_weak_learner,
)


def test_an_unknown_name_lists_the_known_and_the_closest_and_no_traceback(healthy):
    healthy("broken-dist", "0.3", broken_plugin="import a_module_that_nobody_has\n")
    with pytest.raises(FamilyError) as caught:
        get_family("stmup")
    message = str(caught.value)
    assert message.startswith("unknown weak learner 'stmup', did you mean 'stump'? Known: ")
    for name in (*BUILT_IN, "healthy"):
        assert repr(name) in message
    assert message.endswith("1 plugin failed to load; 'cwboost plugins' shows why.")
    assert "a_module_that_nobody_has" not in message


def test_resolve_takes_names_and_instances_only(healthy):
    family = get_family("healthy")
    instance = family()
    assert resolve_weak_learner(instance) is instance
    with pytest.raises(TypeError, match=r"got the class ReferenceStump; pass an instance"):
        resolve_weak_learner(family)
    for value in (None, 3, [], {"stump"}, ["stump", 3], object()):
        with pytest.raises(TypeError, match="weak_learner must be the name of a registered"):
            resolve_weak_learner(value)
    with pytest.raises(TypeError, match="must be a str, got int"):
        get_family(3)


def test_public_names_resolve_and_others_do_not():
    for name in cwboost.__all__:
        assert getattr(cwboost, name) is not None
    assert set(cwboost.__all__) <= set(dir(cwboost))
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_that_name'"):
        cwboost.nothing_of_that_name  # noqa: B018


def test_capabilities_are_checked_with_a_readable_message(healthy):
    family = resolve_weak_learner("healthy")
    check_capabilities(family)
    check_capabilities(family, requires=["deterministic"])
    with pytest.raises(ValueError) as caught:
        check_capabilities(family, requires=["missing_values"])
    message = str(caught.value)
    assert "weak learner 'healthy'" in message
    assert "missing_values is required" in message
    able = [r.name for r in list_plugins() if "missing_values" in r.capabilities]
    able.remove("mixed")  # which has what its members have
    assert "Registered families with missing_values: " in message
    assert all(repr(name) in message for name in able)
    with pytest.raises(ValueError, match=r"sparse_input is needed because X is sparse"):
        check_capabilities(family, is_sparse=True)
    with pytest.raises(ValueError, match=r"'healthy' .* of the mixture lacks") as caught:
        check_capabilities(resolve_weak_learner(["tree", "healthy"]), contains="NaN")
    assert "'mixed'" not in str(caught.value)
    with pytest.raises(ValueError, match="sparse_input is required"):
        check_capabilities(family, requires=["sparse_input"])


def test_resolve_checks_an_instance_too(healthy):
    old = type("Old", (get_family("healthy"),), {"api_version": 0})()
    with pytest.raises(FamilyError, match="api_version must be 1"):
        resolve_weak_learner(old)
