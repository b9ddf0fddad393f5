"""The imports of the package equal the dependencies declared in pyproject.toml."""

import re
import sys
from fnmatch import fnmatchcase
from importlib.metadata import packages_distributions

import pytest
from import_graph import MODULES, ROOT, imports

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # comes with the package build

PYPROJECT = ROOT / "pyproject.toml"

pytestmark = pytest.mark.skipif(not PYPROJECT.exists(), reason="needs a checkout")


def distributions_of(requirements):
    """Normalised names of the distributions that requirements name."""
    names = (re.match(r"[\w.-]+", requirement).group() for requirement in requirements)
    return {normalised(name) for name in names}


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def project():
    return tomllib.loads(PYPROJECT.read_text())["project"]


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


def test_what_is_imported_with_a_module_is_a_dependency(required, extras, providers):
    seen = set()
    for path, package, lazily in foreign_imports():
        if not lazily:
            # A folder that is named like an extra needs it as a whole.
            folders = path.relative_to(ROOT).parts
            known = required.union(*(extras.get(folder, set()) for folder in folders))
            assert providers(package) & known, f"{path} imports {package}"
            seen |= providers(package)
    assert required <= seen, f"declared and never imported: {required - seen}"


def test_what_a_function_imports_is_a_dependency_or_belongs_to_an_extra(
    required, extras, providers
):
    for_users = required.union(*(extras[name] for name in extras if name != "test"))
    for path, package, lazily in foreign_imports():
        # The conformance suite is called by tests, so it may use what runs tests.
        known = for_users | extras["test"] if path.parent.name == "testing" else for_users
        if lazily and not providers(package) & known:
            pytest.fail(f"{path} imports {package}, which is of {providers(package)}")


def test_the_workflow_builds_wheels_of_the_declared_pythons_alone(project):
    declared = {
        found.group(1).replace(".", "")
        for line in project["classifiers"]
        if (found := re.search(r":: (3\.\d+)$", line))
    }
    if any("Free Threading" in line for line in project["classifiers"]):
        declared.add("314t")  # without a global lock
    skipped = tomllib.loads(PYPROJECT.read_text())["tool"]["cibuildwheel"]["skip"].split()
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
