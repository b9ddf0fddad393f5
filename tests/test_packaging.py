"""What the source distribution and the wheel contain, and that they work on their own."""

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
KERNELS = sorted(path.stem for path in (ROOT / "cwboost/_kernels").glob("*.pyx"))
PLUGINS = ["cwboost_projections", "cwboost_stumps", "cwboost_trees"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "setup.py").exists(), reason="needs a checkout"),
]


def run(*command, **options):
    """Run a command; on failure show its output."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout[-4000:]}"
    return done.stdout


def environment():
    """The environment without what would let a subprocess find the source tree or this venv."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Paths of a source distribution and of the wheel that is built from it, and the output."""
    folder = tmp_path_factory.mktemp("dist")
    log = run(
        sys.executable, "-m", "build", "--no-isolation", "-o", str(folder), str(ROOT),
        cwd=folder, env=environment(),
    )  # fmt: skip
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel, log


@pytest.fixture(scope="module")
def wheel_names(built):
    with zipfile.ZipFile(built[1]) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def sdist_names(built):
    with tarfile.open(built[0]) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def sources(folder, package, *suffixes):
    """Files of a source folder with these suffixes, by the name that they have when installed."""
    return {
        str(PurePosixPath(package, *path.relative_to(folder).parts))
        for path in folder.rglob("*")
        if path.suffix in suffixes and path.is_file()
    }


def test_the_sdist_has_every_source_and_nothing_generated(sdist_names):
    wanted = sources(ROOT / "cwboost", "cwboost", ".py", ".pyx", ".pxd", ".h")
    for plugin in PLUGINS:
        wanted |= sources(ROOT / "plugins" / plugin, f"plugins/{plugin}", ".py")
    wanted |= {"setup.py", "pyproject.toml", "README.md", "LICENSE"}
    assert wanted - set(sdist_names) == set()
    assert [name for name in sdist_names if name.endswith((".c", ".so", ".o", ".pyc"))] == []


def test_the_wheel_has_every_module_kernel_and_data_file(wheel_names):
    wanted = sources(ROOT / "cwboost", "cwboost", ".py")
    wanted |= sources(ROOT / "cwboost/_kernels", "cwboost/_kernels", ".pxd", ".h")
    wanted |= {
        f"cwboost/datasets/data/{path.name}"
        for path in (ROOT / "cwboost/datasets/data").iterdir()
        if path.is_file()
    }
    for plugin in PLUGINS:
        wanted |= sources(ROOT / "plugins" / plugin, plugin, ".py")
    assert wanted - set(wheel_names) == set()
    compiled = {PurePosixPath(name).name.partition(".")[0] for name in wheel_names if ".so" in name}
    assert compiled == set(KERNELS)


def test_the_wheel_has_nothing_else(wheel_names):
    assert [name for name in wheel_names if name.endswith((".c", ".pyx", ".o", ".pyc"))] == []
    tops = {name.partition("/")[0] for name in wheel_names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"cwboost", *PLUGINS}


def test_the_metadata_names_licence_entry_points_and_dependencies(built):
    with zipfile.ZipFile(built[1]) as archive:
        info = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(info).decode())
        entry_points = archive.read(info.replace("METADATA", "entry_points.txt")).decode()
        names = archive.namelist()
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == ">=3.10"
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "cwboost = cwboost.cli:main" in entry_points
    for plugin in PLUGINS:
        assert f"= {plugin}\n" in entry_points + "\n"
    requirements = {re.match(r"[\w-]+", r).group() for r in metadata.get_all("Requires-Dist")}
    assert {"numpy", "scipy", "scikit-learn", "pluggy"} <= requirements


def test_the_kernels_compile_without_warnings_of_ours(built):
    """Warnings in generated C that point into one of our headers or Cython sources."""
    ours = re.compile(r"(_kernels/\w+\.(h|pyx|pxd):\d+[:\d]*:? .*warning|warning: .*\.pyx:\d+)")
    assert [line for line in built[2].splitlines() if ours.search(line)] == []


def test_the_wheel_works_in_a_fresh_environment(built, tmp_path):
    """Trains, predicts and finds the shipped families with nothing but the wheel installed."""
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    pip = (str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q")
    run(*pip, str(built[1]), env=environment(), cwd=tmp_path)
    program = """
import cwboost, sys
assert "site-packages" in cwboost.__file__, cwboost.__file__
from cwboost import CWBoostClassifier
from cwboost.datasets import load_vowel
X, y = load_vowel(return_X_y=True)
for family in ("stump", "projection", "tree"):
    clf = CWBoostClassifier(weak_learner=family, n_estimators=5, random_state=0).fit(X, y)
    print(family, clf.score(X, y))
assert not {"matplotlib", "skimage", "onnx"} & set(sys.modules)
"""
    printed = run(str(python), "-W", "error", "-c", program, env=environment(), cwd=tmp_path)
    assert [line.split()[0] for line in printed.splitlines()] == ["stump", "projection", "tree"]
    assert "cwboost" in run(str(folder / "bin/cwboost"), "--help", env=environment(), cwd=tmp_path)
