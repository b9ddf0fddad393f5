"""Every public class, function, method and parameter has documentation; its examples run."""

import doctest
import inspect
import re
from ast import literal_eval
from importlib import import_module

import pandas as pd
import pytest
from import_graph import ROOT
from sklearn.base import ClassifierMixin

MODULES = ["callbacks", "dask", "datasets", "hookspecs", "kernels", "plotting"]


def public(module):
    names = getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])
    for name in names:
        found = getattr(module, name)
        if callable(found) and str(found.__module__).startswith("cwboost"):
            yield name, found


def described(name, found):
    """(name, object, docstrings that may describe it) of a function, or a class and its members."""
    if not inspect.isclass(found):
        yield name, found, [inspect.getdoc(found)]
        return
    line = [base for base in found.__mro__ if base.__module__.startswith("cwboost")]
    yield name, found, [base.__doc__ and inspect.cleandoc(base.__doc__) for base in line]
    for member in sorted({key for base in line for key in vars(base) if key[0] != "_"}):
        owners = [base for base in line if member in vars(base)]
        value = vars(owners[0])[member]
        value = getattr(value, "__func__", value)
        if inspect.isfunction(value) or isinstance(value, property):
            docs = [vars(owner)[member].__doc__ for owner in owners]
            docs.append(inspect.getdoc(getattr(found, member)))  # from another package's base
            yield f"{name}.{member}", value, [doc and inspect.cleandoc(doc) for doc in docs]


def entries(text, title="(?:Other )?Parameters"):
    """Yield each name that a section of a docstring describes, and what its line has beside."""
    sections = re.findall(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.M | re.S)
    for line in "".join(sections).splitlines():
        if re.match(r"[*\w]", line):
            names, _, kind = line.partition(":")
            yield from ((name.strip(" *"), kind) for name in names.split(","))


def parameters_of(text):
    """Parameters that a docstring describes: in their sections, or in a sentence."""
    return {name for name, _ in entries(text)} | set(re.findall(r"`+\**(\w+)`+", text))


def referred_to(text):
    """The docstring of `CWBoostClassifier.method`, if a docstring refers to it, else nothing."""
    found = re.search(r"`+(?:cwboost\.)?(CWBoostClassifier)(?:\.(\w+))?`+", text)
    if found is None:
        return []
    owner = getattr(import_module("cwboost"), found.group(1))
    return [inspect.getdoc(getattr(owner, found.group(2)) if found.group(2) else owner)]


@pytest.mark.parametrize("name", ["cwboost", *(f"cwboost.{name}" for name in MODULES)])
def test_every_public_name_and_parameter_is_described(name):
    missing, n_parameters = [], 0
    for where, found in public(import_module(name)):
        for what, member, docs in described(where, found):
            docs = [doc for doc in docs if doc]
            if not docs:
                missing.append(what)
                continue
            if isinstance(member, property):
                continue
            try:
                taken = set(inspect.signature(member).parameters) - {"self", "cls", "_"}
            except ValueError:  # compiled, without a signature
                continue
            n_parameters += len(taken)
            known = set().union(*map(parameters_of, [*docs, *referred_to(docs[0])]))
            missing += [f"{what}({parameter})" for parameter in sorted(taken - known)]
    assert n_parameters
    assert missing == []


def value(written):
    """The default that a docstring states: a literal, else text such as the name of a class."""
    try:
        return literal_eval(written)
    except (SyntaxError, ValueError):
        return written


@pytest.mark.parametrize("name", ["cwboost", *(f"cwboost.{name}" for name in MODULES)])
def test_stated_defaults_are_those_of_the_signature(name):
    wrong, n_stated = [], 0
    for where, found in public(import_module(name)):
        for what, member, (text, *_) in described(where, found):
            stated = [(one, kind) for one, kind in entries(text or "") if "default=" in kind]
            try:
                known = inspect.signature(member).parameters if stated else {}
            except ValueError:  # compiled, without a signature
                continue
            n_stated += len(stated)
            wrong += [
                f"{what}({parameter}={known[parameter].default!r})"
                for parameter, kind in stated
                if known[parameter].default != value(kind.partition("default=")[2])
            ]
    assert n_stated or name == "cwboost.hookspecs"
    assert wrong == []


CLASSIFIERS = [
    one
    for _, one in public(import_module("cwboost"))
    if inspect.isclass(one) and issubclass(one, ClassifierMixin)
]


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_the_attributes_of_a_fitted_classifier_are_described(kind):
    """Those that `fit` sets, and no others."""
    X = pd.DataFrame({"size": range(60), "colour": pd.Categorical(list("ab") * 30)})
    models = [kind().fit(X, X["size"] > 30)]
    if kind.__name__ == "CWBoostClassifier":
        models.append(kind("stump", correction="total").fit(X, X["size"] > 30))
    known = {name for name, _ in entries(inspect.getdoc(kind), "Attributes")}
    has = {name for clf in models for name in known if hasattr(clf, name)}
    fitted = {name for clf in models for name in vars(clf) if name[0] != "_" and name[-1] == "_"}
    assert fitted <= known == has


def examples():
    """The docstrings with examples, by name: those of public names and of public methods."""
    return {
        f"{module}.{what}": test
        for module in ("cwboost", *(f"cwboost.{name}" for name in [*MODULES, "testing"]))
        for where, found in public(import_module(module))
        for what, member, _ in described(where, found)
        if ">>>" in (text := inspect.getdoc(member) or "")
        for test in [doctest.DocTestParser().get_doctest(text, {}, what, None, 0)]
    }


@pytest.mark.parametrize("test", examples().values(), ids=examples())
def test_the_examples_of_a_docstring_run(test, register):
    """What an example registers goes after it (`register`)."""
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def test_what_users_train_with_has_an_example():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    sections = page.partition("\n## Classifiers\n")[2].partition("\n## Models and files\n")[0]
    names = re.findall(r"^   ([A-Za-z][\w.]+)$", sections, re.M)
    assert "CWBoostClassifier" in names and "MixedFamily" in names
    assert [name for name in names if f"cwboost.{name}" not in examples()] == []
