"""Discovery of families: every way a plugin can fail is shown, explained and kept to itself."""

import importlib
import re
import subprocess
import sys

import numpy as np
import pytest
from plugin_folder import family_source, write_distribution
from quantile_family import QuantileStumps

import cwboost
from cwboost.families import discovery, examination
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
    monkeypatch.delenv("CWBOOST_DISABLE_PLUGINS", raising=False)
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
        "version 0 .* accepts version 1: the plugin needs an update",
    ),
    "newer API": (
        family_source("broken", api_version=2),
        "broken",
        "version 2 .* accepts version 1: cwboost is too old",
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


def test_an_unknown_name_lists_the_known_and_the_closest_and_no_traceback(healthy):
    healthy("broken-dist", "0.3", broken_plugin="import a_module_that_nobody_has\n")
    with pytest.raises(FamilyError) as caught:
        get_family("stmup")
    message = str(caught.value)
    assert message.startswith("unknown weak learner 'stmup', did you mean 'stump'? Known: ")
    for name in (*BUILT_IN, "healthy"):
        assert repr(name) in message
    assert message.endswith("1 plugin failed to load; 'cwboost plugins' says why.")
    assert "a_module_that_nobody_has" not in message


def test_a_name_of_an_entry_point_imports_no_other_plugin(install):
    install("first-dist", "1", {"first": "first_plugin"}, first_plugin=family_source("first"))
    install("other-dist", "1", {"other": "other_plugin"}, other_plugin=family_source("other"))
    assert get_family("first").name == "first"
    assert "other_plugin" not in sys.modules
    assert get_family("other").name == "other"


def test_several_entry_points_may_lead_to_one_module(install):
    source = family_source("first") + family_source("second", class_name="Other", register=False)
    source = source.replace("    register(Constant)", "    register(Constant)\n    register(Other)")
    install("pair", "1", {"first": "pair_plugin", "second": "pair_plugin"}, pair_plugin=source)
    assert get_family("second").name == "second"
    records = [record for record in list_plugins() if record.distribution == "pair"]
    assert [(r.family, r.entry_point) for r in records] == [("first", "first"), ("second",) * 2]


def test_an_entry_point_may_name_a_class(install):
    source = family_source("direct", register=False)
    install("direct-dist", "1", {"direct": "direct_plugin:Constant"}, direct_plugin=source)
    assert get_family("direct").name == "direct"


@pytest.mark.parametrize("list_first", [False, True])
def test_an_entry_point_reserves_its_name(install, list_first):
    install("owner", "1", {"mine": "owner_plugin"}, owner_plugin=family_source("mine"))
    install("thief", "2", {"loot": "thief_plugin"}, thief_plugin=family_source("mine"))
    if list_first:
        list_plugins()
    assert get_family("mine").__module__ == "owner_plugin"
    record = only_record("thief")
    assert record.state == "failed"
    assert record.error == "ValueError: the name 'mine' is taken by an entry point of owner 1"


DISABLED = ["Healthy.Dist", "healthy", " other , healthy_dist,"]


@pytest.mark.parametrize("value", DISABLED)
def test_plugins_can_be_disabled_one_by_one(install, monkeypatch, value):
    install("healthy-dist", "2.1", {"healthy": "healthy_plugin"}, **HEALTHY)
    install("second-dist", "1", {"second": "second_plugin"}, second_plugin=family_source("second"))
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", value)
    record = only_record("healthy-dist")
    assert (record.state, record.entry_point, record.error) == ("disabled", "healthy", None)
    assert "healthy_plugin" not in sys.modules
    assert_usable("second")
    with pytest.raises(FamilyError, match=r"'healthy' is turned off: CWBOOST_DISABLE_PLUGINS"):
        get_family("healthy")
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", "")
    assert_usable("healthy")


def test_one_family_of_a_plugin_can_be_disabled(install, monkeypatch):
    source = family_source("first") + family_source("second", class_name="Other", register=False)
    source = source.replace("    register(Constant)", "    register(Constant)\n    register(Other)")
    install("pair", "1", {"first": "pair_plugin", "second": "pair_plugin"}, pair_plugin=source)
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", "second")
    assert get_family("first").name == "first"
    with pytest.raises(FamilyError, match="'second' is turned off"):
        get_family("second")


# --- versions of the contract -------------------------------------------------------------------


@pytest.fixture
def newer_contract(monkeypatch):
    """As if the contract had version 3 and accepted 1 to 3."""
    monkeypatch.setattr(examination, "API_VERSION", 3)


def test_a_family_of_an_older_accepted_version_works_and_warns(healthy, newer_contract):
    with pytest.warns(DeprecationWarning, match=r"'healthy' is written for version 1 .* version 3"):
        family = get_family("healthy")
    assert only_record("healthy-dist").state == "loaded"
    with pytest.warns(DeprecationWarning, match="the plugin needs an update"):
        resolve_weak_learner(family())


@pytest.mark.parametrize("version", [0, 4])
def test_versions_outside_the_window_are_refused(install, newer_contract, version):
    source = family_source("odd", api_version=version)
    install("odd-dist", "1", {"odd": "odd_plugin"}, odd_plugin=source)
    with pytest.raises(FamilyError, match=f"version {version} .* accepts versions 1 to 3"):
        get_family("odd")


def test_the_present_version_warns_of_nothing(healthy):
    get_family("healthy")  # Warnings are errors here.


# --- registration at run time -------------------------------------------------------------------


@pytest.fixture
def register():
    """`register_family`, undone behind the test."""
    before = dict(discovery._registry._registered)
    yield cwboost.register_family
    discovery._registry._registered = before


def constant_family(name, qualname="Constant"):
    namespace = {"__name__": "a_notebook"}
    exec(family_source(name, class_name=qualname, register=False), namespace)
    return namespace[qualname]


def test_a_registered_family_trains_saves_and_loads(register, tmp_path):
    assert register(QuantileStumps) is QuantileStumps  # A decorator gives back its class.
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    model = cwboost.CWBoostClassifier("quantile", n_estimators=5).fit(X, y)
    model.save(tmp_path / "model.cwb")
    loaded = cwboost.load_model(tmp_path / "model.cwb")
    assert (loaded.decision_function(X) == model.decision_function(X)).all()
    record = next(record for record in list_plugins() if record.family == "quantile")
    assert (record.state, record.distribution) == ("loaded", QuantileStumps.__module__)


def test_a_cell_that_runs_again_replaces_its_class(register):
    register(constant_family("mine"))
    again = constant_family("mine")
    register(again)
    register(again)
    assert get_family("mine") is again


def test_registration_is_refused_where_the_name_is_taken(register, install):
    install("healthy-dist", "2.1", {"healthy": "healthy_plugin"}, **HEALTHY)
    with pytest.raises(FamilyError, match="'stump' is taken by cwboost"):
        register(constant_family("stump"))
    with pytest.raises(FamilyError, match=r"'healthy' is taken by healthy-dist 2\.1"):
        register(constant_family("healthy"))
    register(constant_family("mine"))
    with pytest.raises(FamilyError, match=r"taken by the class a_notebook\.Constant"):
        register(constant_family("mine", "Other"))
    with pytest.raises(TypeError, match="got the class dict"):
        register(dict)
    assert register(get_family("stump")) is get_family("stump")


def test_a_plugin_found_later_does_not_take_a_registered_name(register, install):
    mine = register(constant_family("mine"))
    install("late-dist", "1", {"mine": "late_plugin"}, late_plugin=family_source("mine"))
    assert get_family("mine") is mine
    assert only_record("late-dist").error.endswith("taken by the class a_notebook.Constant")


def test_shipped_families_are_names_of_the_package():
    for name, attribute in (("stump", "StumpFamily"), ("tree", "TreeFamily")):
        assert getattr(cwboost, attribute) is get_family(name)
    assert cwboost.ProjectionFamily is get_family("projection")


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
        "names = ('cwboost.plugins', 'cwboost.families.discovery', 'cwboost.families.registry'); "
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
