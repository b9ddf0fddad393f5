"""What `cwboost plugins new` writes, and where it refuses to."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from models import paper
from plugin_folder import write_distribution

import cwboost
from cwboost import get_include, load_model
from cwboost.cli import main
from cwboost.commands._plugin_writer import TEMPLATES, write_plugin
from cwboost.datasets import load_vowel
from cwboost.families import discovery

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["Wave", "9lives", "wave-let", "wave__let", "wave_", "", "../x"])
def test_names_of_new_plugins_are_checked(name, tmp_path):
    with pytest.raises(ValueError, match="name of the plugin must start with a lower-case letter"):
        write_plugin(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_new_plugin_is_the_template_under_its_name(template, tmp_path):
    folder = write_plugin("wave_let", tmp_path / "new", template)
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    for path in written:
        assert "acme" not in (folder / path).read_text().lower()
    root = ROOT / "plugins" / "templates" / template
    wanted = {
        path.relative_to(root).as_posix().replace("acme", "wave_let")
        for path in root.rglob("*")
        if path.is_file() and path.suffix in (".md", ".py", ".pyi", ".pyx")
    }
    if template == "cython":
        declarations = "src/cwboost_wave_let/cwboost_kernels.pxd"
        public = Path(get_include(), "cwboost", "kernels", "__init__.pxd")
        assert (folder / declarations).read_text() == public.read_text()
        wanted.add(declarations)
    assert written == wanted | {"pyproject.toml", "LICENSE", ".github/workflows/tests.yml"}
    project = (folder / "pyproject.toml").read_text()
    group = "cwboost.init" if template == "init" else "cwboost"
    entry = 'wave_let = "cwboost_wave_let:WaveLet"'
    assert f'[project.entry-points."{group}"]\n{entry}\n' in project
    assert 'name = "cwboost-wave-let"' in project
    assert ("Cython" in project) == (template == "cython")


@pytest.mark.parametrize("name", ["stump", "tree", "projection", "auto", "kernel"])
def test_taken_names_are_refused(name, tmp_path):
    with pytest.raises(ValueError, match=f"name of the plugin must be free, got '{name}', that of"):
        write_plugin(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_names_of_installed_plugins_and_modules_are_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    write_distribution(tmp_path, "cwboost-here", "2", {"x": "x"}, {})
    write_distribution(tmp_path, "else", "3", {"there": "x"}, {"cwboost_module": ""})
    discovery.refresh()
    cases = {"here": "cwboost-here 2", "there": "else 3", "module": "module cwboost_module"}
    for name, owner in cases.items():
        with pytest.raises(ValueError, match=owner):
            write_plugin(name, tmp_path / "new")


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(FileExistsError, match="exists and is not an empty folder"):
        write_plugin("wave", tmp_path)
    with pytest.raises(FileExistsError):
        write_plugin("wave", tmp_path / "mine.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


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
