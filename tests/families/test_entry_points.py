"""Discovery: who owns a name, what is imported for it, and plugins that fail, which fail alone."""

import importlib
import re
import sys
from pathlib import Path
from threading import Event, Thread
from types import ModuleType

import pytest
from attack import edited
from models import at_once
from plugin_folder import (
    BUILT_IN,
    CAPABLE,
    HEALTHY,
    HOOK,
    OWN_INIT_MODELS,
    PAIR,
    REGISTER,
    assert_healthy_undisturbed,
    assert_usable,
    family_source,
    loading,
    only_record,
    write_distribution,
)
from reference_family import ReferenceStump

from cwboost import get_init
from cwboost.cli import main
from cwboost.families import discovery
from cwboost.families.discovery import FamilyError, get_family, list_plugins

ASKS = "cwboost.get_family('stump')"
SUBCLASS = "plugin must be a subclass of WeakLearnerFamily, got "
NO_HOOK = "must be a class, .* or implement the hook .* which must register a weak learner"
STATIC = "@classmethod\n    def from_arrays("
NO_TEXT = "class Odd(BaseException):\n    __str__ = None\n\nraise Odd\n"
ODD_NAME = "class Odd(type(ReferenceStump)):\n    name = property(lambda cls: exit('odd'))\n"
OTHER_VERSION = r"api_version must be 1, the version of the contract .* got {}: update the older"


def changed(old, new=""):
    """Return the source of a family "broken" with an edit."""
    return family_source("broken", (old, new))


def versioned(number):
    return changed("api_version = 1", f"api_version = {number}")


# What the plugin of the entry point "broken" holds, and its error.
BROKEN = {
    "import error": ("import a_module_that_nobody_has\n", "a_module_that_nobody_has"),
    "syntax error": ("def broken(:\n", "SyntaxError"),
    "exit while importing": ("raise SystemExit(3)\n", "SystemExit: 3"),
    "cancelled while importing": ("import asyncio\nraise asyncio.CancelledError\n", "Cancelled"),
    "any exception while importing": ("raise BaseException('odd')\n", "BaseException: odd"),
    "an exception without a text": (NO_TEXT, "Odd"),
    "exits while registering": (changed(REGISTER, "exit('odd')"), "SystemExit: odd"),
    "exits while it is examined": (changed(CAPABLE, "exit('odd')"), "SystemExit: odd"),
    "exits when made": (changed("self.share = share", "exit('odd')"), "SystemExit: odd"),
    "exits when asked for its name": (
        changed(REGISTER, "register(Odd('Odd', (ReferenceStump,), {}))") + ODD_NAME,
        "SystemExit: odd",
    ),
    "wrong hook signature": (changed("(register):", "(registry):"), "registry"),
    "unknown hook": (changed("cwboost_register_families", "cwboost_fa"), "cwboost_fa"),
    "hook without decorator": (changed(HOOK), NO_HOOK),
    "nothing registered": (changed(REGISTER, "pass"), NO_HOOK),
    "raises while registering": (changed(REGISTER, "raise OSError('no')"), "OSError: no"),
    "raises later": (changed(REGISTER, f"{REGISTER}\n1 / 0"), "ZeroDivisionError"),
    "not a class": (changed(REGISTER, f"{REGISTER[:-1]}())"), f"{SUBCLASS}ReferenceStump"),
    "not a family": (changed(REGISTER, "register(dict)"), f"{SUBCLASS}the class dict"),
    "older API": (versioned(0), OTHER_VERSION.format(0)),
    "newer API": (versioned(2), OTHER_VERSION.format(2)),
    "no API version": (changed("api_version = 1"), OTHER_VERSION.format(None)),
    "no name": (changed('name = "broken"'), "name must be"),
    "odd name": (family_source("../broken"), "name must be"),
    "other name": (family_source("mine"), "entry point must be called 'mine', .* got 'broken'"),
    "abstract class": (changed("def bind(", "def tie("), "does not define bind"),
    "needs arguments": (changed("(self, share=1.0)", "(self, share)"), "share"),
    "no learners type": (changed("learners_type = ReferenceLearners"), "of WeakLearners"),
    "odd capabilities": (changed(CAPABLE, "{'exact'}"), "a Capabilities, got set"),
    "not static": (changed(STATIC, "def from_arrays("), "from_arrays must not take self"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_listed_explained_and_disturbs_nothing(case, healthy):
    source, error = BROKEN[case]
    healthy("broken-dist", "0.3", broken_plugin=source)
    record = only_record("broken-dist")
    assert (record.version, record.name, record.state) == ("0.3", "broken", "failed")
    assert record.plugin_class is None
    assert re.search(error, record.error), record.error
    assert_healthy_undisturbed()
    with pytest.raises(FamilyError, match=error) as caught:
        get_family("broken")
    assert "'broken' cannot be used: broken-dist 0.3: " in str(caught.value)
    assert caught.value.__cause__ is record.exception
    with pytest.raises(FamilyError, match=r"unknown weak learner 'third'.* 1 plugin failed"):
        get_family("third")
    assert main(["plugins"]) == 1


def test_an_interrupt_passes(install):
    install("slow-dist", "1", slow_plugin="raise KeyboardInterrupt\n")
    for ask in (list_plugins, lambda: get_family("slow")):
        with pytest.raises(KeyboardInterrupt):
            ask()


def test_a_name_imports_its_plugin_alone(install):
    """That of a built-in imports none."""
    for name in ("first", "other"):
        install(f"{name}-dist", "1", **{f"{name}_plugin": family_source(name)})
    for name in BUILT_IN:
        get_family(name)
    assert not {"first_plugin", "other_plugin"} & set(sys.modules)
    assert get_family("first").name == "first"
    assert "other_plugin" not in sys.modules
    assert get_family("other").name == "other"


def test_several_entry_points_may_lead_to_one_module(install, monkeypatch):
    install("pair", "1", {"first": "pair_plugin", "second": "pair_plugin"}, pair_plugin=PAIR)
    classes = [get_family(name).__name__ for name in ("second", "first")]
    assert classes == ["Another", "ReferenceStump"]
    records = [record for record in list_plugins() if record.distribution == "pair"]
    assert [(r.name, r.state) for r in records] == [("first", "loaded"), ("second", "loaded")]
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", "second")
    assert_usable("first")
    with pytest.raises(FamilyError, match="'second' is turned off"):
        get_family("second")


def test_one_bad_family_of_a_plugin_leaves_the_good_one(healthy):
    source = PAIR.replace("api_version = 1", "api_version = 0", 1)
    healthy("pair", "1", {"first": "pair_plugin", "second": "pair_plugin"}, pair_plugin=source)
    with pytest.raises(FamilyError, match=OTHER_VERSION.format(0)):
        get_family("first")
    assert_usable("second")


def test_two_families_of_one_name_name_both_distributions(healthy):
    for side, version in (("left", "1.0"), ("right", "2.0")):
        healthy(f"{side}-dist", version, {"twin": side}, **{side: family_source("twin")})
    for record in (only_record("left-dist"), only_record("right-dist")):
        assert (record.name, record.state) == ("twin", "failed")
        assert "taken by left-dist 1.0 and right-dist 2.0: uninstall one" in record.error
        assert record.plugin_class is None
    with pytest.raises(FamilyError, match=r"left-dist 1\.0.*right-dist 2\.0"):
        get_family("twin")
    assert_healthy_undisturbed()


def test_a_name_of_cwboost_stays_its_own(install, monkeypatch):
    install("thief", "1", stump_plugin=family_source("stump"))
    assert get_family("stump").__module__.startswith("cwboost.plugins")
    assert only_record("thief").error.startswith(
        "FamilyError: the name 'stump' is taken by cwboost"
    )
    monkeypatch.setitem(sys.modules, "cwboost.plugins.stumps", None)
    discovery.refresh()
    with pytest.raises(FamilyError, match=r"cwboost .*ModuleNotFoundError"):
        get_family("stump")


@pytest.mark.parametrize("value", ["Healthy.Dist", "healthy", " other , healthy_dist,"])
def test_plugins_can_be_disabled_one_by_one(install, monkeypatch, value):
    install("healthy-dist", "2.1", **HEALTHY)
    install("second-dist", "1", second_plugin=family_source("second"))
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", value)
    record = only_record("healthy-dist")
    assert (record.state, record.name, record.error) == ("disabled", "healthy", None)
    assert "healthy_plugin" not in sys.modules
    assert_usable("second")
    with pytest.raises(FamilyError, match=r"'healthy' is turned off: CWBOOST_DISABLE_PLUGINS"):
        get_family("healthy")
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", "")
    assert_usable("healthy")


def test_damaged_metadata_is_recorded_and_named_by_its_place(healthy, tmp_path):
    info = healthy("broken-dist", "0.3", broken_plugin="")
    for damaged in ("broken = not a module!", "no equals sign"):
        (info / "entry_points.txt").write_text(f"[cwboost]\n{damaged}\n")
        discovery.refresh()
        assert only_record("broken-dist").state == "failed"
    assert_healthy_undisturbed()
    info = healthy("nameless", "1", nameless_plugin=family_source("nameless"))
    (info / "METADATA").unlink()
    discovery.refresh()
    record = next(r for r in list_plugins() if r.name == "nameless")
    assert str(tmp_path) in record.distribution
    assert_usable("nameless")


def test_the_first_of_two_copies_of_a_distribution_counts(healthy, tmp_path, monkeypatch):
    second = tmp_path / "second"
    second.mkdir()
    write_distribution(second, "Healthy.Dist", "1.0", {"healthy": "healthy_plugin"}, {})
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


def test_a_registered_family_is_listed_and_replaced_by_its_cell_run_again(register):
    assert register(ReferenceStump) is ReferenceStump  # A decorator gives back its class.
    record = next(record for record in list_plugins() if record.name == "reference_stump")
    assert (record.state, record.distribution) == ("loaded", "reference_family.ReferenceStump")
    register(of_a_notebook("mine"))
    again = of_a_notebook("mine")
    register(again)
    register(again)
    assert get_family("mine") is again


def test_registration_is_refused_where_the_name_is_taken(register, healthy):
    with pytest.raises(FamilyError, match="'stump' is taken by cwboost"):
        register(of_a_notebook("stump"))
    with pytest.raises(FamilyError, match=r"'healthy' is taken by healthy-dist 2\.1"):
        register(of_a_notebook("healthy"))
    mine = register(of_a_notebook("mine"))
    with pytest.raises(FamilyError, match=r"taken by a_notebook\.ReferenceStump"):
        register(of_a_notebook("mine", "Other"))
    with pytest.raises(TypeError, match="got the class dict"):
        register(dict)
    assert register(get_family("stump")) is get_family("stump")
    healthy("late-dist", "1", mine_plugin=family_source("mine"))
    assert get_family("mine") is mine
    assert only_record("late-dist").error.endswith("taken by a_notebook.ReferenceStump")


def test_the_command_lists_families_failures_and_reasons(install, monkeypatch, capsys):
    install("fine-dist", "1.5", fine=family_source("fine"))
    install("bad-dist", "0.2", bad="import nowhere_at_all")
    assert main(["plugins"]) == 1
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines]
    fine = "fine weak learner fine-dist 1.5 loaded missing_values deterministic"
    assert fine.split() in rows
    bad = ["bad", "weak", "learner", "bad-dist", "0.2"]
    assert [*bad, "failed"] in [row[:6] for row in rows]
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


def test_a_plugin_may_ask_for_others_while_it_is_loaded_but_not_for_itself(healthy):
    healthy("curious-dist", "1", curious_plugin=loading("curious", "cwboost.get_family('healthy')"))
    assert_usable("curious")
    healthy("vain-dist", "1", vain_plugin=loading("vain", "cwboost.list_plugins()"))
    assert only_record("vain-dist").state == "failed"
    assert_healthy_undisturbed()


def test_a_plugin_that_asks_while_another_thread_waits_for_its_import(install, monkeypatch):
    """One thread imports a plugin, which asks for a family; another asks for the plugin."""
    gate = ModuleType("gate")
    gate.begun, gate.go_on = Event(), Event()
    monkeypatch.setitem(sys.modules, "gate", gate)
    waits = "import gate", "gate.begun.set()", "gate.go_on.wait(10)"
    install("derived-dist", "1", derived_plugin=loading("derived", *waits, ASKS))
    importing = Thread(target=importlib.import_module, args=("derived_plugin",), daemon=True)
    importing.start()
    assert gate.begun.wait(10)
    found = []
    asking = Thread(target=lambda: found.append(get_family("derived")), daemon=True)
    asking.start()
    asking.join(0.2)  # by now it waits for the import
    gate.go_on.set()
    for thread in (importing, asking):
        thread.join(10)
        assert not thread.is_alive()
    assert [family.name for family in found] == ["derived"]


def test_threads_that_ask_at_once_get_one_class(install):
    """The first result of loading stays."""
    install("sleepy-dist", "1", slow_plugin=loading("slow", "import time", "time.sleep(0.2)"))
    classes = at_once(lambda _: get_family("slow"))
    assert len(classes) == 4 and len(set(classes)) == 1


TEMPLATE = Path(__file__).resolve().parents[2] / "plugins/templates/init/src/cwboost_acme.py"
FITTED_TYPE = "fitted_type must be a subclass of FittedInit, got NoneType"
INIT_MODELS = {
    "sound": ("flat:Acme", None),
    "not a class": ("flat", "plugin must be a subclass of InitModel, got module"),
    "no init model": ("flat:FittedAcme", "a subclass of InitModel"),
    "no fitted type": ("flat:Acme", FITTED_TYPE, ("fitted_type = ", "other = ")),
}


@pytest.mark.parametrize("case", INIT_MODELS)
def test_init_models_have_a_group_of_their_own(case, healthy, tmp_path):
    target, message, *edits = INIT_MODELS[case]
    source = edited(TEMPLATE.read_text(), ('"acme"', '"flat"'), *edits)
    info = write_distribution(tmp_path, "flat-dist", "3", {"flat": target}, {"flat": source})
    text = (info / "entry_points.txt").read_text()
    (info / "entry_points.txt").write_text(text.replace("[cwboost]", "[cwboost.init]"))
    discovery.refresh()
    record = only_record("flat-dist")
    assert (record.kind, record.name) == ("init model", "flat")
    if message is None:
        assert record.state == "loaded" and get_init("flat").__module__ == "flat"
    else:
        why = f"init model 'flat' cannot be used: flat-dist 3: .*{message}"
        with pytest.raises(FamilyError, match=why):
            get_init("flat")
    assert_healthy_undisturbed()
