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
        "registered no weak learner",
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
        family_source("broken").replace("cwboost.Capabilities()", "{'exact'}"),
        "broken",
        "capabilities must be a Capabilities, got set",
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
