"""Threads of Python that predict with one model while another refits it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from models import FAMILIES, paper
from sklearn.datasets import load_iris

X, Y = load_iris(return_X_y=True)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
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
