"""Public names are documented as numpydoc asks; what docstrings state is true; examples run."""

import doctest
import inspect
import re
from ast import literal_eval
from importlib import import_module

import pandas as pd
import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from sklearn.base import ClassifierMixin

MODULES = ["", ".callbacks", ".dask", ".datasets", ".hookspecs", ".kernels", ".plotting"]

CHECKED = {"GL08", "PR01", "PR02", "SS01", "SS02", "SS03"}
"""A docstring with a summary, of all parameters and no others."""

REFERRED = {"GL08", "PR01"}
"""Not of methods, whose docstrings may be those of a base, or refer to those of another class."""

REFERRING = {"cwboost.dask.DaskCWBoostClassifier"}
"""The parameters of its local form are described there."""


def public(module):
    module = import_module(f"cwboost{module}")
    names = getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])
    found = {name: getattr(module, name) for name in names}
    return {
        f"{module.__name__}.{name}": one
        for name, one in found.items()
        if callable(one) and str(one.__module__).startswith("cwboost")
    }


def members(name, owner):
    """The public methods and properties of ours that a class has, by name."""
    ours = [base for base in inspect.getmro(owner) if base.__module__.startswith("cwboost")]
    known = {key: value for base in reversed(ours) for key, value in vars(base).items()}
    return {
        f"{name}.{key}": getattr(owner, key)
        for key, value in known.items()
        if not re.match(r"_|set_\w+_request$", key)  # the latter are scikit-learn's
        and (inspect.isroutine(value) or isinstance(value, property))
    }


NAMES = {name: one for module in MODULES for name, one in public(module).items()}
METHODS = {
    name: one
    for owner, kind in NAMES.items()
    if inspect.isclass(kind)
    for name, one in members(owner, kind).items()
}


def test_every_public_name_and_parameter_is_described():
    assert len(NAMES) > 100 and len(METHODS) > 300
    faults = [
        f"{name}: {code} {text}"
        for name in (*NAMES, *METHODS)
        for code, text in validate(name)["errors"]
        if code in CHECKED - (REFERRED if name in REFERRING | set(METHODS) else set())
        and signature_of(name)
    ]
    assert faults == []
    assert [name for name, method in METHODS.items() if not inspect.getdoc(method)] == []


def signature_of(name):
    """The parameters of a name; none of what is compiled without a signature, or a property."""
    try:
        return inspect.signature((NAMES | METHODS)[name]).parameters
    except (TypeError, ValueError):
        return {}


def value(written):
    """The default that a docstring states: a literal, else text such as the name of a class."""
    try:
        return literal_eval(written)
    except (SyntaxError, ValueError):
        return written


def test_stated_defaults_are_those_of_the_signature():
    wrong, n_stated = [], 0
    for name in filter(signature_of, NAMES | METHODS):
        described = NumpyDocString(inspect.getdoc((NAMES | METHODS)[name]) or "")["Parameters"]
        stated = [entry for entry in described if "default=" in entry.type]
        for names, kind, _ in stated:
            for parameter in names.split(", "):
                default = signature_of(name)[parameter].default
                n_stated += 1
                if default != value(kind.partition("default=")[2]):
                    wrong.append(f"{name}({parameter}={default!r})")
    assert n_stated > 200
    assert wrong == []


CLASSIFIERS = [
    one for one in public("").values() if inspect.isclass(one) and issubclass(one, ClassifierMixin)
]


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_the_attributes_of_a_fitted_classifier_are_described(kind):
    """Those that `fit` sets, and no others."""
    X = pd.DataFrame({"size": range(60), "colour": pd.Categorical(list("ab") * 30)})
    models = [kind().fit(X, X["size"] > 30)]
    if kind.__name__ == "CWBoostClassifier":
        models.append(kind("stump", correction="total").fit(X, X["size"] > 30))
    described = NumpyDocString(inspect.getdoc(kind))["Attributes"]
    known = {name for entry in described for name in entry.name.split(", ")}
    has = {name for clf in models for name in known if hasattr(clf, name)}
    fitted = {name for clf in models for name in vars(clf) if name[0] != "_" and name[-1] == "_"}
    assert fitted <= known == has


EXAMPLES = {
    name: test
    for name, one in (NAMES | METHODS | public(".testing")).items()
    if ">>>" in (text := inspect.getdoc(one) or "")
    for test in [doctest.DocTestParser().get_doctest(text, {}, name, None, 0)]
}


@pytest.mark.parametrize("test", EXAMPLES.values(), ids=EXAMPLES)
def test_the_examples_of_a_docstring_run(test, register):
    """What an example registers goes after it (`register`)."""
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
