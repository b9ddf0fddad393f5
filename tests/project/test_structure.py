"""Allowed imports between modules, and limits on the size of files and folders."""

import ast
import re

import pytest
from import_graph import (
    CIMPORT,
    MODULES,
    PACKAGE,
    ROOT,
    imported_modules,
    imports,
    imports_of,
    lazy_names,
    resolved,
)

import cwboost
import cwboost.kernels
import cwboost.testing

PLUGINS = ROOT / "plugins"


def within(name, *packages):
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_the_parser_sees_imports():
    assert "cwboost.families.contract" in imported_modules("cwboost.families.discovery")
    assert "cwboost.commands" in imported_modules("cwboost.cli")
    assert "cwboost._kernels.fcd.pair_weights" in imported_modules("cwboost.master")
    assert "cwboost._kernels.fcd.subspace" in imported_modules("cwboost._kernels.fcd.pair_weights")
    assert len(MODULES) > 80


# Whether importing the module imports the classifier.
SOURCES = {
    "from cwboost import CWBoostClassifier": True,
    "import cwboost\ncwboost.CWBoostClassifier()": True,
    "import cwboost as c\nx = c.CWBoostClassifier": True,
    "import cwboost\ngetattr(cwboost, 'CWBoostClassifier')": True,
    "import cwboost\ndef f(x=cwboost.CWBoostClassifier): pass": True,
    "from importlib import import_module\nimport_module('cwboost.classifier')": True,
    "if x:\n    from cwboost.classifier import anything": True,
    "def f():\n    from cwboost import CWBoostClassifier": False,
    "def f():\n    import cwboost\n    return [lambda: cwboost.CWBoostClassifier()]": False,
    "class A:\n    async def f(self):\n        import cwboost.classifier": False,
}


@pytest.mark.parametrize("source, on_import", SOURCES.items())
def test_the_parser_sees_through_lazy_names_and_into_functions(source, on_import):
    assert "cwboost.classifier" in resolved(imports_of(source))
    eager = resolved(imports_of(source), on_import_only=True)
    assert ("cwboost.classifier" in eager) == on_import
    assert lazy_names("cwboost")["CWBoostClassifier"] == "cwboost.classifier"


@pytest.mark.parametrize("name", MODULES)
def test_cwboost_imports_no_plugin(name):
    imported = {module for module, _, _ in imports(MODULES[name])} | imported_modules(name)
    assert not any(within(module, "cwboost.plugins") for module in imported)
    assert not any(module.startswith("cwboost_") for module in imported)


UNIT = re.compile(r"^\| (\d+) \| `([\w.]+/?)` \|", re.MULTILINE)


def layers():
    """The units of each layer, from the top down, as the architecture page lists them."""
    found = {}
    for layer, unit in UNIT.findall((ROOT / "docs" / "architecture.md").read_text()):
        name = "cwboost." + unit.removesuffix("/").removesuffix(".py")
        assert (PACKAGE / unit).is_dir() == unit.endswith("/"), f"{unit}: folders end with a slash"
        found.setdefault(int(layer), []).append(name)
    return [found[layer] for layer in sorted(found)]


# A module may import its own unit and what stands in a lower layer.
LAYERS = layers()


def unit_of(name):
    """The folder or top-level module of the package that a module belongs to."""
    return ".".join(name.split(".")[:2])


def layer_of(name):
    (found,) = [depth for depth, units in enumerate(LAYERS) if unit_of(name) in units]
    return found


def test_every_module_has_a_layer():
    units = {unit_of(name) for name in MODULES} - {"cwboost"}
    assert sorted(unit for layer in LAYERS for unit in layer) == sorted(units)


@pytest.mark.parametrize("name", sorted(set(MODULES) - {"cwboost"}))
def test_no_module_imports_upward_or_sideways(name):
    for module in imported_modules(name) - {"cwboost"}:
        if unit_of(module) != unit_of(name):
            assert layer_of(module) > layer_of(name), f"{name} imports {module}"


def test_the_contract_stands_alone():
    below = {"cwboost.families.flat_forms", "cwboost.families.outputs"}
    assert imported_modules("cwboost.families.contract") == below
    assert imported_modules("cwboost.families.outputs") == set()
    assert imported_modules("cwboost.families.flat_forms", on_import_only=True) == set()
    assert imported_modules("cwboost.hookspecs") == set()


def test_importing_cwboost_is_light():
    eager = imported_modules("cwboost", on_import_only=True)
    contract = {f"cwboost.families.{name}" for name in ("contract", "flat_forms", "outputs")}
    assert eager <= contract | {"cwboost.hookspecs"}


def test_no_import_cycles():
    graph = {name: imported_modules(name) & set(MODULES) for name in MODULES}
    done, path = set(), []

    def visit(name):
        assert name not in path, f"cycle: {' -> '.join([*path, name])}"
        if name in done:
            return
        path.append(name)
        for other in sorted(graph[name]):
            visit(other)
        path.pop()
        done.add(name)

    for name in sorted(graph):
        visit(name)


PUBLIC = {
    "cwboost": set(cwboost.__all__),
    "cwboost.kernels": set(cwboost.kernels.__all__),
    "cwboost.testing": set(cwboost.testing.__all__),
}
PUBLIC_MODULES = (*PUBLIC, "cwboost.callbacks", "cwboost.datasets")


def plugin_sources():
    return [
        path
        for path in sorted(PLUGINS.rglob("*.py*"))
        if path.suffix in (".py", ".pyx", ".pxd")
        and not {"build", "__pycache__"} & set(path.relative_to(PLUGINS).parts)
    ]


@pytest.mark.parametrize("path", plugin_sources(), ids=lambda p: p.relative_to(PLUGINS).as_posix())
def test_plugins_use_public_names_only(path):
    if path.suffix == ".py":
        for module, name, _ in imports(path):
            if module.partition(".")[0] != "cwboost" or within(module, "cwboost.plugins"):
                continue
            assert module in PUBLIC_MODULES, f"{module} is private"
            if name is not None and module in PUBLIC and f"{module}.{name}" not in PUBLIC:
                assert name in PUBLIC[module], f"{module}.{name} is private"
        attributes = {
            node.attr
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "cwboost"
        }
        assert attributes <= PUBLIC["cwboost"], attributes - PUBLIC["cwboost"]
    for source, name in CIMPORT.findall(path.read_text()):
        module = source or name
        if module.partition(".")[0] == "cwboost" and path.suffix != ".py":
            assert module in PUBLIC_MODULES, f"{module} is private"


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
    assert len(sources) > 300
    assert found == []
