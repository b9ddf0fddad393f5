"""The contents of the source distribution and the wheel, and their use on their own."""

import re
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNELS = {
    path.relative_to(ROOT).with_suffix("").as_posix()
    for path in (ROOT / "cwboost/_kernels").rglob("*.pyx")
}
PLUGINS = ["projections", "stumps", "trees"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "setup.py").exists(), reason="needs a checkout"),
]


@pytest.fixture(scope="module")
def wheel_names(distributions):
    """The files of the wheel, without what auditwheel adds: folders, and copies of libraries."""
    with zipfile.ZipFile(distributions[1]) as archive:
        names = archive.namelist()
    return [name for name in names if name[-1] != "/" and not name.startswith("cwboost.libs")]


@pytest.fixture(scope="module")
def sdist_names(distributions):
    with tarfile.open(distributions[0]) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def sources(folder, package, *suffixes):
    """Return the files of a source folder with these suffixes, by their installed names."""
    return {
        str(PurePosixPath(package, *path.relative_to(folder).parts))
        for path in folder.rglob("*")
        if path.suffix in suffixes and path.is_file()
    }


def test_the_sdist_has_every_source_and_nothing_generated(sdist_names):
    wanted = sources(ROOT / "cwboost", "cwboost", ".py", ".pyx", ".pxd", ".pyi", ".h", ".typed")
    for plugin in PLUGINS:
        wanted |= sources(ROOT / "plugins" / plugin, f"plugins/{plugin}", ".py")
    wanted |= {"setup.py", "pyproject.toml", "README.md", "LICENSE"}
    assert wanted - set(sdist_names) == set()
    assert [name for name in sdist_names if name.endswith((".c", ".so", ".o", ".pyc"))] == []
    assert [name for name in sdist_names if name.startswith("tests/")] == []  # nor a part of them


def test_the_wheel_has_every_module_kernel_and_data_file(wheel_names):
    wanted = sources(ROOT / "cwboost", "cwboost", ".py", ".typed")
    wanted |= sources(ROOT / "cwboost/_kernels", "cwboost/_kernels", ".pxd", ".h", ".pyi")
    wanted |= {"cwboost/kernels/__init__.pxd"}
    wanted |= {
        f"cwboost/datasets/data/{path.name}"
        for path in (ROOT / "cwboost/datasets/data").iterdir()
        if path.is_file()
    }
    for plugin in PLUGINS:
        wanted |= sources(ROOT / "plugins" / plugin, f"cwboost/plugins/{plugin}", ".py")
    assert wanted - set(wheel_names) == set()
    compiled = {name.partition(".")[0] for name in wheel_names if ".so" in name}
    assert compiled == KERNELS


def test_the_wheel_has_nothing_else(wheel_names):
    wheel_names = [n for n in wheel_names if "plugin_templates/" not in n]
    assert [name for name in wheel_names if name.endswith((".c", ".pyx", ".o", ".pyc"))] == []
    tops = {name.partition("/")[0] for name in wheel_names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"cwboost"}


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
        assert f"= cwboost.plugins.{plugin}\n" in entry_points + "\n"
    requirements = {re.match(r"[\w-]+", r).group() for r in metadata.get_all("Requires-Dist")}
    assert {"numpy", "scipy", "scikit-learn", "pluggy"} <= requirements


def test_the_kernels_compile_without_warnings_of_ours(distributions):
    """Warnings in generated C that point into one of our headers or Cython sources."""
    ours = re.compile(r"(_kernels/[\w/]+\.(h|pyx|pxd):\d+[:\d]*:? .*warning|warning: .*\.pyx:\d+)")
    assert [line for line in distributions[2].splitlines() if ours.search(line)] == []


def test_the_wheel_has_the_templates_of_plugins(wheel_names):
    got = {name for name in wheel_names if name.startswith("cwboost/plugin_templates/")}
    root = ROOT / "plugins" / "templates"
    wanted = [*root.rglob("*.py"), *root.rglob("*.pyx"), root / "pyproject.toml"]
    assert len(wanted) == 11
    wanted = {f"cwboost/plugin_templates/{path.relative_to(root).as_posix()}" for path in wanted}
    assert got == wanted
