"""The check that the workflow of releases makes before anything is built."""

import importlib.util

import pytest
from sources import ROOT

PROJECT = {
    "version": "1.2.0",
    "urls": {"Homepage": "https://boosting.org/", "Source": "https://boosting.org/source"},
}
CHANGELOG = "# Changelog\n\n## 1.2.0 (2027-01-31)\n\n- Faster.\n"


@pytest.fixture(scope="module")
def faults():
    spec = importlib.util.spec_from_file_location("check_release", ROOT / "tools/check_release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda *arguments: list(module.faults(*arguments))


def test_a_release_that_is_ready_has_no_fault(faults):
    assert faults("v1.2.0", PROJECT, CHANGELOG) == []


@pytest.mark.parametrize(
    ("tag", "urls", "changelog", "words"),
    [
        ("v1.2.1", {}, CHANGELOG, "the tag must be v1.2.0"),
        ("1.2.0", {}, CHANGELOG, "got 1.2.0"),
        ("v1.2.0", {"Issues": "https://a.example/issues"}, CHANGELOG, "Issues of"),
        ("v1.2.0", {}, CHANGELOG.replace("2027-01-31", "unreleased"), "## 1.2.0"),
        ("v1.2.0", {}, CHANGELOG.replace("1.2.0", "1.1.9"), "## 1.2.0"),
    ],
)
def test_every_fault_is_named(tag, urls, changelog, words, faults):
    (fault,) = faults(tag, PROJECT | {"urls": PROJECT["urls"] | urls}, changelog)
    assert words in fault
