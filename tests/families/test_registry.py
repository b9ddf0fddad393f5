"""One family per name: registration at run time, and who keeps a name that two claim."""

import sys

import pytest
from plugin_folder import HEALTHY, assert_healthy_undisturbed, family_source, only_record
from reference_family import ReferenceStump

from cwboost.families import discovery
from cwboost.families.discovery import FamilyError, get_family, list_plugins


def of_a_notebook(name, qualname="ReferenceStump"):
    namespace = {"__name__": "a_notebook"}
    exec(family_source(name, ("class ReferenceStump", f"class {qualname}")), namespace)
    return namespace[qualname]


def test_a_registered_family_is_found_and_listed(register):
    assert register(ReferenceStump) is ReferenceStump  # A decorator gives back its class.
    assert get_family("reference_stump") is ReferenceStump
    record = next(record for record in list_plugins() if record.name == "reference_stump")
    assert (record.state, record.distribution) == ("loaded", ReferenceStump.__module__)


def test_a_cell_that_runs_again_replaces_its_class(register):
    register(of_a_notebook("mine"))
    again = of_a_notebook("mine")
    register(again)
    register(again)
    assert get_family("mine") is again


def test_registration_is_refused_where_the_name_is_taken(register, install):
    install("healthy-dist", "2.1", {"healthy": "healthy_plugin"}, **HEALTHY)
    with pytest.raises(FamilyError, match="'stump' is taken by cwboost"):
        register(of_a_notebook("stump"))
    with pytest.raises(FamilyError, match=r"'healthy' is taken by healthy-dist 2\.1"):
        register(of_a_notebook("healthy"))
    register(of_a_notebook("mine"))
    with pytest.raises(FamilyError, match=r"taken by the class a_notebook\.ReferenceStump"):
        register(of_a_notebook("mine", "Other"))
    with pytest.raises(TypeError, match="got the class dict"):
        register(dict)
    assert register(get_family("stump")) is get_family("stump")


def test_a_plugin_found_later_does_not_take_a_registered_name(register, install):
    mine = register(of_a_notebook("mine"))
    install("late-dist", "1", {"mine": "late_plugin"}, late_plugin=family_source("mine"))
    assert get_family("mine") is mine
    assert only_record("late-dist").error.endswith("taken by the class a_notebook.ReferenceStump")


def test_two_families_of_one_name_name_both_distributions(healthy):
    healthy("left-dist", "1.0", left_plugin=family_source("twin"))
    healthy("right-dist", "2.0", right_plugin=family_source("twin"))
    for record in (only_record("left-dist"), only_record("right-dist")):
        assert (record.name, record.state) == ("twin", "failed")
        assert "taken by left-dist 1.0 and right-dist 2.0: uninstall one" in record.error
        assert record.plugin_class is None
    with pytest.raises(FamilyError, match=r"left-dist 1\.0.*right-dist 2\.0"):
        get_family("twin")
    assert_healthy_undisturbed()


def test_a_broken_built_in_is_not_replaced_by_a_third_party(install, monkeypatch):
    install("thief", "1", thief_plugin=family_source("stump"))
    monkeypatch.setitem(sys.modules, "cwboost.plugins.stumps", None)
    discovery.refresh()
    with pytest.raises(FamilyError, match=r"cwboost .*ModuleNotFoundError"):
        get_family("stump")
    assert only_record("thief").state == "failed"
