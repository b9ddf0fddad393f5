"""What `cwboost plugins new` writes, and where it refuses to."""

from pathlib import Path

import pytest
from plugin_folder import write_distribution

from cwboost import get_include
from cwboost.commands._plugin_writer import write_plugin

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "plugins" / "example_plugin"


@pytest.mark.parametrize("name", ["Wave", "9lives", "wave-let", "wave__let", "wave_", "", "../x"])
def test_names_of_new_plugins_are_checked(name, tmp_path):
    with pytest.raises(ValueError, match="name of the plugin must start with a lower-case letter"):
        write_plugin(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_new_plugin_is_the_example_under_its_name(tmp_path):
    folder = write_plugin("wave_let", tmp_path / "new")
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert "src/cwboost_wave_let/_interval.pyx" in written
    assert "tests/test_wave_let.py" in written
    # The build of cwboost puts the declarations into the template.
    declarations = "src/cwboost_wave_let/cwboost_kernels.pxd"
    written.remove(declarations)
    public = Path(get_include(), "cwboost", "kernels", "__init__.pxd")
    assert (folder / declarations).read_text() == public.read_text()
    for path in written:
        text = (folder / path).read_text()
        assert "acme" not in text
        original = EXAMPLE / path.replace("wave_let", "acme")
        assert text == original.read_text().replace("-acme", "-wave-let").replace(
            "acme", "wave_let"
        )
    sources = [EXAMPLE / "pyproject.toml", EXAMPLE / "setup.py", EXAMPLE / "README.md"]
    sources += EXAMPLE.glob("src/cwboost_acme/*.py*")
    sources += EXAMPLE.glob("tests/*.py")
    assert len(written) == len(sources)


def test_a_new_plugin_in_python_alone_has_no_cython(tmp_path):
    folder = write_plugin("wavelet", tmp_path / "new", python_only=True)
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    package = "src/cwboost_wavelet"
    assert written == {
        "README.md",
        "pyproject.toml",
        f"{package}/__init__.py",
        f"{package}/ball.py",
        "tests/test_wavelet.py",
    }
    for path in written:
        text = (folder / path).read_text().lower()
        assert "cython" not in text and "interval" not in text and "acme" not in text, path


TAKEN = ["stump", "stumps", "tree", "trees", "projection", "projections"]


@pytest.mark.parametrize("name", TAKEN)
def test_taken_names_are_refused(name, tmp_path):
    with pytest.raises(ValueError, match=f"the name '{name}' is that of .*: choose another"):
        write_plugin(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_names_of_installed_plugins_and_modules_are_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    write_distribution(tmp_path, "cwboost-here", "2", {"x": "x"}, {})
    write_distribution(tmp_path, "else", "3", {"there_ball": "x"}, {"cwboost_module": ""})
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


def test_the_python_family_is_short():
    assert len((EXAMPLE / "src/cwboost_acme/ball.py").read_text().splitlines()) < 60
