"""Entry points: the plugin of a name, disabled plugins, damaged metadata."""

import sys

import pytest
from plugin_folder import (
    BUILT_IN,
    HEALTHY,
    OWN_INIT_MODELS,
    PAIR,
    REGISTER,
    assert_healthy_undisturbed,
    assert_usable,
    family_source,
    only_record,
    write_distribution,
)
from reference_family import ReferenceStump

from cwboost.cli import main
from cwboost.families import discovery
from cwboost.families.discovery import FamilyError, get_family, list_plugins


def test_a_name_imports_its_plugin_alone(install):
    """That of a built-in imports none."""
    for name in ("first", "other"):
        module = {f"{name}_plugin": family_source(name)}
        install(f"{name}-dist", "1", {name: f"{name}_plugin"}, **module)
    for name in BUILT_IN:
        get_family(name)
    assert not {"first_plugin", "other_plugin"} & set(sys.modules)
    assert get_family("first").name == "first"
    assert "other_plugin" not in sys.modules
    assert get_family("other").name == "other"


def test_several_entry_points_may_lead_to_one_module(install):
    install("pair", "1", {"first": "pair_plugin", "second": "pair_plugin"}, pair_plugin=PAIR)
    found = [get_family(name).__name__ for name in ("second", "first")]
    assert found == ["Another", "ReferenceStump"]
    records = [record for record in list_plugins() if record.distribution == "pair"]
    assert [(r.name, r.state) for r in records] == [("first", "loaded"), ("second", "loaded")]


def test_whoever_asks_for_an_entry_point_of_a_module_that_failed_gets_the_error(install):
    points = {"first": "bad_plugin", "second": "bad_plugin"}
    install("pair", "1", points, bad_plugin=family_source("x", (REGISTER, f"{REGISTER}\n1 / 0")))
    for name in points:
        with pytest.raises(FamilyError, match=f"'{name}' cannot be used: pair 1: "):
            get_family(name)
    records = [record for record in list_plugins() if record.distribution == "pair"]
    assert [(r.name, r.state) for r in records] == [(name, "failed") for name in points]
    with pytest.raises(FamilyError, match=r"unknown weak learner 'third'.* 1 plugin failed"):
        get_family("third")


@pytest.mark.parametrize("list_first", [False, True])
def test_an_entry_point_reserves_its_name(install, list_first):
    install("owner", "1", {"mine": "owner_plugin"}, owner_plugin=family_source("mine"))
    install("thief", "2", {"loot": "thief_plugin"}, thief_plugin=family_source("mine"))
    if list_first:
        list_plugins()
    assert get_family("mine").__module__ == "owner_plugin"
    record = only_record("thief")
    assert record.state == "failed"
    assert record.error == "FamilyError: the name 'mine' is taken by owner 1"


@pytest.mark.parametrize("value", ["Healthy.Dist", "healthy", " other , healthy_dist,"])
def test_plugins_can_be_disabled_one_by_one(install, monkeypatch, value):
    install("healthy-dist", "2.1", {"healthy": "healthy_plugin"}, **HEALTHY)
    install("second-dist", "1", {"second": "second_plugin"}, second_plugin=family_source("second"))
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", value)
    record = only_record("healthy-dist")
    assert (record.state, record.name, record.error) == ("disabled", "healthy", None)
    assert "healthy_plugin" not in sys.modules
    assert_usable("second")
    with pytest.raises(FamilyError, match=r"'healthy' is turned off: CWBOOST_DISABLE_PLUGINS"):
        get_family("healthy")
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", "")
    assert_usable("healthy")


def test_one_family_of_a_plugin_can_be_disabled(install, monkeypatch):
    install("pair", "1", {"first": "pair_plugin", "second": "pair_plugin"}, pair_plugin=PAIR)
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", "second")
    assert_usable("first")
    with pytest.raises(FamilyError, match="'second' is turned off"):
        get_family("second")


def test_damaged_entry_points_are_recorded(healthy):
    info = healthy("broken-dist", "0.3", broken_plugin="")
    for damaged in ("broken = not a module!", "no equals sign"):
        (info / "entry_points.txt").write_text(f"[cwboost]\n{damaged}\n")
        discovery.refresh()
        assert only_record("broken-dist").state == "failed"
    assert_healthy_undisturbed()


def test_a_distribution_without_metadata_is_named_by_its_place(install, tmp_path):
    info = install("nameless", "1", nameless_plugin=family_source("nameless"))
    (info / "METADATA").unlink()
    discovery.refresh()
    record = next(r for r in list_plugins() if r.name == "nameless")
    assert str(tmp_path) in record.distribution
    assert_usable("nameless")


def test_the_first_of_two_copies_of_a_distribution_counts(install, tmp_path, monkeypatch):
    install("healthy-dist", "2.1", **HEALTHY)
    second = tmp_path / "second"
    second.mkdir()
    write_distribution(second, "Healthy.Dist", "1.0", {"healthy_plugin": "healthy_plugin"}, {})
    monkeypatch.setattr(sys, "path", [*sys.path, str(second)])
    discovery.refresh()
    assert only_record("healthy-dist").state == "loaded"
    assert not [r for r in list_plugins() if r.distribution == "Healthy.Dist"]


def test_the_listing_keeps_the_order_of_distributions(healthy):
    healthy("a-dist", "1", a_plugin=family_source("a"))
    records = list_plugins()
    for kind, own in (("weak learner", BUILT_IN), ("init model", OWN_INIT_MODELS)):
        names = [record.distribution for record in records if record.kind == kind]
        assert names[: len(own)] == ["cwboost"] * len(own)
        assert names[len(own) :] == sorted(names[len(own) :])
    assert {"a-dist", "healthy-dist"} <= {record.distribution for record in records}


def test_third_parties_can_be_turned_off(healthy, monkeypatch):
    monkeypatch.setenv("CWBOOST_PLUGINS", "0")
    assert {record.distribution for record in list_plugins()} == {"cwboost"}
    assert_usable("stump")
    with pytest.raises(FamilyError, match="CWBOOST_PLUGINS=0"):
        get_family("healthy")
    monkeypatch.setenv("CWBOOST_PLUGINS", "1")
    assert_healthy_undisturbed()
    monkeypatch.setenv("CWBOOST_PLUGINS", "no")
    with pytest.raises(ValueError, match="CWBOOST_PLUGINS must be 0 or 1, got 'no'"):
        list_plugins()


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


def test_the_command_lists_families_failures_and_reasons(install, monkeypatch, capsys):
    install("fine-dist", "1.5", fine=family_source("fine"))
    install("bad-dist", "0.2", bad="import nowhere_at_all")
    assert main(["plugins"]) == 1
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines]
    wanted = "fine weak learner fine-dist 1.5 1 loaded missing_values deterministic"
    assert wanted.split() in rows
    bad = ["bad", "weak", "learner", "bad-dist", "0.2", "-"]
    assert [*bad, "failed"] in [row[:7] for row in rows]
    assert "bad (bad-dist 0.2): ModuleNotFoundError: No module named 'nowhere_at_all'" in lines
    assert ["kernel", "init", "model", "cwboost"] in [row[:4] for row in rows]
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", "bad-dist")
    assert main(["plugins"]) == 0
    out = capsys.readouterr().out
    assert [*bad, "disabled", "-"] in map(str.split, out.splitlines())
    assert "Disabled: bad-dist (CWBOOST_DISABLE_PLUGINS)." in out
    monkeypatch.setenv("CWBOOST_PLUGINS", "0")
    main(["plugins"])
    out = capsys.readouterr().out
    assert "fine-dist" not in out and "CWBOOST_PLUGINS=0" in out
