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
    """One imported name: ``import module`` has no `name`; `depth` counts enclosing functions."""

    module: str
    name: str | None
    depth: int


def find_modules():
    """Every module of cwboost by its dotted name: Python, Cython, or declarations alone."""
    found = {}
    for suffix in (".pxd", ".pyx", ".py"):
        for path in PACKAGE.rglob(f"*{suffix}"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = find_modules()


class Imports(ast.NodeVisitor):
    """Collects the imports of one module: statements, and public names taken from ``cwboost``."""

    def __init__(self):
        self.found, self.depth = [], 0
        self.bound, self.loose = set(), []

    def visit_Import(self, node):
        for alias in node.names:
            self.found.append(Import(alias.name, None, self.depth))
            if alias.name == "cwboost" or (alias.asname is None and alias.name[:8] == "cwboost."):
                self.bound.add(alias.asname or "cwboost")

    def visit_ImportFrom(self, node):
        assert node.level == 0, "relative import"
        self.found += [Import(node.module, alias.name, self.depth) for alias in node.names]

    def visit_function(self, node):
        # Decorators and defaults are evaluated where the function is defined.
        inside = node.body if isinstance(node.body, list) else [node.body]
        for child in ast.iter_child_nodes(node):
            within = any(child is part for part in inside)
            self.depth += within
            self.visit(child)
            self.depth -= within

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_function

    def visit_If(self, node):
        # What stands there is for type checkers and never runs.
        if getattr(node.test, "id", None) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Name):
            self.loose.append((node.value.id, node.attr, self.depth))

    def visit_Call(self, node):
        """``getattr(cwboost, "Name")`` and ``import_module("cwboost.module")`` are imports too."""
        self.generic_visit(node)
        function = getattr(node.func, "attr", getattr(node.func, "id", None))
        words = [getattr(argument, "value", None) for argument in node.args]
        if function == "getattr" and len(words) > 1 and isinstance(words[1], str):
            if isinstance(node.args[0], ast.Name):
                self.loose.append((node.args[0].id, words[1], self.depth))
        elif function == "import_module" and words and isinstance(words[0], str):
            self.found.append(Import(words[0], None, self.depth))


def imports_of(source):
    """The imports of a Python source.

    A name that is computed (``getattr(cwboost, name)``) is data, from a file or a command line,
    and no import that the author of the source chose.
    """
    visitor = Imports()
    visitor.visit(ast.parse(source))
    used = [loose[1:] for loose in visitor.loose if loose[0] in visitor.bound]
    return visitor.found + [Import("cwboost", *name_and_depth) for name_and_depth in used]


@cache
def imports(path):
    """The imports of a Python or Cython file."""
    source = path.read_text()
    if path.suffix == ".py":
        return imports_of(source)
    return [
        Import(module, name, 0) if module else Import(name, None, 0)
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
        for module, name, depth in found
        if module.partition(".")[0] == "cwboost" and not (on_import_only and depth)
    }


BENCH = ROOT / "asv_bench"


def bench_tool(name):
    """Return a module of the folder of benchmarks."""
    sys.path.insert(0, str(BENCH))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(BENCH))
