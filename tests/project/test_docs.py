"""The pages name every public name, hook, capability, check and Cython function, and each other."""

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

import cwboost
from cwboost import hookspecs
from cwboost.testing.runner import _all_checks

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, PAGES = ROOT / "cwboost", ROOT / "docs"
DOCS = PAGES / "plugins"

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="needs a checkout")


def test_every_public_name_is_on_the_api_page():
    listed = {
        line.strip().removeprefix(".. py:data:: cwboost.")
        for line in (ROOT / "docs/api.md").read_text(encoding="utf-8").split("\n")
    }
    assert sorted(set(cwboost.__all__) - {"__version__"} - listed) == []


def test_every_name_of_the_public_modules_is_on_the_api_page():
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    for name in ("callbacks", "datasets", "plotting", "testing"):
        for public in import_module(f"cwboost.{name}").__all__:
            shown = (f"   {name}.{public}\n", f"   {public}\n")
            assert any(line in text for line in shown), f"cwboost.{name}.{public}"


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
    names += re.findall(r"^ctypedef \w+ (\w+)$", source, re.MULTILINE)
    names += re.findall(r"^cdef enum:\n    (\w+) = ", source, re.MULTILINE)
    assert {"pack_signs", "bits_t", "CYTHON_API_VERSION"} < set(names)
    text = documentation("cython.md")
    for name in names:
        assert re.search(rf"`{name}\b", text), name


def test_every_module_of_checks_is_documented():
    text = documentation("testing.md")
    for function in _all_checks():
        assert f"automodule:: {function.__module__}\n" in text, function.__module__


def test_every_page_is_in_the_sidebar_once():
    entries = Counter()
    for index in ("index.md", "plugins/index.md"):
        folder = (PAGES / index).parent.relative_to(PAGES)
        for body in re.findall(
            r"^```\{toctree\}\n(.*?)^```", (PAGES / index).read_text(encoding="utf-8"), re.M | re.S
        ):
            names = [line for line in body.split() if not line.startswith(":")]
            entries.update(
                (folder / name).as_posix()
                for name in names
                if (PAGES / folder / f"{name}.md").exists()
            )
    pages = {path.relative_to(PAGES).with_suffix("").as_posix() for path in PAGES.rglob("*.md")}
    assert entries == Counter(pages - {"index"})


PATH = re.compile(r"`((?:[a-z_][\w]*/)*[a-z_][\w]*\.(?:pyx|pxd|py|h)|(?:[a-z_]\w*/)+)`")


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_files_that_a_page_names_exist(page):
    named = set(PATH.findall((ROOT / page).read_text(encoding="utf-8")))
    assert named
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "cwboost").rglob("*.*")]

    def exists(path):
        if (ROOT / path).exists() or (ROOT / "cwboost" / path).exists():
            return True
        return any(file.endswith(f"/{path}") or f"/{path}" in f"{file}/" for file in files)

    assert sorted(path for path in named if not exists(path)) == []
