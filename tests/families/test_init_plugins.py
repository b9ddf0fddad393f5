"""Init models are found as weak learners are, by the same registry; what is their own."""

from pathlib import Path

import pytest
from attack import edited
from plugin_folder import assert_healthy_undisturbed, only_record, write_distribution

from cwboost import get_init
from cwboost.families import discovery
from cwboost.families.discovery import FamilyError

TEMPLATE = Path(__file__).resolve().parents[2] / "plugins/templates/init/src/cwboost_acme.py"


@pytest.fixture
def installed(healthy, tmp_path):
    """A function that installs the template's init model, with an edit, as "flat"."""

    def write(target, *edits):
        source = edited(TEMPLATE.read_text(), ('"acme"', '"flat"'), *edits)
        info = write_distribution(tmp_path, "flat-dist", "3", {"flat": target}, {"flat": source})
        text = (info / "entry_points.txt").read_text()
        (info / "entry_points.txt").write_text(text.replace("[cwboost]", "[cwboost.init]"))
        discovery.refresh()

    return write


def test_an_init_model_is_found_by_its_entry_point(installed):
    installed("flat:Acme")
    assert get_init("flat").__module__ == "flat"
    record = only_record("flat-dist")
    assert (record.kind, record.name, record.state) == ("init model", "flat", "loaded")
    assert_healthy_undisturbed()


TYPE = "fitted_type must be a subclass of FittedInit, got NoneType"
BROKEN = {
    "not a class": ("flat", "must be a class, got module"),
    "no init model": ("flat:FittedAcme", "a subclass of InitModel"),
    "no fitted type": ("flat:Acme", TYPE, ("fitted_type = ", "other = ")),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_init_model_is_listed_and_explained(installed, case):
    target, message, *edits = BROKEN[case]
    installed(target, *edits)
    assert only_record("flat-dist").state == "failed"
    why = f"init model 'flat' cannot be used: flat-dist 3: .*{message}"
    with pytest.raises(FamilyError, match=why):
        get_init("flat")
    assert_healthy_undisturbed()
