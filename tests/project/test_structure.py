"""Who may import whom, read from the sources; and what must be documented."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import cwboost
import cwboost.kernels
import cwboost.testing
from cwboost import hookspecs
from cwboost.testing.runner import _all_checks

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, PLUGINS, DOCS = ROOT / "cwboost", ROOT / "plugins", ROOT / "docs" / "plugins"
CIMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+)?c?import\s+([\w.]+)", re.MULTILINE)


def modules():
    """Every Python module of cwboost, by its dotted name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def imports(path):
    """What a module imports: (module, name or None, whether at its top level)."""
    tree = ast.parse(path.read_text())
    top = set(map(id, tree.body))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, None, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [(node.module, alias.name, id(node) in top) for alias in node.names]
    return found


def imported_modules(name, top_level_only=False):
    """Modules of cwboost that one of them imports; ``from package import module`` counts."""
    found = set()
    for module, attribute, top in imports(MODULES[name]):
        if module.partition(".")[0] != "cwboost" or (top_level_only and not top):
            continue
        full = f"{module}.{attribute}"
        found.add(full if full in MODULES else module)
    return found - {name}


def within(name, *packages):
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_the_parser_sees_imports():
    assert "cwboost.families.contract" in imported_modules("cwboost.families.discovery")
    assert "cwboost.commands" in imported_modules("cwboost.cli")
    assert len(MODULES) > 20


@pytest.mark.parametrize("name", MODULES)
def test_cwboost_imports_no_plugin(name):
    imported = {module for module, _, _ in imports(MODULES[name])}
    assert not any(within(module, "cwboost.plugins") for module in imported)
    assert not any(module.startswith("cwboost_") for module in imported)


def test_kernels_name_no_plugin_and_import_only_kernels():
    for path in (PACKAGE / "_kernels").iterdir():
        if path.suffix not in (".py", ".pyx", ".pxd"):
            continue
        for source, name in CIMPORT.findall(path.read_text()):
            module = source or name
            assert not module.startswith("cwboost_"), path.name
            if module.partition(".")[0] == "cwboost":
                assert within(module, "cwboost._kernels"), f"{path.name} imports {module}"


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


def test_no_folder_is_crowded_and_no_file_is_long():
    for folder in {path.parent for path in MODULES.values()}:
        modules = [p for p in folder.iterdir() if p.suffix in (".py", ".pyx")]
        assert len(modules) <= 12, f"{folder}: {len(modules)} modules"
    for path in MODULES.values():
        assert len(path.read_text().splitlines()) < 400, path


def test_the_contract_stands_alone():
    assert imported_modules("cwboost.families.contract") == set()
    assert imported_modules("cwboost.hookspecs") == set()
    for name in MODULES:
        if within(name, "cwboost.families"):
            others = {unit_of(m) for m in imported_modules(name)} - {"cwboost"}
            assert others <= {"cwboost.families", "cwboost.hookspecs"}, name


def test_only_plugins_imports_the_manager_of_pluggy():
    users = {
        name for name, path in MODULES.items() if any(m == "pluggy" for m, _, _ in imports(path))
    }
    assert users == {"cwboost.families.plugin_loading", "cwboost.hookspecs"}
    assert "PluginManager" not in MODULES["cwboost.hookspecs"].read_text()


def test_importing_cwboost_is_light():
    eager = imported_modules("cwboost", top_level_only=True)
    assert eager <= {"cwboost.families.contract", "cwboost.hookspecs"}


def test_no_import_cycles():
    graph = {name: imported_modules(name, top_level_only=True) & set(MODULES) for name in MODULES}
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
PUBLIC_MODULES = (*PUBLIC, "cwboost.datasets")


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


# --- documentation ------------------------------------------------------------------------------


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
    names += re.findall(r"^cdef struct (\w+):|^ctypedef \w+ (\w+)$", source, re.MULTILINE)[0]
    names += ["bits_t", "Cut", "CYTHON_API_VERSION"]
    assert len(names) > 10
    text = documentation("cython.md")
    for name in filter(None, names):
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
