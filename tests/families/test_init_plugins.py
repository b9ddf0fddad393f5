"""Init models are found, refused and listed as weak learners are."""

import pytest
from plugin_folder import assert_healthy_undisturbed, write_distribution

from cwboost import get_init
from cwboost.families import discovery
from cwboost.families.discovery import FamilyError, list_plugins

SOURCE = """
import cwboost
import numpy as np


class FittedFlat(cwboost.FittedInit):
    def __init__(self, prior):
        self.prior = prior

    def scores(self, X, n_threads=1):
        return np.tile(self.prior, (X.shape[0], 1))

    def arrays(self):
        return {"prior": self.prior}

    @classmethod
    def from_arrays(cls, arrays, n_features, n_classes):
        return cls(*cwboost.check_arrays(arrays, {"prior": ("float64", (n_classes,))}))


class Flat(cwboost.InitModel):
    name, api_version, fitted_type = "flat", 1, FittedFlat

    def fit(self, X, y, context):
        fitted = FittedFlat(np.log(np.bincount(y) / len(y)))
        return fitted, fitted.scores(X)
"""


@pytest.fixture
def installed(healthy, tmp_path):
    """A function that installs a module with an init model as the distribution flat-dist."""

    def write(source=SOURCE, target="flat_plugin:Flat", distribution="flat-dist", name="flat"):
        module = target.partition(":")[0]
        info = write_distribution(tmp_path, distribution, "3", {name: target}, {module: source})
        text = (info / "entry_points.txt").read_text()
        (info / "entry_points.txt").write_text(text.replace("[cwboost]", "[cwboost.init]"))
        discovery.refresh()

    return write


def record_of_flat():
    (record,) = [record for record in list_plugins() if record.distribution == "flat-dist"]
    return record


def test_an_init_model_is_found_by_its_entry_point(installed):
    installed()
    assert get_init("flat").__module__ == "flat_plugin"
    record = record_of_flat()
    assert (record.kind, record.name, record.state) == ("init model", "flat", "loaded")
    assert_healthy_undisturbed()


def test_an_init_model_can_be_disabled(installed, monkeypatch):
    installed()
    monkeypatch.setenv("CWBOOST_DISABLE_PLUGINS", "flat")
    with pytest.raises(FamilyError, match="init model 'flat' is turned off"):
        get_init("flat")


BROKEN = {
    "not a class": (SOURCE, "flat_plugin", "must be a class, got module"),
    "no init model": (SOURCE, "flat_plugin:FittedFlat", "expected a subclass of InitModel"),
    "abstract": (SOURCE.replace("def fit(", "def fix("), None, "Flat does not define fit"),
    "no fitted type": (
        SOURCE.replace("fitted_type = ", "other = "),
        None,
        "fitted_type must be a subclass of FittedInit, got NoneType",
    ),
    "not static": (
        SOURCE.replace("    @classmethod\n", ""),
        None,
        "FittedFlat.from_arrays must not take self: put @classmethod before it",
    ),
    "newer": (SOURCE.replace('"flat", 1', '"flat", 2'), None, "cwboost is too old"),
    "import error": ("import nowhere_at_all", None, "nowhere_at_all"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_init_model_is_listed_and_explained(installed, case):
    source, target, message = BROKEN[case]
    installed(source, target or "flat_plugin:Flat")
    assert record_of_flat().state == "failed"
    with pytest.raises(FamilyError, match=message) as caught:
        get_init("flat")
    assert "flat-dist 3" in str(caught.value)
    assert_healthy_undisturbed()


def test_names_of_shipped_and_of_two_init_models_are_refused(installed):
    installed(SOURCE.replace('"flat"', '"kernel"'), name="kernel")
    assert "'kernel' is taken by cwboost" in record_of_flat().error
    assert get_init("kernel").__module__.startswith("cwboost.plugins.kernel")
    installed(target="one_flat:Flat", distribution="one-dist")
    installed(target="other_flat:Flat", distribution="other-dist")
    with pytest.raises(FamilyError, match=r"registered by one-dist 3 .* and other-dist 3"):
        get_init("flat")


def test_a_name_must_be_a_str():
    with pytest.raises(TypeError, match="name of init model: expected a str, got int"):
        get_init(3)
