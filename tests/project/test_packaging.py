"""The source distribution and the wheel: contents, use without extras, and plugins beside them.

One file, so that one of several workers builds them.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path, PurePosixPath

import pytest
from in_process import output_of
from packaging.requirements import Requirement
from plugin_folder import write_distribution
from sources import ROOT

KERNELS = {
    path.relative_to(ROOT).with_suffix("").as_posix()
    for path in (ROOT / "cwboost/_kernels").rglob("*.pyx")
} | {"cwboost/_kernels/_cyutility"}
# Folders of the checkout, and where they stand in the wheel.
PLUGINS = ["kernel", "projections", "stumps", "trees"]
FOLDERS = {"cwboost": "cwboost", "plugins/templates": "cwboost/plugin_templates"}
FOLDERS |= {f"plugins/{plugin}": f"cwboost/plugins/{plugin}" for plugin in PLUGINS}

pytestmark = pytest.mark.slow


def sources(folder, package):
    """Return the files of a folder of the checkout, by their names in a package."""
    return {
        str(PurePosixPath(package, *path.relative_to(ROOT / folder).parts))
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".so", ".pyc", ".c")
    }


def test_the_sdist_has_every_source_and_nothing_generated(distributions):
    with tarfile.open(distributions[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = set().union(*(sources(folder, folder) for folder in FOLDERS))
    wanted |= {"setup.py", "pyproject.toml", "README.md", "LICENSE"}
    assert wanted - names == set()
    assert [name for name in names if name.endswith((".c", ".so", ".o", ".pyc"))] == []
    assert [name for name in names if name.startswith("tests/")] == []  # nor a part of them


def test_the_wheel_has_every_source_and_kernel_and_nothing_else(distributions):
    """But for what auditwheel adds: folders, and copies of libraries."""
    with zipfile.ZipFile(distributions[1]) as archive:
        names = {n for n in archive.namelist() if n[-1] != "/" and "cwboost.libs" not in n}
    names = {name for name in names if ".dist-info/" not in name}
    compiled = {name for name in names if ".so" in name}
    assert {name.partition(".")[0] for name in compiled} == KERNELS
    wanted = set().union(*(sources(*places) for places in FOLDERS.items()))
    wanted = {name for name in wanted if not name.endswith(".pyx") or "templates" in name}
    assert names - compiled == wanted | {"cwboost/plugins/__init__.py"}


def test_the_kernels_compile_without_warnings_of_ours(distributions):
    """Warnings in generated C that point into one of our headers or Cython sources."""
    ours = re.compile(r"(_kernels/[\w/]+\.(h|pyx|pxd):\d+[:\d]*:? .*warning|warning: .*\.pyx:\d+)")
    assert [line for line in distributions[2].splitlines() if ours.search(line)] == []


HIDDEN = """
import sys

OPTIONAL = {
    "PIL", "dask", "distributed", "matplotlib", "onnx", "onnxruntime", "pandas", "polars", "pooch",
    "pyarrow", "pytest", "requests", "rich", "tqdm",
}

class Hide:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in OPTIONAL:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hide)
"""


def run(program, tmp_path):
    return output_of("-W", "error", "-c", program, cwd=tmp_path, timeout=120)


def test_training_needs_the_required_packages_only(tmp_path):
    """Fit, predict, save, load, the command line and the conformance suite work.

    The other parts name their extra.
    """
    program = """
from pathlib import Path

import numpy as np

from cwboost import CWBoostClassifier, load_model, plotting, to_onnx
from cwboost.cli import main
from cwboost.datasets import fetch, load_vowel
from cwboost.datasets.formats.images import read_grey
from cwboost.testing import check_plugin
from reference_family import ReferenceStump

X, y = load_vowel(return_X_y=True)
for family in ("stump", "tree", "projection"):
    clf = CWBoostClassifier(weak_learner=family, n_estimators=2, random_state=0).fit(X, y)
    clf.save("model")
    assert (load_model("model").predict_proba(X) == clf.predict_proba(X)).all()
Path("data.parquet").touch()
Path("data.csv").touch()
assert main(["fit", "data.csv", "other", "--rounds", "2"]) == 1
assert main(["datasets"]) == 0
assert main(["evaluate", "model", "data.parquet"]) == 1
assert main(["evaluate", "model", "data.csv"]) == 1
for use, packages in [
    (lambda: clf.set_params(verbose=1).fit(X, y), "tqdm"),
    (lambda: fetch("USPS", "."), "pooch requests tqdm unlzw3"),
    (lambda: plotting.plot_history(clf), "matplotlib"),
    (lambda: to_onnx(clf), "onnx onnxruntime"),
    (lambda: clf.to_frame(), "pandas"),
    (lambda: read_grey("a.png", 4), "pillow"),
]:
    try:
        use()
    except ImportError as error:
        assert str(error).endswith(f"pip install {packages}"), error
    else:
        raise SystemExit(f"no error that names {packages}")
check_plugin(ReferenceStump())
"""
    support = Path(__file__).parents[1] / "support"
    run(f"{HIDDEN}sys.path.append({str(support)!r})\n{program}", tmp_path)


def test_an_import_loads_little_beyond_scikit_learn(tmp_path):
    """Modules of others are counted, since their time depends on the machine."""
    program = """
import sys, sklearn
before = set(sys.modules)
import cwboost
print(*set(sys.modules) - before)
from cwboost import CWBoostClassifier
print(*set(sys.modules) - before)
"""
    package, classifier = (line.split() for line in run(HIDDEN + program, tmp_path).splitlines())
    for loaded, more, count in ((package, set(), 20), (classifier, {"sklearn"}, 100)):
        others = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
        assert others <= {"cwboost", "pluggy"} | more
        assert sum(not name.startswith("cwboost") for name in loaded) <= count


# ------------------------------------------------------------------ in a fresh environment

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
        clf = CWBoostClassifier(weak_learner, init=None, n_estimators=12, random_state=0).fit(X, y)
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
