"""A cluster of processes: equal bits for any number of workers, and with all kinds of faults."""

import gc
import os
import signal
from functools import partial
from itertools import count
from threading import Timer
from time import sleep

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("dask.array")

import attack_cluster as faults

from cwboost import CWBoostClassifier
from cwboost.dask import DaskCWBoostClassifier, actors
from cwboost.dask.actors import ActorCrew

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("place")]

on_partitions = pytest.mark.parametrize("place", ["partitions"], indirect=True, scope="module")


@pytest.fixture(scope="module")
def cluster():
    with faults.cluster_of_processes(3) as client:
        yield client


@pytest.fixture(scope="module")
def calm(cluster, place):
    """A model of three workers."""
    return faults.made().fit(*faults.collections())


@pytest.fixture
def client(cluster, calm):
    """The client of two workers, whatever the test before has left."""
    faults.refill(cluster)
    return cluster


def test_the_bits_do_not_depend_on_the_death_of_a_worker(client, calm):
    for number in count(12, -1):
        act = partial(faults.kill, client, faults.workers(client)[0])
        killer = faults.AtRound(number, act, delay=0.02)
        faults.assert_same_bits(calm, faults.made([killer]).fit(*faults.collections()))
        was_in_time = not killer.thread.is_alive()
        killer.thread.join()
        if was_in_time:
            return
        faults.refill(client)


@on_partitions
@pytest.mark.parametrize("name", faults.FAULTS)
def test_training_goes_on_with_the_same_bits(client, calm, name):
    act = faults.AtRound(13, partial(faults.FAULTS[name], client))
    faults.assert_same_bits(calm, faults.made([act]).fit(*faults.collections()))


# The interrupt may strike when Dask has made a coroutine and does not wait for it yet.
@pytest.mark.filterwarnings("ignore:coroutine 'ActorFuture:RuntimeWarning")
def test_an_interrupt_between_messages_keeps_the_finished_rounds(client):
    interrupt = faults.AtRound(13, partial(os.kill, os.getpid(), signal.SIGINT), delay=0.09)
    # Python drops an interrupt that arrives in a destructor: another one, as from a person.
    again = faults.AtRound(113, partial(signal.raise_signal, signal.SIGINT))
    model = faults.made([interrupt, again], 1_000)
    # Processes that a shell starts in the background ignore interrupts.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(*faults.collections())
    finally:
        signal.signal(signal.SIGINT, former)
    assert model.stop_reason_ == "interrupted" and model.n_iter_ >= 13
    whole = faults.made(None, model.n_iter_).fit(*faults.collections())
    faults.assert_same_bits(whole, model)
    gc.collect()  # the coroutine, before this test ends


@on_partitions
def test_a_lost_actor_is_a_loss_and_forgotten_though_it_is_referred_to(client):
    """The scheduler reports the loss before the connection breaks, and Dask drops the call.

    Else the cluster keeps the sources, and where they were to be: on a worker that is gone.
    """
    crew = ActorCrew(client, [])
    actor = client.submit(faults.Sleeper, actor=True, pure=False).result(timeout=60)

    def lose():
        client.loop.add_callback(client._handle_lost_data, actor.key)
        faults.kill(client, actor._address)

    Timer(0.5, lose).start()
    assert crew._call({actor.key: actor}, "run", ()) == ([], [actor.key])
    crew._actors, crew._partitions = {actor.key: actor}, {actor.key: []}
    assert crew._on_all("describe") == []
    for _ in range(500):
        if not client.run_on_scheduler(lambda dask_scheduler: actor.key in dask_scheduler.tasks):
            return
        sleep(0.01)
    raise AssertionError("the scheduler still knows the actor after 5 s")


@on_partitions
def test_data_larger_than_memory_are_read_again_with_the_same_bits(client, calm, monkeypatch):
    """Also if a worker dies, whose partitions another one reads."""
    monkeypatch.setattr(actors, "HELD", 0.0)
    act = faults.AtRound(13, partial(faults.kill, client, faults.workers(client)[0]))
    model = faults.made([act]).fit(*faults.collections())
    assert model.plan_.reasons["place"].endswith("bytes of data, read in passes")
    faults.assert_same_bits(calm, model)


@on_partitions
def test_one_worker_gives_the_bits_of_three(cluster, calm):
    faults.refill(cluster, 1)
    faults.assert_same_bits(calm, faults.made().fit(*faults.collections()))


@on_partitions
def test_processes_grow_the_trees_of_one_machine(cluster):
    """Arrays that Dask sends in frames of their own arrive unaligned, and no kernel reads them."""
    X, y = faults.collections()
    settings = {"init": None, "n_estimators": 4, "random_state": 0, "probability_scale": 2.0}
    there = DaskCWBoostClassifier("tree", **settings).fit(X, y).to_local()
    X, y = X.compute(), y.compute()
    here = CWBoostClassifier("tree", **settings).fit(X, y)
    np.testing.assert_allclose(there.decision_function(X), here.decision_function(X), 1e-9, 1e-9)
