"""A cluster of processes: equal bits for any number of workers, and with all kinds of faults."""

import os
import random
import signal
import threading
import time
from functools import partial

import numpy as np
import pytest

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

import cluster_faults as faults  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

from cwboost.dask import DaskCWBoostClassifier  # noqa: E402
from cwboost.datasets import load_vowel  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def collections():
    X, y = load_vowel(return_X_y=True)
    return da.from_array(X, chunks=(200, 10)), da.from_array(y, chunks=200)


def model_bits(collections, n_rounds):
    """Return the arrays of a model trained on the present cluster."""
    model = DaskCWBoostClassifier(
        weak_learner="stump", n_estimators=n_rounds, correction="stagewise", tol=0.0, random_state=0
    )
    return model.fit(*collections).ensemble_.arrays()


class Killer(threading.Thread):
    """Kills a worker of a cluster now and then, with a pause until its successor has come."""

    def __init__(self, client, n_workers, most):
        super().__init__()
        self.client, self.n_workers, self.most = client, n_workers, most
        self.n_killed, self.over = 0, threading.Event()

    def run(self):
        while self.n_killed < self.most and not self.over.wait(random.uniform(0.3, 1.0)):
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
            if len(workers) == self.n_workers:  # a nanny gives up a worker that dies at its start
                chosen = random.choice(list(workers))
                (pid,) = self.client.run(os.getpid, workers=[chosen]).values()
                os.kill(pid, signal.SIGKILL)
                self.n_killed += 1


def assert_same_bits(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def test_the_bits_do_not_depend_on_workers_or_their_deaths(collections):
    options = {"n_workers": 4, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        calm = model_bits(collections, 25)
        cluster.scale(2)
        while len(client.scheduler_info(n_workers=-1)["workers"]) > 2:
            time.sleep(0.1)
        killer = Killer(client, 2, most=3)
        killer.start()
        disturbed = model_bits(collections, 25)
        killer.over.set()
        killer.join()
        cluster.scale(1)
        while len(client.scheduler_info(n_workers=-1)["workers"]) > 1:
            time.sleep(0.1)
        alone = model_bits(collections, 25)
    assert killer.n_killed
    assert_same_bits(calm, disturbed)
    assert_same_bits(calm, alone)


@pytest.fixture(scope="module")
def client():
    with faults.cluster_of_processes() as client:
        yield client


@pytest.fixture(scope="module")
def calm(client):
    return faults.train(faults.collections())


@pytest.mark.parametrize("name", faults.FAULTS)
def test_training_goes_on_with_the_same_bits(client, calm, name):
    act = faults.AtRound(8, partial(faults.FAULTS[name], client))
    model = faults.train(faults.collections(), [act])
    faults.assert_same_bits(calm, model)
    client.cluster.scale(2)
    faults.wait_for(client, 2)


def test_an_interrupt_between_messages_keeps_the_finished_rounds(client):
    data = faults.collections()
    model = faults.interrupted(data, faults.Interrupt(6, 0.03))
    assert model.stop_reason_ == "interrupted" and model.n_iter_ >= 6
    faults.assert_same_bits(faults.train(data, n_rounds=model.n_iter_), model)
