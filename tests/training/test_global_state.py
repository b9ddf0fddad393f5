"""What belongs to the process is after every public method as it was before; threads; PyTorch."""

import inspect
import os
import random
import signal
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event, Thread

import numpy as np
import pytest
from models import CLASSIFIERS, at_once, paper
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from threadpoolctl import ThreadpoolController

from cwboost import CWBoostClassifier, ProjectionFamily, SklearnFamily, StumpFamily, TreeFamily
from cwboost.kernels.one_thread import one_thread

X, Y = load_iris(return_X_y=True)
LIBRARIES = ThreadpoolController()  # to look for them takes longer than a small fit


def generator():
    name, words, *rest = np.random.get_state()  # noqa: NPY002
    return name, words.tobytes(), *rest


def global_state():
    return {
        "threads": sorted((p["filepath"], p["num_threads"]) for p in LIBRARIES.info()),
        "errors": (np.geterr(), np.geterrcall()),
        "filters": list(warnings.filters),
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "generators": (generator(), random.getstate()),
        "environment": dict(os.environ),
    }


def of_blas():
    return {p["num_threads"] for p in LIBRARIES.info() if p["user_api"] == "blas"}


def limit_blas(n_threads):
    """Set the limit of the process from a thread that ends, so that any other may change it."""
    thread = Thread(target=lambda: LIBRARIES.limit(limits=n_threads, user_api="blas"))
    thread.start()
    thread.join()


@contextmanager
def unchanged(capfd):
    """With two threads of BLAS: the suite may run with one, which no limit changes."""
    former = of_blas()
    limit_blas(2)
    try:
        before = global_state()
        yield
        after = global_state()
    finally:
        limit_blas(max(former))
    for name, value in before.items():
        assert after[name] == value, name
    assert capfd.readouterr() == ("", "")


def methods():
    """Every public method of a classifier that scikit-learn's base has not."""
    for cls in CLASSIFIERS:
        for name, _ in inspect.getmembers(cls, inspect.isfunction):
            is_own = not hasattr(BaseEstimator, name) and not name.endswith("_request")
            if is_own and not name.startswith("_"):
                yield cls, name


GIVEN = {"X": X, "y": Y, "label": Y[0], "C": 100.0, "background": X}
MORE = {"thin": ["C"], "shap_values": ["background"]}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(
    "cls, name", methods(), ids=lambda value: getattr(value, "__name__", value)
)
def test_a_method_alone(cls, name, tmp_path, capfd):
    weak_learner = "tree" if name == "refit" else "stump"
    start = {"init": None} if name == "scorecard" and cls is CWBoostClassifier else {}
    model = cls(weak_learner, n_estimators=3, random_state=0, **start).fit(X, Y)
    if name == "predict_set":
        with suppress(TypeError):  # as below
            model.calibrate(X, Y)
    parameters = inspect.signature(getattr(model, name)).parameters.values()
    wanted = [p.name for p in parameters if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
    given = GIVEN | {"path": tmp_path / "model"}
    with unchanged(capfd):
        try:
            result = getattr(model, name)(
                **{key: given[key] for key in wanted + MORE.get(name, [])}
            )
            if inspect.isgenerator(result):
                list(result)
        except TypeError as error:  # of a classifier whose scores are no sums of votes for classes
            assert cls is not CWBoostClassifier, error


FAMILIES = [SklearnFamily(), StumpFamily(), TreeFamily(), ProjectionFamily()]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_fits_and_predictions_in_threads(family, n_jobs, capfd):
    """A family that several classifiers share belongs to none of them."""

    def fit(seed, n_jobs=n_jobs):
        clf = CWBoostClassifier(
            family, init=None, n_estimators=2 + seed, random_state=seed, n_jobs=n_jobs
        )
        return clf.fit(X, Y).predict_proba(X)

    settings, serial = family.get_params(), [fit(seed, 1) for seed in range(6)]
    with unchanged(capfd):
        for one, other in zip(at_once(fit, 6), serial, strict=True):
            np.testing.assert_array_equal(one, other)
    assert family.get_params() == settings


def test_blocks_on_one_thread_do_not_overlap(capfd):
    """The first to begin would end first, and give the other two threads, or leave one."""
    seen = []

    def block(begun, goes_on):
        with one_thread(LIBRARIES):
            begun.set()
            goes_on.wait()
            seen.append(of_blas())

    with unchanged(capfd), ThreadPoolExecutor(2) as pool:
        begun, goes_on = (Event(), Event()), (Event(), Event())
        first = pool.submit(block, begun[0], goes_on[0])
        assert begun[0].wait(10)
        second = pool.submit(block, begun[1], goes_on[1])
        assert not begun[1].wait(0.2)
        goes_on[0].set()
        first.result()
        goes_on[1].set()
        second.result()
        assert seen == [{1}, {1}]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES[1:], ids=str)
def test_a_refit_is_seen_whole_or_not_at_all(family):
    """While one thread refits a model, each prediction is by the former or by the new one."""
    model, over = paper(family, C=100.0, n_estimators=8).fit(X, Y), Event()
    other = paper(family, C=7.0, n_estimators=5, random_state=1).fit(X, Y)
    known = [model.decision_function(X), other.decision_function(X)]
    assert not np.array_equal(*known)

    def predict():
        found = []
        while not over.is_set():
            found.append(model.decision_function(X))
        return found

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(predict) for _ in range(3)]
        try:
            for _ in range(3):
                model.set_params(C=7.0, n_estimators=5, random_state=1).fit(X, Y)
                model.set_params(C=100.0, n_estimators=8, random_state=0).fit(X, Y)
        finally:
            over.set()
        for found in readers:
            seen = found.result()
            assert seen
            assert all(any(np.array_equal(one, each) for each in known) for one in seen)
    np.testing.assert_array_equal(model.decision_function(X), known[0])
