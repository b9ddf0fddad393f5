"""The pages name every public name, hook, capability, check and Cython function."""

import re
from importlib import import_module

import numpy as np
import pytest
from mutations import header_of
from sklearn.datasets import load_iris
from sources import PACKAGE, ROOT

import cwboost
from cwboost import CWBoostClassifier, hookspecs
from cwboost.testing.check import CHECKS

PAGES = ROOT / "docs"


def page(*names):
    return "\n".join((PAGES / name).read_text(encoding="utf-8") for name in names)


def test_the_guide_for_programs_names_pages_that_are_there():
    links = re.findall(r"^- \[.+?\]\((.+?)\.html\): ", page("llms.txt"), re.M)
    assert len(links) > 10
    assert [link for link in links if not (PAGES / f"{link}.md").is_file()] == []


def public_names():
    yield from set(cwboost.__all__) - {"__version__"}
    for module in ("callbacks", "datasets", "plotting", "testing"):
        names = import_module(f"cwboost.{module}").__all__
        yield from (rf"({module}\.)?{name}" for name in names)  # with the module or within it


PARTS = cwboost.WeakLearnerFamily, cwboost.Pricer, cwboost.Divider, cwboost.WeakLearners


def parts_of_the_contract():
    for part in PARTS:
        names = {
            n for n in (*vars(part), *getattr(part, "__annotations__", ())) if not n.startswith("_")
        }
        yield from names - {"exact"}


def cython_names():
    source = (PACKAGE / "kernels" / "__init__.pxd").read_text()
    yield from re.findall(r"^cdef inline [\w ]*?(\w+)\(", source, re.MULTILINE)
    yield from re.findall(r"^ctypedef \w+ (\w+)$", source, re.MULTILINE)
    yield from re.findall(r"^cdef enum:\n    (\w+) = ", source, re.MULTILINE)


# Pages; names that they must have, some of them for sure; how they show each.
NAMED = [
    ("api.md plugins/reference.md", public_names, {"CWBoostClassifier", r"(plotting\.)?plot_tree"},
     r"^ *(\.\. py:data:: cwboost\.)?{}$"),
    ("plugins/kernels.md", lambda: cwboost.kernels.__all__, {"SortedFeatures", "TREE_CRITERIA"},
     r"^\.\. auto\w+:: {}\b"),
    ("plugins/hooks.md", lambda: [n for n in vars(hookspecs) if n.startswith("cwboost_")],
     {"cwboost_register_families"}, "autofunction:: cwboost.hookspecs.{}"),
    ("plugins/contract.md", parts_of_the_contract, {"bind", "price", "outputs"}, "`{}"),
    ("plugins/cython.md", cython_names, {"pack_signs", "bits_t", "CYTHON_API_VERSION"}, r"`{}\b"),
    ("plugins/testing.md", lambda: [check.run.__module__ for check in CHECKS],
     {"cwboost.testing.declarations"}, r"automodule:: {}$"),
]  # fmt: skip


@pytest.mark.parametrize("pages, names, known, form", NAMED)
def test_pages_name_each(pages, names, known, form):
    found, text = set(names()), page(*pages.split())
    assert known <= found
    assert [one for one in found if not re.search(form.format(one), text, re.M)] == []


def test_every_capability_is_documented():
    table = page("plugins/contract.md").partition("(capabilities)=")[2]
    documented = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert documented == list(cwboost.Capabilities.__dataclass_fields__)


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


def test_the_page_on_model_files_names_every_key_of_a_header(tmp_path):
    X, y = load_iris(return_X_y=True)
    state = CWBoostClassifier(
        init=None, n_estimators=2, monotonic_cst=np.eye(3, 4), warm_start=True
    )
    found = set()
    for clf, has_state in ((CWBoostClassifier(random_state=0), False), (state, True)):
        clf.fit(X, y).save(tmp_path / "m", training_state=has_state)
        found |= header_of(tmp_path / "m").keys()
    assert set(re.findall(r"^\| `(\w+)` \|", page("model_file.md"), re.MULTILINE)) == found
