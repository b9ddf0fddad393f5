"""Threads and processes: forks do not hang, counts are limited, memory limits give MemoryError.

Forks and limits of memory are tried in processes of their own, with all families.
"""

import os
import subprocess
import sys

import pytest
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from threadpoolctl import threadpool_limits

from cwboost.kernels import threads
from cwboost.kernels.threads import threads_of_jobs, usable_threads

needs_fork = pytest.mark.skipif(not hasattr(threads.os, "fork"), reason="needs fork")
SETUP = """
import os, signal, sys, warnings
import numpy as np
from sklearn.datasets import load_iris
from cwboost import CWBoostClassifier
X, y = (np.repeat(a, 20, 0) for a in load_iris(return_X_y=True))
def fit(family, n_jobs=2, n_estimators=3):
    few = {"init": None, "n_estimators": n_estimators, "random_state": 0}
    return CWBoostClassifier(family, n_jobs=n_jobs, **few).fit(X, y)
FAMILIES = "stump", "tree", "projection"
def scores(n_jobs=2):
    return np.stack([fit(family, n_jobs).decision_function(X) for family in FAMILIES])
"""


def run(code, timeout=60, setup=SETUP, **environ):
    command = [sys.executable, "-c", setup + code]
    options = {"capture_output": True, "text": True, "timeout": timeout, "check": False}
    return subprocess.run(command, env=os.environ | environ, **options)


FORKS = """
import multiprocessing, joblib
from threading import Thread

def forked(in_child):
    pid = os.fork()
    if pid == 0:
        signal.alarm(40)
        os._exit(in_child())
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def trains():
    warnings.simplefilter("error")
    return 0 if scores().size else 1
print("forked before there were threads:", forked(trains))

before = scores()
models = [fit(family) for family in FAMILIES]
def trains_and_predicts():
    same, told = True, True
    for family, model, expected in zip(FAMILIES, models, before):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            same &= np.array_equal(fit(family).decision_function(X), expected)
            same &= np.array_equal(model.decision_function(X), expected)
        told &= any("spawn" in str(w.message) for w in caught)
    return 0 if same and told else 1 + told
print("one thread and a warning:", forked(trains_and_predicts))

def trains_in_a_thread():
    warnings.simplefilter("error")
    found = []
    thread = Thread(target=lambda: found.append(scores()))
    thread.start()
    thread.join()
    return 0 if found and np.array_equal(found[0], before) else 1
print("new threads have teams of their own:", forked(trains_in_a_thread))

with multiprocessing.get_context("fork").Pool(2) as pool:
    a, b = pool.map(scores, [2, 2])
assert np.array_equal(a, before) and np.array_equal(b, before)
joblib.Parallel(n_jobs=2, backend="multiprocessing")(joblib.delayed(scores)(2) for _ in range(2))

# The parent goes on with its threads.
with warnings.catch_warnings():
    warnings.simplefilter("error")
    assert np.array_equal(scores(), before)
print("pools and parent: 0")
"""


@needs_fork
@pytest.mark.slow
def test_forked_processes_train_and_predict():
    done = run(FORKS)
    assert [line.partition(": ")[2] for line in done.stdout.splitlines()] == ["0"] * 4, (
        done.stdout + done.stderr
    )


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs affinity")
def test_no_more_threads_than_cores(monkeypatch):
    monkeypatch.undo()  # as many as there are
    cores = sorted(os.sched_getaffinity(0))
    try:
        for n in {1, len(cores)}:
            os.sched_setaffinity(0, cores[:n])
            assert [usable_threads(asked) for asked in (1, n, n + 1, 100_000)] == [1, n, n, n]
    finally:
        os.sched_setaffinity(0, cores)


@pytest.mark.parametrize("limit", [1, 3])
def test_jobs_share_what_openmp_offers(limit):
    with threadpool_limits(limit, "openmp"):
        assert threads_of_jobs(None) == 1
        assert threads_of_jobs(7) == 7
        with parallel_config("threading", n_jobs=5):
            assert threads_of_jobs(None) == limit
        with parallel_config("multiprocessing"):
            all_left = threads_of_jobs(-1)
            assert all_left == min(limit, effective_n_jobs(-1))
            assert threads_of_jobs(-2) == max(1, all_left - 1)


def test_workers_of_joblib_share_the_threads():
    with parallel_config("loky", inner_max_num_threads=1):
        assert Parallel(n_jobs=2)([delayed(threads_of_jobs)(-1)]) == [1]


LIMITED = """
import gc, resource
scores()
X = np.random.default_rng(0).normal(size=(60_000, 20))
y = np.arange(60_000) % 4
for family in FAMILIES:
    gc.collect()
    pages = int(open("/proc/self/statm").read().split()[0])
    size = pages * resource.getpagesize()
    outcomes = set()
    for megabytes in (2, 16, 40):
        resource.setrlimit(resource.RLIMIT_AS, (size + megabytes * 2**20, -1))
        try:
            fit(family, 1, 1)
            outcomes.add("trained")
        except MemoryError:
            outcomes.add("MemoryError")
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        gc.collect()
    print(*sorted(outcomes))
"""


SPINS = """
import os, cwboost.kernels, sklearn.utils
print(*sorted(os.environ.keys() & {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}))
"""


@pytest.mark.parametrize(
    ("given", "spins"),
    [({}, 1000), ({"GOMP_SPINCOUNT": "77"}, 77), ({"OMP_WAIT_POLICY": "passive"}, 0)],
)
def test_waiting_threads_sleep_soon_unless_the_environment_says_otherwise(
    monkeypatch, given, spins
):
    """GCC's OpenMP shows its settings; other copies of it, such as scikit-learn's, too."""
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    done = run(SPINS, setup="", OMP_DISPLAY_ENV="VERBOSE", **given)
    assert done.stdout.split() == list(given)
    shown = [line.split("'")[1] for line in done.stderr.splitlines() if "GOMP_SPINCOUNT" in line]
    if not shown:
        pytest.skip("needs GCC's OpenMP")
    assert str(spins) in shown


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_limit_of_address_space_gives_memory_error():
    # No memory is left over from earlier fits: large arrays are mapped, and there is one heap.
    kept = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
    done = run(LIMITED, timeout=200, **kept)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and all("MemoryError" in line for line in lines)
