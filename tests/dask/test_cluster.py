"""A cluster of processes: equal bits for any number of workers, and workers that are killed."""

import os
import random
import signal
import threading

import numpy as np
import pytest

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

from distributed import Client, LocalCluster  # noqa: E402

from cwboost.dask import DaskCWBoostClassifier  # noqa: E402
from cwboost.datasets import load_vowel  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def collections():
    X, y = load_vowel(return_X_y=True)
    return da.from_array(X, chunks=(200, 10)), da.from_array(y, chunks=200)


def model_bits(collections, n_rounds, n_workers, kills=0, patience=None):
    """Return the arrays of a model trained on a cluster whose workers are killed now and then."""
    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        killed, over = [], threading.Event()

        def kill():
            while len(killed) < kills and not over.wait(random.uniform(0.3, 1.0)):
                workers = client.scheduler_info(n_workers=-1)["workers"]
                if len(workers) == n_workers:  # the nanny gives up a worker that dies at its start
                    (pid,) = client.run(os.getpid, workers=[random.choice(list(workers))]).values()
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

        thread = threading.Thread(target=kill)
        thread.start()
        model = DaskCWBoostClassifier(
            weak_learner="stump", n_estimators=n_rounds, correction="stagewise", tol=0.0
        )
        try:
            model.fit(*collections)
        finally:
            over.set()
            thread.join()
    return model.ensemble_.arrays(), len(killed)


def assert_same_bits(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def test_one_two_and_four_workers_give_the_same_bits(collections):
    models = [model_bits(collections, 10, n)[0] for n in (1, 2, 4)]
    assert_same_bits(models[0], models[1])
    assert_same_bits(models[0], models[2])


def test_killed_workers_do_not_change_the_model(collections):
    calm, _ = model_bits(collections, 120, 2)
    disturbed, n_killed = model_bits(collections, 120, 2, kills=3)
    assert n_killed
    assert_same_bits(calm, disturbed)
