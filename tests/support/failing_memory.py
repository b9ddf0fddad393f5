"""Let allocations fail: ``python tests/support/failing_memory.py STEP [NAME...]``.

Every STEP-th allocation of a small fit fails once, for every fit of small_fits.py: those of the
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
from small_fits import small_fits

PLACE_OF_SET_HANDLER = 304  # in the table of NumPy's C API


def preloaded(arguments):
    """Run this file with the library that lets allocations fail; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "failing_memory.so")
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", source, "-o", library], check=True)
        # Threads that wait without spinning leave the processor to others.
        environment = {**os.environ, "LD_PRELOAD": str(library), "OMP_WAIT_POLICY": "passive"}
        return subprocess.run([sys.executable, __file__, *arguments], env=environment).returncode


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


def is_for_want_of_memory(error):
    return isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError)


def disturbed(number, small_fit, clf, whole):
    """Let an allocation fail; return what is left: the former model or some rounds."""
    former = dict(vars(clf))
    try:
        with Allocations(number):
            small_fit.run(clf)
    except Exception as error:
        if not is_for_want_of_memory(error):
            raise
    else:
        raise AssertionError("it went on without an allocation")
    if clf.__dict__.get("model_") is former.get("model_"):
        assert clf.__dict__ == former
        return "the former model"
    assert clf.stop_reason_ == "failed"
    expected = whole.decision_function(small_fit.X, n_estimators=clf.ensemble_.n_rounds)
    np.testing.assert_array_equal(clf.decision_function(small_fit.X), expected)
    return "some rounds"


def run(small_fit, step):
    """Let every `step`-th allocation of a fit fail, of a second fit every other time."""
    whole = small_fit.make()
    small_fit.run(whole)
    with Allocations() as all_of_them:
        small_fit.run(small_fit.make())
    outcomes = Counter()
    for number in range(0, all_of_them.made, step):
        try:
            clf = small_fit.make()
            if sum(outcomes.values()) % 2:
                clf.__dict__.update(vars(whole))
            outcomes[disturbed(number, small_fit, clf, whole)] += 1
        except BaseException:
            print(f"{small_fit.name}: allocation {number}", flush=True)
            raise
    print(f"{small_fit.name}: {dict(outcomes)}", flush=True)


def main(step, *names):
    """Try the small fits of these names; all by default."""
    watch_arrays()
    for small_fit in small_fits():
        if not names or small_fit.name in names:
            run(small_fit, step)


if __name__ == "__main__":
    if not hasattr(Allocations.library, "fail_allocation"):
        sys.exit(preloaded(sys.argv[1:]))
    main(int(sys.argv[1]), *sys.argv[2:])
