"""The plugin that the tutorial's page shows: short, found, useful.

The tests of fresh environments run its own tests.
"""

import importlib
import re
import sys

import numpy as np
import pytest
from models import paper
from plugin_folder import write_distribution

import cwboost
from cwboost import load_model
from cwboost.cli import main
from cwboost.commands._plugin_writer import write_plugin
from cwboost.datasets import load_vowel
from cwboost.families import discovery


@pytest.fixture(scope="module", autouse=True)
def written(tmp_path_factory):
    """The folder of the plugin, on the path with the metadata of an installed distribution."""
    folder = write_plugin("easy", tmp_path_factory.mktemp("plugin") / "new")
    project = (folder / "pyproject.toml").read_text()
    (points,) = re.findall(r'^\[project.entry-points."cwboost"\]\n(.*) = "(.*)"', project, re.M)
    write_distribution(folder / "src", "cwboost-easy", "0.1.0", dict([points]), {})
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CWBOOST_PLUGINS", raising=False)
        patch.delenv("CWBOOST_DISABLE_PLUGINS", raising=False)
        patch.setenv("PYTHONPATH", str(folder / "src"))
        patch.syspath_prepend(str(folder / "src"))
        importlib.invalidate_caches()
        discovery.refresh()
        yield folder
    sys.modules.pop("cwboost_easy", None)
    discovery.refresh()


@pytest.fixture(scope="module")
def data():
    X, y = load_vowel(return_X_y=True)
    return X[:528], y[:528], X[528:], y[528:]


def test_the_class_has_at_most_25_lines(written):
    lines = (written / "src" / "cwboost_easy.py").read_text().splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 25


def test_directions_by_the_weights_beat_random_ones(data):
    X, y, X_test, y_test = data
    families = "easy", cwboost.ProjectionFamily(n_projections=11)
    model, random = (paper(family, n_estimators=12).fit(X, y) for family in families)
    assert model.history_["objective"][-1] < random.history_["objective"][-1]
    assert model.score(X, y) > 0.9 and model.score(X_test, y_test) > 0.3


def test_it_runs_on_the_command_line(data, tmp_path, capsys):
    X, y, *_ = data
    table, path = tmp_path / "train.csv", tmp_path / "model.cwb"
    header = ",".join([*(f"x{k}" for k in range(X.shape[1])), "class"])
    np.savetxt(table, np.column_stack([X, y]), delimiter=",", header=header, comments="")
    fit = ["fit", str(table), str(path), "--weak-learner", "easy", "--rounds", "5"]
    assert main([*fit, "--set", "weak_learner__fraction=0.8"]) == 0
    assert load_model(path).family_.fraction == 0.8
    assert main(["evaluate", str(path), str(table)]) == 0
    assert main(["inspect", str(path)]) == 0
    assert "easy" in capsys.readouterr().out
