"""A cluster of processes: equal bits for any number of workers, and with all kinds of faults."""

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


def assert_same_bits(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def test_the_bits_do_not_depend_on_workers_or_their_deaths(collections):
    options = {"n_workers": 4, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        calm = model_bits(collections, 25)
        cluster.scale(2)
        faults.wait_for(client, 2)
        with faults.Killer(client, most=1) as killer:
            disturbed = model_bits(collections, 25)
        cluster.scale(1)
        faults.wait_for(client, 1)
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
