"""Let allocations fail: ``python tests/support/failing_memory.py STEP``.

Every STEP-th allocation of a small fit fails once, for every classifier and family: those of the
compiled kernels and those of the data of NumPy's arrays. The fit must raise MemoryError and leave
the former model whole or the rounds it has finished. Needs glibc and a C compiler.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from numpy._core import _multiarray_umath
from sklearn.datasets import load_iris

import cwboost

X, Y = load_iris(return_X_y=True)
CLASSIFIERS = (
    "CWBoostClassifier",
    "MultiBoostClassifier",
    "AdaBoostECCClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostMOClassifier",
)
FAMILIES = ("stump", "tree", "projection")
PLACE_OF_SET_HANDLER = 304  # in the table of NumPy's C API


def preloaded(step):
    """Run this file with the library that lets allocations fail; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "failing_memory.so")
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", source, "-o", library], check=True)
        # Threads that wait without spinning leave the processor to others.
        environment = {**os.environ, "LD_PRELOAD": str(library), "OMP_WAIT_POLICY": "passive"}
        return subprocess.run([sys.executable, __file__, str(step)], env=environment).returncode


class Allocations:
    """Count the allocations inside; let number `failing` fail, if given."""

    library = ctypes.CDLL(None)

    def __init__(self, failing=-1):
        self.failing, self.made = failing, None

    def __enter__(self):
        self.library.fail_allocation(ctypes.c_long(self.failing))
        return self

    def __exit__(self, *_):
        self.made = self.library.allocations_made()


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


def made(classifier, family, n_jobs):
    params = {"n_estimators": 3, "random_state": 0, "n_jobs": n_jobs}
    return getattr(cwboost, classifier)(weak_learner=family, **params)


def is_for_want_of_memory(error):
    return isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError)


def fit_without(number, clf, whole):
    """Fit while an allocation fails; return what is left: the former model or some rounds."""
    former = dict(vars(clf))
    try:
        with Allocations(number):
            clf.fit(X, Y)
    except Exception as error:
        if not is_for_want_of_memory(error):
            raise
    else:
        raise AssertionError("fit went on without an allocation")
    if clf.__dict__.get("ensemble_") is former.get("ensemble_"):
        assert clf.__dict__ == former
        return "the former model"
    assert clf.stop_reason_ == "failed"
    expected = whole.ensemble_.scores(X, n_rounds=clf.n_iter_)
    np.testing.assert_array_equal(clf.ensemble_.scores(X), expected)
    return "some rounds"


def run(classifier, family, step):
    """Let every `step`-th allocation of a fit fail, of a second fit every other time."""
    n_jobs = 1 + FAMILIES.index(family) % 2
    whole = made(classifier, family, n_jobs).fit(X, Y)
    with Allocations() as all_of_them:
        made(classifier, family, n_jobs).fit(X, Y)
    outcomes = Counter()
    for number in range(0, all_of_them.made, step):
        try:
            clf = made(classifier, family, n_jobs)
            if sum(outcomes.values()) % 2:
                clf.__dict__.update(vars(whole))
            outcomes[fit_without(number, clf, whole)] += 1
        except BaseException:
            print(f"{classifier}, {family}: allocation {number}", flush=True)
            raise
    print(f"{classifier}, {family}: {dict(outcomes)}", flush=True)


def main(step):
    """Try every classifier and family."""
    watch_arrays()
    for classifier in CLASSIFIERS:
        for family in FAMILIES:
            run(classifier, family, step)


if __name__ == "__main__":
    if not hasattr(Allocations.library, "fail_allocation"):
        sys.exit(preloaded(sys.argv[1]))
    main(int(sys.argv[1]))
