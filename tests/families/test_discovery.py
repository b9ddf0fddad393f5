"""Discovery of families: every way a plugin can fail is shown, explained and kept to itself."""

import importlib
import re
import subprocess
import sys

import numpy as np
import pytest
from plugin_folder import family_source, write_distribution

import cwboost
from cwboost.families import discovery
from cwboost.families.discovery import (
    FamilyError,
    check_capabilities,
    get_family,
    list_plugins,
    resolve_weak_learner,
)

BUILT_IN = ["projection", "stump", "tree"]


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put distributions on the path for one test: ``install(name, version, module=source)``."""
    before = set(sys.modules)
    monkeypatch.delenv("CWBOOST_PLUGINS", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(name, version, entry_points=None, **modules):
        points = entry_points or {module: module for module in modules}
        info = write_distribution(tmp_path, name, version, points, modules)
        importlib.invalidate_caches()
        discovery.refresh()
        return info

    yield install
    for module in set(sys.modules) - before:
        if str(getattr(sys.modules[module], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[module]
    discovery.refresh()


def only_record(distribution):
    records = [r for r in list_plugins() if r.distribution == distribution]
    assert len(records) == 1
    return records[0]


def assert_usable(name):
    """Another family still prices: the failure beside it disturbed nothing."""
    family = resolve_weak_learner(name)
    X = np.arange(12.0).reshape(6, 2)
    weights = np.array([[1.0, 2, -3, -4, 5, 6]])
    pricer = family.bind(X, n_targets=1, random_state=np.random.default_rng(0), n_threads=1)
    assert pricer.price(weights).edges[0] >= weights.sum() - 1e-9


HEALTHY = {"healthy_plugin": family_source("healthy")}
HEALTHY_RECORD = ("healthy-dist", "2.1", "healthy", "loaded", 1, ("exact_pricing", "deterministic"))


@pytest.fixture
def healthy(install):
    install("healthy-dist", "2.1", **HEALTHY)
    return install


def assert_healthy_undisturbed():
    r = only_record("healthy-dist")
    got = (r.distribution, r.version, r.family, r.state, r.api_version, r.capabilities)
    assert got == HEALTHY_RECORD
    assert_usable("healthy")


def test_a_plugin_is_found_by_name(healthy):
    family = get_family("healthy")
    assert family.__name__ == "Constant"
    assert isinstance(resolve_weak_learner("healthy"), family)
    assert cwboost.get_family("healthy") is family
    assert_healthy_undisturbed()
    assert only_record("healthy-dist").source == "healthy-dist 2.1"


def test_one_plugin_may_register_several_families(install):
    source = family_source("first") + family_source("second", class_name="Other", register=False)
    source = source.replace("    register(Constant)", "    register(Constant)\n    register(Other)")
    install("pair", "1", pair_plugin=source)
    assert [get_family(name).__name__ for name in ("first", "second")] == ["Constant", "Other"]


REJECTED = {
    "import error": ("import a_module_that_nobody_has\n", None, "a_module_that_nobody_has"),
    "syntax error": ("def broken(:\n", None, "SyntaxError"),
    "exit while importing": ("raise SystemExit(3)\n", None, "SystemExit: 3"),
    "wrong hook signature": (
        family_source("broken").replace("(register):", "(registry):"),
        None,
        "registry",
    ),
    "unknown hook": (
        family_source("broken").replace("def cwboost_register_families", "def cwboost_families"),
        None,
        "cwboost_families",
    ),
    "no hook": (family_source("broken", register=False), None, "implements no hook"),
    "hook without decorator": (
        family_source("broken").replace("@cwboost.hookimpl", ""),
        None,
        "implements no hook",
    ),
    "nothing registered": (
        family_source("broken").replace("    register(Constant)", "    pass"),
        None,
        "registered no family",
    ),
    "raises while registering": (
        family_source("broken").replace("    register(Constant)", "    raise OSError('no disk')"),
        None,
        "OSError: no disk",
    ),
    "raises after registering": (
        family_source("broken") + "    raise OSError('late')\n",
        None,
        "OSError: late",
    ),
    "not a class": (
        family_source("broken").replace("register(Constant)", "register(Constant())"),
        None,
        "expected a subclass of WeakLearnerFamily, got Constant",
    ),
    "not a family": (
        family_source("broken").replace("register(Constant)", "register(dict)"),
        None,
        "expected a subclass of WeakLearnerFamily, got the class dict",
    ),
    "older API": (
        family_source("broken", api_version=0),
        "broken",
        "version 0 .* has version 1: the plugin needs an update",
    ),
    "newer API": (
        family_source("broken", api_version=2),
        "broken",
        "version 2 .* has version 1: cwboost is too old",
    ),
    "no API version": (
        family_source("broken").replace("    api_version = 1\n", ""),
        "broken",
        "api_version must be an int, got None",
    ),
    "no name": (family_source("broken").replace("    name = 'broken'\n", ""), None, "name must be"),
    "odd name": (family_source("../broken"), "../broken", "name must be"),
    "name of a built-in": (family_source("stump"), "stump", "'stump' is taken by cwboost"),
    "abstract class": (
        family_source("broken").replace("def bind(", "def tie("),
        "broken",
        "does not define bind",
    ),
    "needs arguments": (
        family_source("broken") + "\n\nConstant.__init__ = lambda self, size: None\n",
        "broken",
        "size",
    ),
    "no learners type": (
        family_source("broken").replace("    learners_type = ConstantLearners\n", ""),
        "broken",
        "learners_type must be a subclass of WeakLearners",
    ),
    "odd capabilities": (
        family_source("broken").replace("cwboost.Capabilities(exact_pricing=True)", "{'exact'}"),
        "broken",
        "capabilities must be a Capabilities, got set",
    ),
}


@pytest.mark.parametrize("case", REJECTED)
def test_a_broken_plugin_is_listed_and_disturbs_nothing(case, healthy):
    source, family, error = REJECTED[case]
    healthy("broken-dist", "0.3", broken_plugin=source)
    record = only_record("broken-dist")
    assert (record.version, record.family, record.state) == ("0.3", family, "failed")
    assert record.entry_point == "broken_plugin"
    assert record.family_class is None
    assert re.search(error, record.error), record.error
    assert_healthy_undisturbed()


@pytest.mark.parametrize("case", sorted(set(REJECTED) - {"name of a built-in"}))
def test_asking_for_the_broken_one_says_why(case, healthy):
    source, family, error = REJECTED[case]
    healthy("broken-dist", "0.3", broken_plugin=source)
    with pytest.raises(FamilyError, match=error) as caught:
        get_family(family or "broken_plugin")
    assert "broken-dist 0.3" in str(caught.value)
    assert isinstance(caught.value.__cause__, (Exception, SystemExit, type(None)))


def test_the_plugins_own_exception_is_the_cause(install):
    install("broken-dist", "0.3", broken_plugin="import a_module_that_nobody_has\n")
    with pytest.raises(FamilyError) as caught:
        get_family("broken_plugin")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_a_broken_built_in_is_not_replaced_by_a_third_party(install, monkeypatch):
    install("thief", "1", thief_plugin=family_source("stump"))
    monkeypatch.setitem(sys.modules, "cwboost.plugins.stumps", None)
    discovery.refresh()
    with pytest.raises(FamilyError, match=r"cwboost .*ModuleNotFoundError"):
        get_family("stump")
    assert only_record("thief").state == "failed"


def test_one_bad_family_of_a_plugin_leaves_the_good_one(healthy):
    good = family_source("good")
    bad = family_source("old", class_name="Old", api_version=0, register=False)
    source = (good + bad).replace("    register(Constant)", "    register(Old); register(Constant)")
    healthy("mixed", "1", mixed_plugin=source)
    assert_usable("good")
    with pytest.raises(FamilyError, match="version 0"):
        get_family("old")


def test_two_families_of_one_name_name_both_distributions(healthy):
    healthy("left-dist", "1.0", left_plugin=family_source("twin"))
    healthy("right-dist", "2.0", right_plugin=family_source("twin"))
    for record in (only_record("left-dist"), only_record("right-dist")):
        assert (record.family, record.state) == ("twin", "conflict")
        assert "left-dist 1.0" in record.error and "right-dist 2.0" in record.error
        assert record.family_class is None
    with pytest.raises(FamilyError, match=r"left-dist 1\.0.*right-dist 2\.0"):
        get_family("twin")
    assert_healthy_undisturbed()


def test_an_unknown_name_lists_the_known_and_what_failed(healthy):
    healthy("broken-dist", "0.3", broken_plugin="import a_module_that_nobody_has\n")
    with pytest.raises(FamilyError) as caught:
        get_family("no_such_family")
    message = str(caught.value)
    assert "unknown weak learner 'no_such_family'" in message
    for part in (*BUILT_IN, "healthy", "broken-dist 0.3", "a_module_that_nobody_has"):
        assert part in message


def test_a_plugin_that_asks_for_families_while_loading_fails_alone(healthy):
    source = "import cwboost\ncwboost.get_family('healthy')\n" + family_source("curious")
    healthy("curious-dist", "1", curious_plugin=source)
    assert "while plugins were being loaded" in only_record("curious-dist").error
    assert_healthy_undisturbed()


def test_damaged_entry_points_are_recorded(healthy):
    info = healthy("broken-dist", "0.3", broken_plugin="")
    (info / "entry_points.txt").write_text("[cwboost]\nbroken = not a module!\n")
    discovery.refresh()
    assert only_record("broken-dist").state == "failed"
    (info / "entry_points.txt").write_text("[cwboost]\nno equals sign\n")
    discovery.refresh()
    assert only_record("broken-dist").state == "failed"
    assert_healthy_undisturbed()


def test_a_distribution_without_metadata_is_named_by_its_place(install, tmp_path):
    info = install("nameless", "1", nameless_plugin=family_source("nameless"))
    (info / "METADATA").unlink()
    discovery.refresh()
    record = next(r for r in list_plugins() if r.family == "nameless")
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
    names = [record.distribution for record in list_plugins()]
    own = names.count("cwboost")
    assert own == len(BUILT_IN) and names[:own] == ["cwboost"] * own
    assert names[own:] == sorted(names[own:])
    assert {"a-dist", "healthy-dist"} <= set(names)


def test_resolve_takes_names_and_instances_only(healthy):
    family = get_family("healthy")
    instance = family()
    assert resolve_weak_learner(instance) is instance
    with pytest.raises(TypeError, match=r"got the class Constant; pass an instance: Constant\(\)"):
        resolve_weak_learner(family)
    for value in (None, 3, ["stump"], object()):
        with pytest.raises(TypeError, match="weak_learner must be the name of a registered"):
            resolve_weak_learner(value)
    with pytest.raises(TypeError, match="must be a str, got int"):
        get_family(3)


def test_resolve_checks_an_instance_too(healthy):
    old = type("Old", (get_family("healthy"),), {"api_version": 0})()
    with pytest.raises(FamilyError, match="version 0 of the contract"):
        resolve_weak_learner(old)


def test_capabilities_are_checked_with_a_readable_message(healthy):
    family = resolve_weak_learner("healthy")
    check_capabilities(family)
    check_capabilities(family, requires=["exact_pricing"])
    with pytest.raises(ValueError) as caught:
        check_capabilities(family, has_missing=True)
    message = str(caught.value)
    assert "weak learner 'healthy'" in message
    assert "missing_values is needed because X contains NaN" in message
    able = [r.family for r in list_plugins() if "missing_values" in r.capabilities]
    assert "Registered families with missing_values: " in message
    assert all(repr(name) in message for name in able)
    with pytest.raises(ValueError, match=r"sparse_input is needed because X is sparse"):
        check_capabilities(family, is_sparse=True)
    with pytest.raises(ValueError, match="shared_pricing is required"):
        check_capabilities(family, requires=["shared_pricing"])
    with pytest.raises(ValueError, match="no capability of a family: speed"):
        check_capabilities(family, requires=["speed"])


def test_importing_cwboost_loads_no_plugin_and_no_pluggy_manager():
    code = (
        "import sys, cwboost; "
        "names = ('cwboost.plugins', 'cwboost.families.discovery'); "
        "loaded = [m for m in sys.modules if m.startswith(names)]; "
        "sys.exit(', '.join(loaded) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_public_names_resolve_and_others_do_not():
    for name in cwboost.__all__:
        assert getattr(cwboost, name) is not None
    assert set(cwboost.__all__) <= set(dir(cwboost))
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_that_name'"):
        cwboost.nothing_of_that_name  # noqa: B018


def test_a_taken_name_keeps_meaning_the_built_in(healthy):
    own = get_family("stump")
    healthy("thief", "1", thief_plugin=family_source("stump"))
    assert get_family("stump") is own
    assert_usable("stump")
    assert_healthy_undisturbed()


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


def test_built_ins_resolve_without_loading_third_parties(install):
    install("healthy-dist", "2.1", **HEALTHY)
    for name in BUILT_IN:
        get_family(name)
    assert "healthy_plugin" not in sys.modules
    get_family("healthy")
    assert "healthy_plugin" in sys.modules


def test_a_plugin_may_use_a_built_in_while_loading(install):
    source = "import cwboost\nBASE = cwboost.get_family('stump')\n" + family_source("derived")
    install("derived-dist", "1", derived_plugin=source)
    assert only_record("derived-dist").state == "loaded"
