"""Third-party plugins from end to end: new plugins, built and installed with the wheel."""

import shutil
from pathlib import Path

import pytest
from plugin_folder import write_distribution

from cwboost.commands._plugin_writer import write_plugin

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "plugins" / "example_plugin"

TRAIN = """
import pickle, sys
from pathlib import Path
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from cwboost import CWBoostClassifier, get_family, load_model
from cwboost.datasets import load_vowel

X, y = load_vowel(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
for name in sys.argv[1:]:
    for weak_learner in (name, get_family(name)()):
        clf = CWBoostClassifier(weak_learner, n_estimators=20, random_state=0).fit(X, y)
        score = clf.score(X_test, y_test)
        assert score > 0.5, (name, score)
        expected = clf.decision_function(X_test)
        clf.save(Path("model.cwb"))
        for other in (pickle.loads(pickle.dumps(clf)), load_model(Path("model.cwb")),
                      clone(clf).fit(X, y)):
            assert (other.decision_function(X_test) == expected).all(), name
    print(name, score)
"""


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
    for path in written:
        text = (folder / path).read_text()
        assert "acme" not in text
        original = EXAMPLE / path.replace("wave_let", "acme")
        assert text == original.read_text().replace("-acme", "-wave-let").replace(
            "acme", "wave_let"
        )
    sources = [EXAMPLE / "pyproject.toml", EXAMPLE / "setup.py", EXAMPLE / "README.md"]
    sources += EXAMPLE.glob("src/cwboost_acme/*.p[xy]*")
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


def test_the_template_keeps_a_copy_of_the_public_declarations():
    copy = EXAMPLE / "src/cwboost_acme/cwboost_kernels.pxd"
    assert copy.read_text() == (ROOT / "cwboost/kernels/__init__.pxd").read_text()


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


@pytest.fixture(scope="module")
def environment(c_compiler, wheel_environment, tmp_path_factory):
    """A new plugin, which is the example under its name, installed with the wheel of cwboost."""
    source = tmp_path_factory.mktemp("third_party") / "new"
    wheel_environment.command("plugins", "new", "wave_let", "--output", source)
    # As the tutorial says. No index has cwboost: the build, isolated from the environment with
    # its wheel, must do without, beside a released cwboost and beside a checkout.
    wheel_environment.pip_install(f"{source}[test]")
    wheel_environment.plugin = source
    return wheel_environment


@pytest.mark.slow
def test_both_families_are_listed(environment):
    lines = environment.command("plugins").splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line}
    assert rows["wave_let_ball"][:4] == ["cwboost-wave-let", "0.1.0", "1", "loaded"]
    assert rows["wave_let_interval"][:4] == ["cwboost-wave-let", "0.1.0", "1", "loaded"]


@pytest.mark.slow
def test_both_families_train_by_name(environment):
    out = environment.python("-W", "error", "-c", TRAIN, "wave_let_ball", "wave_let_interval")
    assert out.count("wave_let_") == 2


@pytest.mark.slow
def test_the_plugins_own_tests_pass(environment):
    out = environment.python("-m", "pytest", "-q", environment.plugin)
    assert " passed" in out and "skipped" not in out


@pytest.mark.slow
def test_a_new_plugin_in_python_installs_and_passes_its_own_tests(environment):
    folder = environment.plugin.parent / "python"
    environment.command("plugins", "new", "ripple", "--python", "--output", folder)
    environment.pip_install(f"{folder}[test]")
    assert " passed" in environment.python("-m", "pytest", "-q", folder)
    found = environment.python("-c", "import cwboost; print(cwboost.get_family('ripple_ball'))")
    assert found == "<class 'cwboost_ripple.ball.Ball'>\n"


COMPOSED = {
    "pyproject.toml": """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "cwboost-party"
version = "1.0"
dependencies = ["cwboost>=0.1"]

[project.entry-points.cwboost]
party_mixed = "cwboost_party:PartyMixed"
party_tree = "cwboost_party:PartyTree"
wave = "cwboost_party:Waves"

[tool.setuptools]
py-modules = ["cwboost_party"]
""",
    "cwboost_party.py": """
from cwboost.families import MixedFamily, SklearnFamily


class PartyMixed(MixedFamily):
    name = "party_mixed"

    def __init__(
        self, families=("wave_let_ball", "wave_let_interval"), selection="best", shares=None
    ):
        super().__init__(families, selection, shares)


class PartyTree(SklearnFamily):
    name = "party_tree"
""",
    "test_party.py": """
from cwboost.testing import parametrize_with_family_checks

from cwboost_party import PartyMixed, PartyTree, Waves


@parametrize_with_family_checks([PartyMixed(), PartyTree(), Waves()])
def test_family_keeps_the_contract(family, check):
    check(family)
""",
}


@pytest.mark.slow
def test_composed_families_from_an_empty_folder_pass_the_suite(environment):
    """A mixture of the plugin's families, an adapted tree of scikit-learn, derived features."""
    folder = environment.plugin.parent / "party"
    folder.mkdir()
    for path, text in COMPOSED.items():
        (folder / path).write_text(text)
    waves = (ROOT / "tests/support/wave_family.py").read_text()
    with (folder / "cwboost_party.py").open("a") as module:
        module.write(waves)
    environment.pip_install(folder)
    installed = environment.folder / "test_party.py"  # Beside no module of that name.
    shutil.copy(folder / "test_party.py", installed)
    assert " passed" in environment.python("-m", "pytest", "-q", installed)
    out = environment.python("-W", "error", "-c", TRAIN, "party_mixed", "party_tree", "wave")
    assert out.count("party_") == 2
