"""Threads of Python: fits side by side, many that predict with one model, a refit under them."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from at_once import at_once
from models import paper
from sklearn.datasets import load_iris

from cwboost import ProjectionFamily, StumpFamily, TreeFamily

X, Y = load_iris(return_X_y=True)
FAMILIES = ("stump", "tree", "projection")


def fitted(family, seed=0, n_jobs=1):
    clf = paper(family, C=100.0, n_estimators=8, random_state=seed, n_jobs=n_jobs)
    return clf.fit(X, Y)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("family", [StumpFamily(), TreeFamily(), ProjectionFamily()], ids=str)
def test_fits_at_once_equal_serial_ones(family, n_jobs):
    """A family that several classifiers share belongs to none of them."""
    settings = family.get_params()
    serial = [fitted(family, seed).decision_function(X) for seed in range(6)]
    models = at_once(lambda seed: fitted(family, seed, n_jobs), 6)
    for model, scores in zip(models, serial, strict=True):
        np.testing.assert_array_equal(model.decision_function(X), scores)
    assert family.get_params() == settings


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_a_refit_is_seen_whole_or_not_at_all(family):
    """While one thread refits a model, each prediction is by the former or by the new one."""
    model, over = fitted(family, seed=0), Event()
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
            for _ in range(5):
                model.set_params(C=7.0, n_estimators=5, random_state=1).fit(X, Y)
                model.set_params(C=100.0, n_estimators=8, random_state=0).fit(X, Y)
        finally:
            over.set()
        for found in readers:
            seen = found.result()
            assert seen
            assert all(any(np.array_equal(one, each) for each in known) for one in seen)
    np.testing.assert_array_equal(model.decision_function(X), known[0])
