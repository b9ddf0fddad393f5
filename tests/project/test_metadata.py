"""What pages, workflows and the citation say of versions equals pyproject.toml."""

import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # comes with the package build

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs a checkout")


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_page_of_versions_states_the_oldest_ones_that_are_declared(project):
    page = (ROOT / "docs/versions.md").read_text(encoding="utf-8")
    stated = {
        name.lower(): oldest
        for name, oldest in re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| \w+ \d{4} \|$", page, re.M)
    }
    bounds = dict(requirement.split(">=") for requirement in project["dependencies"])
    bounds["python"] = project["requires-python"].removeprefix(">=")
    assert stated == {name: bounds[name] for name in ("python", "numpy", "scipy", "scikit-learn")}


def test_the_citation_has_the_version_of_the_package(project):
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.M) == [project["version"]]


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=str)
def test_workflows_name_actions_by_hash_and_version(path):
    text = path.read_text(encoding="utf-8")
    assert pytest.importorskip("yaml").safe_load(text)["jobs"]
    actions = re.findall(r"uses: (.+)$", text, re.M)
    assert actions
    for action in actions:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
