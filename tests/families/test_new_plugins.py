"""What `cwboost plugins new` writes, and where it refuses to.

`project/test_packaging.py` installs what it writes.
"""

import re
from pathlib import Path

import pytest
from attack_plugins import planted
from plugin_folder import write_distribution

import cwboost
from cwboost import get_include
from cwboost.commands._plugin_writer import TEMPLATES, write_plugin
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


EASY = ROOT / "plugins/templates/family/src/cwboost_acme.py"


def test_the_code_of_the_tutorial_runs(register, vowel, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    register(planted(EASY).Acme)
    text = (ROOT / "docs/plugins/tutorial.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    X, y = vowel
    names = {"X": X, "y": y, "cwboost": cwboost, "CWBoostClassifier": cwboost.CWBoostClassifier}
    exec(code, names)
    assert names["clf"].score(X, y) > 0.9
