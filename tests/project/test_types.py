"""The public names are annotated, and type checkers see the ones that are imported on first use."""

import ast
import inspect
import sys
from pathlib import Path

import pytest

import cwboost
from cwboost import callbacks

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # comes with the package build

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = [
    *(getattr(cwboost, name) for name in cwboost.__all__ if name not in cwboost._SHIPPED),
    *(getattr(callbacks, name) for name in callbacks.__all__),
]


def own_functions(public):
    """The functions of cwboost behind a public name: itself, or the public methods of a class."""
    if not inspect.isclass(public):
        return [public] if inspect.isfunction(public) else []
    names = [name for name in dir(public) if name == "__init__" or name[0] != "_"]
    found = [inspect.getattr_static(public, name) for name in names]
    found = [getattr(one, "fget", None) or getattr(one, "__func__", one) for one in found]
    return [one for one in found if inspect.isfunction(one) and one.__module__[:8] == "cwboost."]


def test_public_functions_and_methods_are_annotated():
    functions = {function for public in PUBLIC for function in own_functions(public)}
    assert len(functions) > 100
    bare = []
    for function in functions:
        signature = inspect.signature(function)
        named = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
        if any(p.annotation is p.empty for p in named) or (
            signature.return_annotation is signature.empty and function.__name__ != "__init__"
        ):
            bare.append(f"{function.__module__}.{function.__qualname__}")
    assert sorted(bare) == []


@pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs a checkout")
def test_type_checkers_see_the_names_that_are_imported_on_first_use():
    body = ast.parse((ROOT / "cwboost/__init__.py").read_text(encoding="utf-8")).body
    (block,) = [node for node in body if isinstance(node, ast.If)]
    assert {a.name: line.module for line in block.body for a in line.names} == cwboost._LAZY


@pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs a checkout")
def test_the_checker_reads_the_modules_of_public_names():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(cwboost._LAZY.values()) <= set(settings["tool"]["mypy"]["modules"])
