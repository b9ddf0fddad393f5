"""The wheel in a fresh environment: alone, and with new plugins that are built against it."""

import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from plugin_folder import write_distribution
from sources import ROOT

pytestmark = pytest.mark.slow

TRAIN = """
import cwboost, pickle, sys
from pathlib import Path
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from cwboost import CWBoostClassifier, get_family, load_model
from cwboost.datasets import load_vowel

assert "site-packages" in cwboost.__file__, cwboost.__file__
X, y = load_vowel(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
for name in sys.argv[1:]:
    for weak_learner in (name, get_family(name)()):
        clf = CWBoostClassifier(weak_learner, init=None, n_estimators=8, random_state=0).fit(X, y)
        score = clf.score(X_test, y_test)
        assert score > 0.5, (name, score)
        expected = clf.decision_function(X_test)
        clf.save(Path("model.cwb"))
        for other in (pickle.loads(pickle.dumps(clf)), load_model(Path("model.cwb")),
                      clone(clf).fit(X, y)):
            assert (other.decision_function(X_test) == expected).all(), name
    print(name, score)
assert not {"matplotlib", "skimage", "onnx"} & set(sys.modules)
"""


class Environment:
    """A separate virtual environment, isolated from the one that runs the tests."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        self.run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")

    def run(self, *command):
        """Run a command, which must succeed, and return its output."""
        # Without written bytecode, every process would compile what it imports.
        hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CWBOOST_PLUGINS")
        hidden += ("PYTHONDONTWRITEBYTECODE",)
        shown = {key: value for key, value in os.environ.items() if key not in hidden}
        done = subprocess.run(
            [str(part) for part in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=shown | {"CFLAGS": "-O0 -g0"},  # to optimise a plugin takes longer than its tests
            cwd=self.folder,
        )
        assert done.returncode == 0, f"{command} failed:\n{done.stdout[-6000:]}"
        return done.stdout

    def python(self, *arguments):
        return self.run(self.bin / "python", *arguments)

    def command(self, *arguments):
        """Run ``cwboost`` with these arguments and return its output."""
        return self.run(self.bin / "cwboost", *arguments)

    def pip_install(self, *arguments):
        # Most modules are never imported here: compiling them takes longer than the tests.
        options = ("-q", "--disable-pip-version-check", "--no-compile")
        pip = (sys.executable, "-m", "pip", "--python", self.bin / "python", "install")
        return self.run(*pip, *options, *arguments)

    def link(self, names):
        """Link installed distributions and what they need, with the bytecode of their modules."""
        (there,) = self.folder.glob("venv/lib/python*/site-packages")
        for name in names:
            found = metadata.distribution(name)
            for part in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
                if not (there / part).exists():
                    (there / part).symlink_to(found.locate_file(part))
            self.link(needed_by(found))


def needed_by(distribution):
    """Return the names of what a distribution needs without any extra."""
    found = map(Requirement, distribution.requires or ())
    return [one.name for one in found if not one.marker or one.marker.evaluate({"extra": ""})]


@pytest.fixture(scope="module")
def wheel_environment(distributions, tmp_path_factory):
    """An environment with only the wheel of cwboost and its dependencies."""
    environment = Environment(tmp_path_factory.mktemp("fresh"))
    environment.link(needed_by(metadata.distribution("cwboost")))
    environment.pip_install("--no-index", distributions[1])
    return environment


def test_the_wheel_works_in_a_fresh_environment(wheel_environment):
    """With only the wheel installed, the shipped families train, predict and are stored."""
    out = wheel_environment.python("-W", "error", "-c", TRAIN, "stump", "projection", "tree")
    assert [line.split()[0] for line in out.splitlines()] == ["stump", "projection", "tree"]


# One process for all templates: to begin one takes longer than to write a plugin.
NEW = """
import sys
from cwboost.cli import main

for name, *kind in (["easy"], ["ripple", "--raw"], ["wave_let", "--cython"], ["begin", "--init"]):
    assert main(["plugins", "new", name, *kind, "--output", f"{sys.argv[1]}/{name}"]) == 0
"""
# Families composed of others; a copy of Waves joins them.
PARTY = """
from cwboost import MixedFamily, SklearnFamily


class PartyMixed(MixedFamily):
    name = "party_mixed"

    def __init__(self, families=("wave_let", "ripple")):
        super().__init__(families)


class PartyTree(SklearnFamily):
    name = "party_tree"


"""
TEST_PARTY = """
from cwboost.testing import parametrize_with_plugin_checks

from cwboost_party import PartyMixed


@parametrize_with_plugin_checks([PartyMixed()])
def test_it_keeps_the_contract(plugin, check):
    check(plugin)
"""


@pytest.fixture(scope="module")
def environment(c_compiler, wheel_environment, tmp_path_factory):
    """Plugins, installed with the wheel of cwboost.

    One of every template; patches of images, and text; and families composed of others: a mixture
    of two of these, an adapted tree, derived features.
    """
    sources = tmp_path_factory.mktemp("third_party")
    wheel_environment.python("-c", NEW, sources)
    others = ["easy", "ripple", "begin", "patches", "text"]
    for name in others[-2:]:
        shutil.copytree(ROOT / "plugins" / name, sources / name)
    wheel_environment.link(["setuptools", "pytest", "pandas", "pyarrow", "polars"])
    # As the tutorial says. No index has cwboost: the build, isolated from the environment with
    # its wheel, must do without. The other templates have the same table of the build.
    wheel_environment.pip_install(f"{sources / 'wave_let'}[test]")
    wheel_environment.pip_install(
        "--no-index", "--no-build-isolation", *(f"{sources / name}[test]" for name in others)
    )
    (installed,) = wheel_environment.folder.glob("venv/lib/python*/site-packages")
    module = PARTY + (ROOT / "tests/support/wave_family.py").read_text()
    names = {"party_mixed": "PartyMixed", "party_tree": "PartyTree", "wave": "Waves"}
    entry_points = {name: f"cwboost_party:{family}" for name, family in names.items()}
    write_distribution(installed, "cwboost-party", "1.0", entry_points, {"cwboost_party": module})
    test_party = wheel_environment.folder / "test_party.py"
    test_party.write_text(TEST_PARTY)
    wheel_environment.tests = [sources / name for name in ("wave_let", *others)] + [test_party]
    return wheel_environment


def test_every_family_is_listed(environment):
    lines = environment.command("plugins").splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line}
    for name in ("easy", "ripple", "wave_let", "begin", "patches"):
        kind = ["init", "model"] if name == "begin" else ["weak", "learner"]
        distribution = f"cwboost-{name.replace('_', '-')}"
        assert rows[name][:5] == [*kind, distribution, "0.1.0", "loaded"]
    assert rows["tfidf"][:5] == ["init", "model", "cwboost-text", "0.1.0", "loaded"]


def test_every_family_trains_by_name(environment):
    """`families/composed/test_derived_features.py` puts derived features through the suite."""
    families = ("easy", "ripple", "wave_let", "party_mixed", "party_tree")
    out = environment.python("-W", "error", "-c", TRAIN, *families, "wave")
    assert [line.split()[0] for line in out.splitlines()] == [*families, "wave"]


# Each by itself: a folder without tests has the exit status 5.
OWN_TESTS = """
import sys, pytest
mode = "--import-mode=importlib"  # their files have the same names
for folder in sys.argv[1:]:
    assert pytest.main(["-q", mode, folder]) == 0, folder
"""


def test_the_plugins_own_tests_pass(environment):
    """The conformance suite, and what the templates test besides."""
    out = environment.python("-W", "error", "-c", OWN_TESTS, *environment.tests)
    assert out.count(" passed") == len(environment.tests) and "skipped" not in out
