"""The public names are annotated, and type checkers see the ones that are imported on first use."""

import ast
import inspect
import re

import pytest
from sources import ROOT

import cwboost
from cwboost import callbacks

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


def test_type_checkers_see_the_names_that_are_imported_on_first_use():
    body = ast.parse((ROOT / "cwboost/__init__.py").read_text(encoding="utf-8")).body
    (block,) = [node for node in body if isinstance(node, ast.If)]
    imported = [line for line in block.body if isinstance(line, ast.ImportFrom)]
    declared = {line.target.id for line in block.body if isinstance(line, ast.AnnAssign)}
    assert {a.name: line.module for line in imported for a in line.names} == cwboost._HOMES
    assert declared == set(cwboost._SHIPPED)
    assert {*cwboost._HOMES, *declared} <= set(cwboost.__all__)


STUBS = sorted((ROOT / "cwboost/_kernels").rglob("*.pyi"))


@pytest.mark.parametrize("stub", STUBS, ids=lambda path: path.stem)
def test_stubs_have_the_parameters_of_the_cython_source(stub):
    source = stub.with_suffix(".pyx").read_text(encoding="utf-8").replace("__cinit__", "__init__")
    functions = [
        node for node in ast.walk(ast.parse(stub.read_text())) if isinstance(node, ast.FunctionDef)
    ]
    assert functions
    for function in functions:
        arguments = re.findall(rf"def {function.name}\((.*?)\):", source, re.S)
        names = [
            re.findall(r"(\w+)(?:=[^,]*)?(?:,|$)", re.sub(r"\[.*?\]", "", a)) for a in arguments
        ]
        own = function.args
        taken = own.args + own.kwonlyargs + ([own.kwarg] if own.kwarg else [])
        assert [one.arg for one in taken] in names, function.name
