"""Checks of a family before its use: its version of the contract, its capabilities."""

import pytest
from plugin_folder import only_record

from cwboost.families import examination
from cwboost.families.discovery import (
    FamilyError,
    check_capabilities,
    get_family,
    list_plugins,
    resolve_weak_learner,
)


@pytest.fixture
def newer_contract(monkeypatch):
    """Pretend that the contract has version 3 and accepts 1 to 3."""
    monkeypatch.setattr(examination, "API_VERSION", 3)


def test_a_family_of_an_older_accepted_version_works_and_warns(healthy, newer_contract):
    with pytest.warns(DeprecationWarning, match=r"'healthy' is written for version 1 .* version 3"):
        family = get_family("healthy")
    assert only_record("healthy-dist").state == "loaded"
    with pytest.warns(DeprecationWarning, match="the plugin needs an update"):
        resolve_weak_learner(family())


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
    assert "Registered families with missing_values: " in message
    assert all(repr(name) in message for name in able)
    with pytest.raises(ValueError, match=r"sparse_input is needed because X is sparse"):
        check_capabilities(family, is_sparse=True)
    with pytest.raises(ValueError, match="sparse_input is required"):
        check_capabilities(family, requires=["sparse_input"])


def test_resolve_checks_an_instance_too(healthy):
    old = type("Old", (get_family("healthy"),), {"api_version": 0})()
    with pytest.raises(FamilyError, match="version 0 of the contract"):
        resolve_weak_learner(old)
