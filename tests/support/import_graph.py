"""Who imports whom in the package, read from the sources; the programs beside the benchmarks."""

import ast
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "cwboost"
CIMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+)?c?import\s+([\w.]+)", re.MULTILINE)


class Import(NamedTuple):
    """One imported name: ``import module`` has no `name`; `late` is true within functions."""

    module: str
    name: str | None
    late: bool


def find_modules():
    """Every module of cwboost by its dotted name: Python, Cython, or declarations alone."""
    found = {}
    for suffix in (".pxd", ".pyx", ".py"):
        for path in PACKAGE.rglob(f"*{suffix}"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = find_modules()


def nodes_of(tree):
    """Every node that may run, and whether it runs in a function only."""
    late, never = set(), set()
    for node in ast.walk(tree):
        # Decorators and defaults are evaluated where the function is defined.
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            body = node.body if isinstance(node.body, list) else [node.body]
            late.update(inner for part in body for inner in ast.walk(part))
        # What stands there is for type checkers.
        elif isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
            never.update(ast.walk(node))
    return [(node, node in late) for node in ast.walk(tree) if node not in never]


def imports_of(source):
    """The imports of a Python source: statements, and public names taken from ``cwboost``.

    ``getattr(cwboost, "Name")`` and ``import_module("cwboost.module")`` are imports too. A name
    that is computed (``getattr(cwboost, name)``) is data, from a file or a command line, and no
    import that the author of the source chose.
    """
    found, bound, loose = [], set(), []
    for node, late in nodes_of(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found += [Import(alias.name, None, late) for alias in names]
                ours = [alias for alias in names if alias.name.partition(".")[0] == "cwboost"]
                bound |= {a.asname or "cwboost" for a in ours if not a.asname or "." not in a.name}
            case ast.ImportFrom(module=module, names=names, level=0):
                found += [Import(module, alias.name, late) for alias in names]
            case ast.ImportFrom():
                raise AssertionError("relative import")
            case ast.Attribute(value=ast.Name(id=holder), attr=name):
                loose.append((holder, name, late))
            case ast.Call(ast.Name("getattr"), [ast.Name(holder), ast.Constant(str(name)), *_]):
                loose.append((holder, name, late))
            case ast.Call(
                ast.Name("import_module") | ast.Attribute(attr="import_module"),
                [ast.Constant(str(name)), *_],
            ):
                found.append(Import(name, None, late))
    return found + [
        Import("cwboost", name, late) for holder, name, late in loose if holder in bound
    ]


@cache
def imports(path):
    """The imports of a Python or Cython file."""
    source = path.read_text()
    if path.suffix == ".py":
        return imports_of(source)
    return [
        Import(module, name, False) if module else Import(name, None, False)
        for module, name in CIMPORT.findall(source)
    ]


@cache
def lazy_names(package):
    """Names that a package imports when they are first asked for, and from where: its ``_LAZY``."""
    for node in ast.parse(MODULES[package].read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "_LAZY":
            return ast.literal_eval(node.value)
    return {}


def origin(module, name):
    """The module in which a name that is imported from `module` is defined."""
    if name is None or module not in MODULES:
        return module
    if f"{module}.{name}" in MODULES:
        return f"{module}.{name}"
    if MODULES[module].name != "__init__.py":
        return module
    if name in lazy_names(module):
        return origin(lazy_names(module)[name], name)
    for other in imports(MODULES[module]):
        if other.name == name and other.module != module:
            return origin(other.module, name)
    return module


def imported_modules(name, on_import_only=False):
    """Modules of cwboost that one of them imports, seen through the names of its packages."""
    path = MODULES[name]
    files = {path, path.with_suffix(".pxd")} if path.with_suffix(".pxd").exists() else {path}
    return {m for file in files for m in resolved(imports(file), on_import_only)} - {name}


def resolved(found, on_import_only=False):
    """The modules of cwboost that define what these imports bring."""
    return {
        origin(module, name)
        for module, name, late in found
        if module.partition(".")[0] == "cwboost" and not (on_import_only and late)
    }


BENCH = ROOT / "asv_bench"


def bench_tool(name):
    """Return a module of the folder of benchmarks."""
    sys.path.insert(0, str(BENCH))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(BENCH))
