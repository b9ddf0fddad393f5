"""Checks of what training must leave alone: the process, the classes, the module."""

import io
import pickle
import random
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import numpy as np
from sklearn.base import clone

from cwboost.testing.check import check
from cwboost.testing.declarations import use


@check("Draw from random_state; use np.errstate; do not print, nor set os.environ.")
def check_process_is_left_alone(plugin):
    """Check that training and predicting change nothing that the whole process shares.

    These are the global generators of NumPy and Python, NumPy's treatment of floating-point
    errors, warning filters and environment variables. Nothing is printed.
    """
    printed, unusual = io.StringIO(), {"all": "warn", "divide": "print", "invalid": "ignore"}
    numpy_before, python_before = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        # A state that no seed gives, since an earlier check may have let the plugin seed.
        np.random.random(3)  # noqa: NPY002
        random.random()
        with (
            np.errstate(**unusual),
            warnings.catch_warnings(),
            redirect_stdout(printed),
            redirect_stderr(printed),
            audited(("os.putenv", "os.unsetenv")) as events,
        ):
            # So that a filter that an earlier check let the plugin set is set again.
            warnings.filterwarnings("default", "no such text")
            before = _state_of_the_process()
            use(plugin)
            after = _state_of_the_process()
    finally:
        np.random.set_state(numpy_before)  # noqa: NPY002
        random.setstate(python_before)
    changed = [name for name in before if before[name] != after[name]]
    changed += ["os.environ"] if events else []
    assert not changed, f"changes {', '.join(changed)}"
    assert not printed.getvalue(), f"prints {printed.getvalue()[:80]!r}"


@check("Keep what bind prepares on the pricer: not on the family, a class or the module.")
def check_classes_are_left_alone(plugin):
    """Check that training leaves the plugin, its classes and its module as they were."""
    copy, before = clone(plugin), _state_of_the_classes(plugin)
    names = set(vars(copy))
    use(copy, n_samples=67)
    after = _state_of_the_classes(plugin)
    changed = sorted(key for key in after if before.get(key) != after[key])
    changed += [f"{plugin!r}.{name}" for name in set(vars(copy)) - names]
    assert not changed, f"training changes {', '.join(changed)}"


def _state_of_the_process() -> dict:
    return {
        "NumPy's global generator": pickle.dumps(np.random.get_state()),  # noqa: NPY002
        "Python's global generator": random.getstate(),
        "np.seterr": np.geterr(),
        "warnings.filters": list(warnings.filters),
    }


def _state_of_the_classes(plugin) -> dict[str, object]:
    """Return the values of the module of a plugin, and of its classes, by their names."""
    module = sys.modules[type(plugin).__module__]
    owners = [module, *(v for v in vars(module).values() if isinstance(v, type))]
    state: dict[str, object] = {}
    for owner in owners:
        if owner is module or owner.__module__ == module.__name__:
            for name, value in vars(owner).items():
                if not name.startswith(("__", "_abc_")) and not callable(value):
                    state[f"{owner.__name__}.{name}"] = _printed(value)
    return state


def _printed(value) -> object:
    try:
        return pickle.dumps(value)
    except Exception:
        return id(value)


_observed = threading.local()
_installed: list[bool] = []


@contextmanager
def audited(names) -> Iterator[list]:
    """Collect the audit events of these names in this thread; the hook, once added, stays."""
    if not _installed:
        sys.addaudithook(_hook)
        _installed.append(True)
    _observed.names, _observed.events = names, []
    try:
        yield _observed.events
    finally:
        _observed.events = None


def _hook(event, args):
    events = getattr(_observed, "events", None)
    if events is not None and event in _observed.names:
        events.append(event)
