"""Imports, pages, workflows and the citation agree with what pyproject.toml declares."""

import re
import sys
from fnmatch import fnmatchcase
from importlib.metadata import packages_distributions

import pytest
from import_graph import MODULES, ROOT, imports


def distributions_of(requirements):
    """Normalised names of the distributions that requirements name."""
    names = (re.match(r"[\w.-]+", requirement).group() for requirement in requirements)
    return {normalised(name) for name in names}


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def required(project):
    return distributions_of(project["dependencies"])


@pytest.fixture(scope="module")
def extras(project):
    return {n: distributions_of(found) for n, found in project["optional-dependencies"].items()}


def foreign_imports():
    """(file, imported package, whether inside a function) of packages that are not ours."""
    plugins = (path for path in (ROOT / "plugins").glob("[!e]*/*.py"))
    for path in [*MODULES.values(), *plugins]:
        for module, _, depth in imports(path):
            package = module.partition(".")[0]
            known = {"cwboost", "cython", "libc", "cpython", *sys.stdlib_module_names}
            if package not in known:
                yield path, package, depth > 0


@pytest.fixture(scope="module")
def providers():
    """Which distributions bring an importable package."""
    if sys.version_info < (3, 11):
        pytest.skip("importlib.metadata of Python 3.10 does not know the packages of all wheels")
    found = packages_distributions()
    return lambda package: {normalised(name) for name in found.get(package, ())}


def test_what_is_imported_is_a_dependency(required, extras, providers):
    """A function may import packages of any extra but those of tests."""
    for_users, seen = set().union(*(extras[name] for name in extras if name != "test")), set()
    for path, package, lazily in foreign_imports():
        # A folder that is named like an extra needs it as a whole.
        folders = path.relative_to(ROOT).parts
        known = required.union(*(extras.get(folder, set()) for folder in folders))
        if lazily:
            known |= for_users
            if path.parent.name == "testing":  # called by tests, so it may use what runs tests
                known |= extras["test"]
        else:
            seen |= providers(package)
        assert providers(package) & known, f"{path} imports {package}"
    assert required <= seen, f"declared and never imported: {required - seen}"


def test_the_workflow_builds_wheels_of_the_declared_pythons_alone(project, pyproject):
    declared = {
        found.group(1).replace(".", "")
        for line in project["classifiers"]
        if (found := re.search(r":: (3\.\d+)$", line))
    }
    if any("Free Threading" in line for line in project["classifiers"]):
        declared.add("314t")  # without a global lock
    skipped = pyproject["tool"]["cibuildwheel"]["skip"].split()
    workflow = (ROOT / ".github/workflows/wheels.yml").read_text(encoding="utf-8")
    patterns = re.findall(r'build: "(.+?)-(\w+)"', workflow)
    assert len(patterns) == 7
    # The workflow's pattern replaces that of pyproject.toml.
    candidates = [*(f"3{minor}" for minor in range(8, 17)), "313t", "314t", "315t", "316t"]
    for pythons, platform in patterns:
        built = {
            one
            for one in candidates
            if fnmatchcase(f"cp{one}", pythons)
            and not any(fnmatchcase(f"cp{one}-{platform}", pattern) for pattern in skipped)
        }
        assert built == declared, platform


def test_the_page_of_versions_states_the_oldest_ones_that_are_declared(project):
    page = (ROOT / "docs/versions.md").read_text(encoding="utf-8")
    stated = {
        name.lower(): oldest
        for name, oldest in re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| \w+ \d{4} \|$", page, re.M)
    }
    bounds = dict(requirement.split(">=") for requirement in project["dependencies"])
    bounds["python"] = project["requires-python"].removeprefix(">=")
    assert stated == {name: bounds[name] for name in ("python", "numpy", "scipy", "scikit-learn")}


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=str)
def test_workflows_name_actions_by_hash_and_version(path):
    text = path.read_text(encoding="utf-8")
    assert pytest.importorskip("yaml").safe_load(text)["jobs"]
    actions = re.findall(r"uses: (.+)$", text, re.M)
    assert actions
    for action in actions:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
