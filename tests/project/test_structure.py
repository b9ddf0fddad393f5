"""Rules over the sources: imports, products of matrices, and what pyproject.toml declares."""

import ast
import re
import sys
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions

import grimp
import pytest
from sources import PACKAGE, ROOT

import cwboost
import cwboost.kernels
import cwboost.testing

PLUGINS = ROOT / "plugins"
UNIT = re.compile(r"^\| (\d+) \| `([\w.]+/?)` \|", re.MULTILINE)


@pytest.fixture(scope="module")
def graph():
    """Who imports whom, by import-linter's engine; packages of others without their modules."""
    found = grimp.build_graph(
        "cwboost",
        include_external_packages=True,
        exclude_type_checking_imports=True,
        cache_dir=None,
    )
    # It takes an import of a compiled module for one of the package.
    for name in found.find_modules_that_directly_import("cwboost"):
        found.remove_import(importer=name, imported="cwboost")
    return found


def layers():
    """The units of each layer, from the top down, as the architecture page lists them."""
    found = {}
    for layer, unit in UNIT.findall((ROOT / "docs" / "architecture.md").read_text()):
        assert (PACKAGE / unit).is_dir() == unit.endswith("/"), f"{unit}: folders end with a slash"
        found.setdefault(int(layer), []).append(unit.removesuffix("/").removesuffix(".py"))
    return [found[layer] for layer in sorted(found)]


def test_every_module_has_a_layer(graph):
    units = {name.removeprefix("cwboost.") for name in graph.find_children("cwboost")}
    units -= {"plugins", "plugin_templates"}  # which stand outside, and are there once installed
    assert sorted(unit for layer in layers() for unit in layer) == sorted(units)


def test_no_module_imports_upward_or_sideways(graph):
    ordered = [grimp.Layer(*units, independent=True) for units in layers()]
    illegal = graph.find_illegal_dependencies_for_layers(ordered, containers={"cwboost"})
    assert [(one.importer, one.imported) for one in illegal] == []
    upward = {"importer": "cwboost.master", "imported": "cwboost.commands"}
    graph.add_import(**upward)  # the rule sees what it forbids
    assert graph.find_illegal_dependencies_for_layers(ordered, containers={"cwboost"})
    graph.remove_import(**upward)


def test_only_the_upper_layers_use_the_public_names_of_the_package():
    """Which hide who imports whom."""
    uses = re.compile(r"^ *(from cwboost import (?!__version__$|hookspecs$)|import cwboost$)", re.M)
    upper = ("cli.py", "commands", "experiments", "testing")
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if uses.search(path.read_text())
    }
    # It asks a name of a file for its class.
    assert {name for name in found if not name.startswith(upper)} == {"model_file/saving.py"}


def test_cython_modules_use_kernels_alone():
    taken = re.compile(r"^\s*(?:from\s+(cwboost[\w.]*)\s+)?c?import\s+(cwboost[\w.]*)?", re.M)
    for path in (PACKAGE / "_kernels").rglob("*.p*x*"):
        names = {a or b for a, b in taken.findall(path.read_text()) if a or b}
        assert all(name.startswith("cwboost._kernels.") for name in names), path


def test_no_import_cycles(graph):
    """`prepare` names the modules of a cycle."""
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imports).prepare()


PUBLIC = {
    "cwboost": set(cwboost.__all__),
    "cwboost.kernels": set(cwboost.kernels.__all__),
    "cwboost.testing": set(cwboost.testing.__all__),
    "cwboost.callbacks": None,
    "cwboost.datasets": None,
}
"""The modules that plugins may use, and their names; None for all."""


def plugin_sources():
    return [
        path
        for path in sorted(PLUGINS.rglob("*.p*"))
        if path.suffix in (".py", ".pyx", ".pxd")
        and not {"build", "__pycache__"} & set(path.relative_to(PLUGINS).parts)
    ]


def names_of_cwboost(source):
    """(module, name) of what a Python source takes from cwboost; the name is None for a module."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((module, alias.name) for alias in names)
            case ast.Import(names=names):
                yield from ((alias.name, None) for alias in names)
            case ast.Attribute(value=ast.Name("cwboost"), attr=name):
                yield "cwboost", name


@pytest.mark.parametrize("path", plugin_sources(), ids=lambda p: p.relative_to(PLUGINS).as_posix())
def test_plugins_use_public_names_only(path):
    text = path.read_text()
    if path.suffix == ".py":
        taken = names_of_cwboost(text)
    else:
        modules = re.findall(r"^\s*(?:from|c?import)\s+(cwboost[\w.]*)", text, re.M)
        taken = [(module, None) for module in modules]
    for module, name in taken:
        if module.partition(".")[0] != "cwboost" or module.startswith("cwboost.plugins"):
            continue
        if f"{module}.{name}" in PUBLIC or (module == "cwboost" and name == "plugins"):
            continue
        assert module in PUBLIC, f"{module} is private"
        known = PUBLIC[module]
        assert name is None or known is None or name in known, f"{module}.{name} is private"


def test_errors_have_one_form():
    """`argument must be what was expected, got what came`."""
    other = re.compile(r"""["':] ?expected | expects """)
    sources = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx"), *plugin_sources()]
    found = [
        f"{path}: {line}"
        for path in sources
        for line in path.read_text().splitlines()
        if other.search(line)
    ]
    assert len(sources) > 200
    assert found == []


MULTIPLY = {
    "cwboost/baselines/codes.py", "cwboost/ensemble/directed_shapley.py",
    "cwboost/families/contract.py", "plugins/kernel/fitting.py", "plugins/kernel/kernel_values.py",
    "plugins/kernel/linear.py", "plugins/kernel/logistic.py",
    "plugins/kernel/model.py", "plugins/kernel/regression.py",
}  # fmt: skip
"""Sums of whole numbers, exact in any order, and sparse products, which SciPy sums in order."""


def test_matrices_are_multiplied_in_known_places(pyproject):
    """By `@` and `.dot`; ruff knows the functions whose bits depend on the machine (TID251)."""
    banned = pyproject["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]
    assert {"numpy.dot", "numpy.linalg", "scipy.linalg", "numpy.exp", "math.log"} <= set(banned)
    within_a_tolerance = ("cwboost/testing/", "cwboost/experiments/", "cwboost/families/sealing/")
    examples = ("plugins/patches/", "plugins/templates/", "plugins/text/")
    found = set()
    for path in (p for folder in ("cwboost", "plugins") for p in (ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            by_operator = isinstance(getattr(node, "op", None), ast.MatMult)
            by_method = isinstance(node, ast.Attribute) and node.attr == "dot"
            if (by_operator or by_method) and not name.startswith(within_a_tolerance + examples):
                found.add(name)
    assert found == MULTIPLY, "cwboost.kernels.matrix_product gives the same bits everywhere"


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def distributions_of(requirements):
    """Normalised names of the distributions that requirements name."""
    return {normalised(re.match(r"[\w.-]+", one).group()) for one in requirements}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="does not know the packages of all wheels")
def test_what_is_imported_is_a_dependency(graph, project):
    """Of the package or of an extra; `test_packaging` trains without the extras."""
    required = distributions_of(project["dependencies"])
    extras = set().union(*map(distributions_of, project["optional-dependencies"].values()))
    providers, used = packages_distributions(), set()
    for package in (name for name in graph.modules if graph.is_module_squashed(name)):
        if package not in sys.stdlib_module_names:
            known = {normalised(name) for name in providers.get(package, ())}
            assert known & (required | extras), f"{package} is not declared"
            used |= known
    assert required <= used, f"declared and never imported: {required - used}"


def test_the_page_of_versions_states_the_oldest_ones_that_are_declared(project):
    page = (ROOT / "docs/versions.md").read_text(encoding="utf-8")
    stated = {
        name.lower(): oldest
        for name, oldest in re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| \w+ \d{4} \|$", page, re.M)
    }
    bounds = dict(requirement.split(">=") for requirement in project["dependencies"])
    bounds["python"] = project["requires-python"].removeprefix(">=")
    assert stated == {name: bounds[name] for name in ("python", "numpy", "scipy", "scikit-learn")}
