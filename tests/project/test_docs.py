"""The pages name every public name, hook, capability, check and Cython function."""

import re
from pathlib import Path

import pytest

import cwboost
from cwboost import hookspecs
from cwboost.testing.runner import _all_checks

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, DOCS = ROOT / "cwboost", ROOT / "docs" / "plugins"

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="needs a checkout")


def test_every_public_name_is_on_the_api_page():
    listed = {
        line.strip() for line in (ROOT / "docs/api.md").read_text(encoding="utf-8").split("\n")
    }
    assert sorted(set(cwboost.__all__) - {"__version__"} - listed) == []


def documentation(*names):
    return "\n".join((DOCS / name).read_text() for name in names)


def test_every_hook_is_documented():
    hooks = [name for name in vars(hookspecs) if name.startswith("cwboost_")]
    assert hooks
    text = documentation("hooks.md")
    for hook in hooks:
        assert f"autofunction:: cwboost.hookspecs.{hook}" in text, hook


def test_every_capability_is_documented():
    table = documentation("contract.md").partition("(capabilities)=")[2]
    documented = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert documented == list(cwboost.Capabilities.__dataclass_fields__)


def test_every_part_of_the_contract_is_documented():
    text = documentation("contract.md")
    for part in (cwboost.WeakLearnerFamily, cwboost.Pricer, cwboost.WeakLearners):
        names = {n for n in (*vars(part), *part.__annotations__) if not n.startswith("_")}
        for name in names - {"exact"}:
            assert f"`{name}" in text, f"{part.__name__}.{name}"


def test_every_public_cython_name_is_documented():
    source = (PACKAGE / "kernels" / "__init__.pxd").read_text()
    names = re.findall(r"^cdef inline [\w ]*?(\w+)\(", source, re.MULTILINE)
    names += re.findall(r"^cdef struct (\w+):$", source, re.MULTILINE)
    names += re.findall(r"^ctypedef \w+ (\w+)$", source, re.MULTILINE)
    names += re.findall(r"^cdef enum:\n    (\w+) = ", source, re.MULTILINE)
    assert {"pack_signs", "Cut", "bits_t", "CYTHON_API_VERSION"} < set(names)
    text = documentation("cython.md")
    for name in names:
        assert re.search(rf"`{name}\b", text), name


def test_every_module_of_checks_is_documented():
    text = documentation("testing.md")
    for function in _all_checks():
        assert f"automodule:: {function.__module__}\n" in text, function.__module__


def test_every_page_is_reached():
    index = (DOCS / "index.md").read_text()
    toctree = index.partition("{toctree}")[2].split()
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert pages <= set(toctree)
    assert "plugins/index" in (ROOT / "docs" / "index.md").read_text()
