"""Faults in a fit: at a line of Python, at an allocation, or some microseconds from now.

A fault must arrive within a second and leave the former model whole, or the rounds that were
finished. Failing allocations are those of the compiled kernels and of the data of NumPy's arrays;
they need glibc and a C compiler.

The collector of garbage rests during an interrupt: it may run destructors of what earlier tests
left, and Python reports, but does not raise, an exception in a destructor.
"""

import ctypes
import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from attack import Strike
from models import CLASSIFIERS, FAMILIES, stages
from numpy._core import _multiarray_umath
from sklearn.datasets import load_iris

from cwboost import CWBoostClassifier, TreeFamily

X, Y = load_iris(return_X_y=True)
CODES = np.column_stack([np.rint(X[:, :2]), X[:, 2:]])
PLACE_OF_SET_HANDLER = 304  # in the table of NumPy's C API

# ------------------------------------------------------------------ faults


class Lines:
    """Count the lines of Python that run inside; raise KeyboardInterrupt at line `at`, if given.

    CPython answers a signal between two instructions of the main thread, so a line of any module
    is a moment at which Ctrl-C can arrive. Unlike a timer, a count is the same in every run.
    """

    reason = "interrupted"

    def __init__(self, at=None):
        self.at, self.count, self.fired = at, 0, None

    def __enter__(self):
        gc.disable()
        self.before = sys.gettrace()
        sys.settrace(self._traced)
        return self

    def __exit__(self, *_):
        sys.settrace(self.before)
        gc.enable()

    def _traced(self, frame, event, _):
        if event == "line":
            self.count += 1
            if self.count == self.at:
                self._interrupt()
        return self._traced

    def _interrupt(self, *_):
        self.fired = time.perf_counter()
        raise KeyboardInterrupt

    def caused(self, error):
        return isinstance(error, KeyboardInterrupt) and time.perf_counter() - self.fired < 1


class Alarms(Lines):
    """Count microseconds; SIGALRM raises KeyboardInterrupt, as Ctrl-C does, in kernels too."""

    def __enter__(self):
        gc.disable()
        self.before = signal.signal(signal.SIGALRM, self._interrupt)
        self.start = time.perf_counter()
        if self.at is not None:
            signal.setitimer(signal.ITIMER_REAL, max(100, self.at) * 1e-6)
        return self

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)
        self.count = int(1e6 * (time.perf_counter() - self.start))
        gc.enable()


class Allocations:
    """Count the allocations inside; let number `at` fail, if given. See attack_fits.c."""

    reason, library = "failed", ctypes.CDLL(None)

    def __init__(self, at=-1):
        self.at, self.count = at, None

    def __enter__(self):
        self.library.fail_allocation(ctypes.c_long(self.at))
        return self

    def __exit__(self, *_):
        self.count = self.library.allocations_made()
        self.fired = 0 <= self.at < self.count

    def caused(self, error):
        return isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError)


def watch_arrays():
    """Make the library's functions NumPy's memory handler, by PyDataMem_SetHandler."""
    python = ctypes.pythonapi
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    table = python.PyCapsule_GetPointer(_multiarray_umath._ARRAY_API, None)
    address = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[PLACE_OF_SET_HANDLER]
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(address)
    memory = ctypes.addressof(ctypes.c_char.in_dll(Allocations.library, "array_memory"))
    set_handler(python.PyCapsule_New(memory, b"mem_handler", None))
    assert np._core.multiarray.get_handler_name() == "failing"


# ------------------------------------------------------------------ what they leave


def assert_first_rounds(clf, whole, X=X):
    """`clf` is what `whole` was after as many rounds, bit for bit."""
    n, n_rounds = clf.n_iter_, clf.ensemble_.n_rounds
    assert {len(values) for values in clf.history_.values()} <= {n}
    scores = whole.ensemble_.scores(X, n_rounds=n_rounds)
    np.testing.assert_array_equal(clf.ensemble_.scores(X), scores)
    objective = clf.history_["objective"]
    np.testing.assert_array_equal(objective, whole.history_["objective"][:n])


def what_is_left(clf, former, whole, reason="interrupted", X=X):
    """Return what a fault left of a model: itself as it was, or the first rounds of the new fit.

    `former` has the attributes before the disturbed fit, `whole` is the same classifier, never
    disturbed, and `reason` the `stop_reason_` of a model that was disturbed.
    """
    if clf.__dict__.get("model_") is former.get("model_"):
        assert clf.__dict__.keys() == former.keys()
        assert all(clf.__dict__[name] is value for name, value in former.items())
        return "the former model"
    ended = (clf.stop_reason_, clf.n_iter_) == (whole.stop_reason_, whole.n_iter_)
    assert ended or clf.stop_reason_ == reason
    assert_first_rounds(clf, whole, X)
    return "some rounds"


# ------------------------------------------------------------------ small fits


class SmallFit(NamedTuple):
    """A step to disturb: `make` returns the classifier, `run` trains it on X or the like."""

    make: Callable
    run: Callable = lambda clf: clf.fit(X, Y)
    X: np.ndarray = X


FEW = {"n_estimators": 8, "random_state": 0}


def made(classifier, family, n_jobs):
    """A deep tree would fit all examples in one round."""
    return classifier(TreeFamily(max_depth=1) if family == "tree" else family, n_jobs=n_jobs, **FEW)


EARLY = FEW | {"init": None, "early_stopping": "error", "probability_scale": 2.0}
LONG = {"n_estimators": 400, "C": 1e8, "tol": 0.0}

# Every classifier, every family, every second of them on two threads; what other parameters add.
PAIRS = [(CLASSIFIERS[0], family) for family in FAMILIES]
PAIRS += [(rival, FAMILIES[place % 3]) for place, rival in enumerate(CLASSIFIERS[1:])]
SMALL_FITS = {
    **{
        f"{classifier.__name__}, {family}": SmallFit(
            partial(made, classifier, family, 1 + place % 2)
        )
        for place, (classifier, family) in enumerate(PAIRS)
    },
    "defaults": SmallFit(partial(CWBoostClassifier, **FEW | {"n_estimators": 6})),
    "categories": SmallFit(
        partial(CWBoostClassifier, "tree", categorical_features=[0, 1], **FEW),
        lambda clf: clf.fit(CODES, Y),
        CODES,
    ),
    "held out": SmallFit(
        partial(CWBoostClassifier, "stump", early_stopping=True, **FEW),
        lambda clf: clf.fit(X, Y, X_val=X[::3], y_val=Y[::3]),
    ),
    "continued": SmallFit(
        lambda: (
            CWBoostClassifier("stump", warm_start=True, **EARLY)
            .fit(X, Y)
            .set_params(n_estimators=14)
        )
    ),
    "400 rounds": SmallFit(partial(stages, **LONG)),
    "thin": SmallFit(
        lambda: CWBoostClassifier("stump", init=None, n_estimators=20, random_state=0).fit(X, Y),
        lambda clf: clf.thin(X, Y, C=100.0),
    ),
}


# ------------------------------------------------------------------ attacks


def disturbed(fault, small_fit, clf, whole):
    """Run a small fit with a fault; return what is left."""
    former = dict(vars(clf))
    try:
        with fault:
            small_fit.run(clf)
    except BaseException as error:
        if not fault.caused(error):
            raise
    else:
        assert not fault.fired, "the fault was lost"
        return "ended before"
    return what_is_left(clf, former, whole, fault.reason, small_fit.X)


def fits(kind, name, times, seed):
    """Disturb a small fit at `times` moments, each once at most; a second fit every other time."""
    small_fit = SMALL_FITS[name]
    if kind is Allocations:
        watch_arrays()
    whole = small_fit.make()
    small_fit.run(whole)
    clf = small_fit.make()
    with kind() as all_of_them:
        small_fit.run(clf)
    for number, at in enumerate(range(1, all_of_them.count, -(-all_of_them.count // times))):
        clf = small_fit.make()
        if number % 2:
            clf.__dict__.update(vars(whole))
        yield Strike(partial(disturbed, kind(at), small_fit, clf, whole))


def need_a_library(names):
    """True if these attacks need a process with the library that lets allocations fail."""
    failing = any(name.startswith("allocations") for name in names)
    return failing and not hasattr(Allocations.library, "fail_allocation")


def run_with_library(command, **options):
    """Run a command of Python in a process with that library; return the finished process."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "attack_fits.so")
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", source, "-o", library], check=True)
        # Threads that wait without spinning leave the processor to others.
        environment = {**os.environ, "LD_PRELOAD": str(library), "OMP_WAIT_POLICY": "passive"}
        return subprocess.run([sys.executable, *command], env=environment, **options)


ATTACKS = {
    f"{name}/{small_fit}": partial(fits, kind, small_fit)
    for name, kind in (("lines", Lines), ("allocations", Allocations))
    for small_fit in SMALL_FITS
    if small_fit != "400 rounds"
} | {"alarms": partial(fits, Alarms, "400 rounds")}
