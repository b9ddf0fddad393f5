"""Init models are found, refused and listed as weak learners are."""

from pathlib import Path

import pytest
from attack import edited
from plugin_folder import assert_healthy_undisturbed, write_distribution

from cwboost import get_init
from cwboost.families import discovery
from cwboost.families.discovery import FamilyError, list_plugins

TEMPLATE = Path(__file__).resolve().parents[2] / "plugins/templates/init/src/cwboost_acme.py"


def flat_source(*edits):
    """Return the source of the template's init model under the name "flat", with edits."""
    return edited(TEMPLATE.read_text(), ('"acme"', '"flat"'), *edits)


@pytest.fixture
def installed(healthy, tmp_path):
    """A function that installs a module with an init model as the distribution flat-dist."""

    def write(source=None, target="flat_plugin:Acme", distribution="flat-dist", name="flat"):
        module = target.partition(":")[0]
        modules = {module: flat_source() if source is None else source}
        info = write_distribution(tmp_path, distribution, "3", {name: target}, modules)
        text = (info / "entry_points.txt").read_text()
        (info / "entry_points.txt").write_text(text.replace("[cwboost]", "[cwboost.init]"))
        discovery.refresh()

    return write


def record_of_flat():
    (record,) = [record for record in list_plugins() if record.distribution == "flat-dist"]
    return record


def test_an_init_model_is_found_by_its_entry_point_and_can_be_disabled(installed, monkeypatch):
    installed()
    assert get_init("flat").__module__ == "flat_plugin"
    record = record_of_flat()
    assert (record.kind, record.name, record.state) == ("init model", "flat", "loaded")
    assert_healthy_undisturbed()
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", "flat")
    with pytest.raises(FamilyError, match="init model 'flat' is turned off"):
        get_init("flat")


CLASS = "flat_plugin:Acme"
TYPE = "fitted_type must be a subclass of FittedInit, got NoneType"
STATIC = "FittedAcme.from_arrays must not take self: put @classmethod before it"
BROKEN = {
    "not a class": (flat_source(), "flat_plugin", "must be a class, got module"),
    "no init model": (flat_source(), "flat_plugin:FittedAcme", "a subclass of InitModel"),
    "abstract": (flat_source(("def fit(", "def fix(")), CLASS, "Acme does not define fit"),
    "no fitted type": (flat_source(("fitted_type = ", "other = ")), CLASS, TYPE),
    "not static": (flat_source(("@classmethod\n    ", "")), CLASS, STATIC),
    "newer": (flat_source(("version = 1", "version = 2")), CLASS, "cwboost is too old"),
    "import error": ("import nowhere_at_all", CLASS, "nowhere_at_all"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_init_model_is_listed_and_explained(installed, case):
    source, target, message = BROKEN[case]
    installed(source, target)
    assert record_of_flat().state == "failed"
    with pytest.raises(FamilyError, match=message) as caught:
        get_init("flat")
    assert "flat-dist 3" in str(caught.value)
    assert_healthy_undisturbed()


def test_names_of_shipped_and_of_two_init_models_are_refused(installed):
    installed(edited(TEMPLATE.read_text(), ('"acme"', '"kernel"')), name="kernel")
    assert "'kernel' is taken by cwboost" in record_of_flat().error
    assert get_init("kernel").__module__.startswith("cwboost.plugins.kernel")
    installed(target="one_flat:Acme", distribution="one-dist")
    installed(target="other_flat:Acme", distribution="other-dist")
    with pytest.raises(FamilyError, match=r"taken by one-dist 3 and other-dist 3"):
        get_init("flat")
