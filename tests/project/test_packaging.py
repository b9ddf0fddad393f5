"""The contents of the source distribution and the wheel, and their use on their own."""

import re
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest
from in_process import output_of
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


def test_the_metadata_names_licence_entry_points_and_dependencies(distributions):
    with zipfile.ZipFile(distributions[1]) as archive:
        info = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(info).decode())
        entry_points = archive.read(info.replace("METADATA", "entry_points.txt")).decode()
        names = archive.namelist()
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == ">=3.10"
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "cwboost = cwboost.cli:main" in entry_points
    for plugin in PLUGINS:
        assert re.search(rf"= cwboost\.plugins\.{plugin}\b", entry_points), plugin
    requirements = {re.match(r"[\w-]+", r).group() for r in metadata.get_all("Requires-Dist")}
    assert {"numpy", "scipy", "scikit-learn", "pluggy"} <= requirements


def test_the_kernels_compile_without_warnings_of_ours(distributions):
    """Warnings in generated C that point into one of our headers or Cython sources."""
    ours = re.compile(r"(_kernels/[\w/]+\.(h|pyx|pxd):\d+[:\d]*:? .*warning|warning: .*\.pyx:\d+)")
    assert [line for line in distributions[2].splitlines() if ours.search(line)] == []


HIDDEN = """
import sys

OPTIONAL = {
    "PIL", "dask", "distributed", "matplotlib", "onnx", "onnxruntime", "pandas", "polars", "pooch",
    "pyarrow", "pytest", "requests", "tqdm",
}

class Hide:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in OPTIONAL:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hide)
"""


def run(program, tmp_path):
    return output_of("-W", "error", "-c", program, cwd=tmp_path, timeout=120)


@pytest.mark.slow
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


@pytest.mark.slow
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
    package, classifier = (line.split() for line in run(program, tmp_path).splitlines())
    for loaded, more, count in ((package, set(), 20), (classifier, {"sklearn"}, 100)):
        assert {name.partition(".")[0] for name in loaded} <= {"cwboost", "email", "pluggy"} | more
        assert sum(not name.startswith("cwboost") for name in loaded) <= count
