"""Every failure of a plugin is listed, explained and isolated."""

import importlib
import re
import sys
from threading import Event, Thread
from types import ModuleType

import pytest
from at_once import at_once
from plugin_folder import (
    PAIR,
    assert_healthy_undisturbed,
    assert_usable,
    family_source,
    only_record,
)

from cwboost.families.discovery import FamilyError, get_family

REGISTER, SUBCLASS = "register(Constant)", "expected a subclass of WeakLearnerFamily, got "
FOR_VERSION_1 = "accepts version 1: "


def changed(old="", new="", **source):
    """Return the source of a family with a part replaced."""
    whole = family_source(source.pop("name", "broken"), **source)
    assert old in whole
    return whole.replace(old, new) if old else whole + new


# What a plugin holds, the name that its record has, and its error.
REJECTED = {
    "import error": ("import a_module_that_nobody_has\n", None, "a_module_that_nobody_has"),
    "syntax error": ("def broken(:\n", None, "SyntaxError"),
    "exit while importing": ("raise SystemExit(3)\n", None, "SystemExit: 3"),
    "wrong hook signature": (changed("(register):", "(registry):"), None, "registry"),
    "unknown hook": (changed("cwboost_register_families", "cwboost_fa"), None, "cwboost_fa"),
    "no hook": (changed(register=False), None, "implements no hook"),
    "hook without decorator": (changed("@cwboost.hookimpl"), None, "implements no hook"),
    "nothing registered": (changed(REGISTER, "pass"), None, "registered no weak learner"),
    "raises while registering": (changed(REGISTER, "raise OSError('no')"), None, "OSError: no"),
    "raises after registering": (changed("", "    raise OSError('late')\n"), None, "OSError: late"),
    "not a class": (changed(REGISTER, "register(Constant())"), None, f"{SUBCLASS}Constant"),
    "not a family": (changed(REGISTER, "register(dict)"), None, f"{SUBCLASS}the class dict"),
    "older API": (
        changed(api_version=0),
        "broken",
        f"version 0 .* {FOR_VERSION_1}the plugin needs",
    ),
    "newer API": (changed(api_version=2), "broken", f"version 2 .* {FOR_VERSION_1}cwboost is"),
    "no API version": (changed("    api_version = 1\n"), "broken", "must be an int, got None"),
    "no name": (changed("    name = 'broken'\n"), None, "name must be"),
    "odd name": (changed(name="../broken"), "../broken", "name must be"),
    "name of a built-in": (changed(name="stump"), "stump", "'stump' is taken by cwboost"),
    "abstract class": (changed("def bind(", "def tie("), "broken", "does not define bind"),
    "needs arguments": (
        changed("", "\n\nConstant.__init__ = lambda self, size: None\n"),
        "broken",
        "size",
    ),
    "no learners type": (
        changed("    learners_type = ConstantLearners\n"),
        "broken",
        "must be a subclass of WeakL",
    ),
    "odd capabilities": (
        changed("cwboost.Capabilities()", "{'exact'}"),
        "broken",
        "a Capabilities, got set",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REJECTED)
def test_a_broken_plugin_is_listed_explained_and_disturbs_nothing(case, healthy):
    source, family, error = REJECTED[case]
    healthy("broken-dist", "0.3", broken_plugin=source)
    record = only_record("broken-dist")
    assert (record.version, record.name, record.state) == ("0.3", family, "failed")
    assert record.entry_point == "broken_plugin"
    assert record.plugin_class is None
    assert re.search(error, record.error), record.error
    assert_healthy_undisturbed()
    if case == "name of a built-in":
        return
    with pytest.raises(FamilyError, match=error) as caught:
        get_family(family or "broken_plugin")
    assert "broken-dist 0.3" in str(caught.value)


def test_the_plugins_own_exception_is_the_cause(install):
    install("broken-dist", "0.3", broken_plugin="import a_module_that_nobody_has\n")
    with pytest.raises(FamilyError) as caught:
        get_family("broken_plugin")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_one_plugin_may_register_several_families(install):
    install("pair", "1", pair_plugin=PAIR)
    assert [get_family(name).__name__ for name in ("first", "second")] == ["Constant", "Other"]


def test_one_bad_family_of_a_plugin_leaves_the_good_one(healthy):
    good = family_source("good")
    bad = family_source("old", class_name="Old", api_version=0, register=False)
    source = (good + bad).replace("    register(Constant)", "    register(Old); register(Constant)")
    healthy("mixed", "1", mixed_plugin=source)
    assert_usable("good")
    with pytest.raises(FamilyError, match="version 0"):
        get_family("old")


def test_a_plugin_that_asks_for_families_while_loading_fails_alone(healthy):
    source = "import cwboost\ncwboost.get_family('healthy')\n" + family_source("curious")
    healthy("curious-dist", "1", curious_plugin=source)
    assert "while plugins were being loaded" in only_record("curious-dist").error
    assert_healthy_undisturbed()


def test_a_plugin_may_use_a_built_in_while_loading(install):
    source = "import cwboost\nBASE = cwboost.get_family('stump')\n" + family_source("derived")
    install("derived-dist", "1", derived_plugin=source)
    assert only_record("derived-dist").state == "loaded"


def test_a_plugin_that_asks_while_another_thread_waits_for_its_import(install, monkeypatch):
    """One thread imports a plugin, which asks for a family; another asks for the plugin."""
    gate = ModuleType("gate")
    gate.begun, gate.go_on = Event(), Event()
    monkeypatch.setitem(sys.modules, "gate", gate)
    source = "import cwboost, gate\ngate.begun.set()\ngate.go_on.wait(10)\n"
    source += "BASE = cwboost.get_family('stump')\n" + family_source("derived")
    install("derived-dist", "1", derived_plugin=source)
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
    install(
        "sleepy-dist", "1", sleepy_plugin="import time; time.sleep(0.2)\n" + family_source("slow")
    )
    found = at_once(lambda _: get_family("slow"))
    assert len(found) == 4 and len(set(found)) == 1
