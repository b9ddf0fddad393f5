"""Every failure of a plugin is listed, explained and isolated."""

import importlib
import re
import sys
from threading import Event, Thread
from types import ModuleType

import pytest
from models import at_once
from plugin_folder import (
    ANOTHER,
    CAPABLE,
    HOOK,
    REGISTER,
    assert_healthy_undisturbed,
    assert_usable,
    family_source,
    loading,
    only_record,
)

from cwboost.families.discovery import FamilyError, get_family

SUBCLASS = "plugin must be a subclass of WeakLearnerFamily, got "
ASKS = "cwboost.get_family('stump')"
ENTRY = "broken_plugin"
NO_HOOK = "must be a class, .* or implement the hook .* which must register a weak learner"
STATIC = "@classmethod\n    def from_arrays("
FOR_VERSION_1 = "accepts versions 1 to 1: "


def changed(old, new=""):
    """Return the source of a family "broken" with an edit."""
    return family_source("broken", (old, new))


def versioned(number):
    return changed("api_version = 1", f"api_version = {number}")


# What a plugin holds, the name of its record (that of the entry point if it has none), its error.
REJECTED = {
    "import error": ("import a_module_that_nobody_has\n", ENTRY, "a_module_that_nobody_has"),
    "syntax error": ("def broken(:\n", ENTRY, "SyntaxError"),
    "exit while importing": ("raise SystemExit(3)\n", ENTRY, "SystemExit: 3"),
    "wrong hook signature": (changed("(register):", "(registry):"), ENTRY, "registry"),
    "unknown hook": (changed("cwboost_register_families", "cwboost_fa"), ENTRY, "cwboost_fa"),
    "hook without decorator": (changed(HOOK), ENTRY, NO_HOOK),
    "nothing registered": (changed(REGISTER, "pass"), ENTRY, NO_HOOK),
    "raises while registering": (changed(REGISTER, "raise OSError('no')"), ENTRY, "OSError: no"),
    "raises later": (changed(REGISTER, f"{REGISTER}\n1 / 0"), ENTRY, "ZeroDivisionError"),
    "not a class": (changed(REGISTER, f"{REGISTER[:-1]}())"), ENTRY, f"{SUBCLASS}ReferenceStump"),
    "not a family": (changed(REGISTER, "register(dict)"), ENTRY, f"{SUBCLASS}the class dict"),
    "older API": (versioned(0), "broken", f"version 0 .* {FOR_VERSION_1}the plugin needs"),
    "newer API": (versioned(2), "broken", f"version 2 .* {FOR_VERSION_1}cwboost is"),
    "no API version": (changed("api_version = 1"), "broken", "must be an int, got None"),
    "no name": (changed('name = "broken"'), ENTRY, "name must be"),
    "odd name": (family_source("../broken"), "../broken", "name must be"),
    "name of a built-in": (family_source("stump"), "stump", "'stump' is taken by cwboost"),
    "abstract class": (changed("def bind(", "def tie("), "broken", "does not define bind"),
    "needs arguments": (changed("(self, share=1.0)", "(self, share)"), "broken", "share"),
    "no learners type": (changed("learners_type = ReferenceLearners"), "broken", "of WeakLearners"),
    "odd capabilities": (changed(CAPABLE, "{'exact'}"), "broken", "a Capabilities, got set"),
    "not static": (changed(STATIC, "def from_arrays("), "broken", "from_arrays must not take self"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REJECTED)
def test_a_broken_plugin_is_listed_explained_and_disturbs_nothing(case, healthy):
    source, family, error = REJECTED[case]
    healthy("broken-dist", "0.3", broken_plugin=source)
    record = only_record("broken-dist")
    assert (record.version, record.name, record.state) == ("0.3", family, "failed")
    assert record.plugin_class is None
    assert re.search(error, record.error), record.error
    assert_healthy_undisturbed()
    if case == "name of a built-in":
        return
    with pytest.raises(FamilyError, match=error) as caught:
        get_family(family)
    assert "broken-dist 0.3" in str(caught.value)
    if case == "import error":
        assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_one_bad_family_of_a_plugin_leaves_the_good_one(healthy):
    register_both = f"register(Another)\n{REGISTER}"
    source = family_source("good", (REGISTER, register_both)) + ANOTHER.format("old", 0)
    healthy("mixed", "1", mixed_plugin=source)
    assert_usable("good")
    with pytest.raises(FamilyError, match="version 0"):
        get_family("old")


def test_a_plugin_that_asks_for_families_while_loading_fails_alone(healthy):
    healthy("curious-dist", "1", curious_plugin=loading("curious", "cwboost.get_family('healthy')"))
    assert "while plugins were being loaded" in only_record("curious-dist").error
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
    install("sleepy-dist", "1", sleepy_plugin=loading("slow", "import time", "time.sleep(0.2)"))
    found = at_once(lambda _: get_family("slow"))
    assert len(found) == 4 and len(set(found)) == 1
