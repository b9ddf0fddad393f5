"""Faults of a cluster during training, on a `LocalCluster` of processes.

A worker is killed (SIGKILL), one joins and another one dies, one retires, or the cluster restarts.
"""

import os
import signal
import threading
from contextlib import contextmanager, suppress
from time import perf_counter, sleep

import numpy as np

ROUNDS = 25


@contextmanager
def cluster_of_processes(n_workers=2):
    """Yield a client of a new cluster of processes with one thread each.

    They are forked from one that has imported what they need: imports would take most of the time.
    """
    import dask
    from distributed import Client, LocalCluster, Status
    from distributed.utils import get_mp_context

    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context().set_forkserver_preload(
            ["distributed", "cwboost.dask", "cwboost.classifier"]
        )
        cluster = LocalCluster(n_workers=n_workers, **options)
        client = Client(cluster)
        try:
            yield client
        finally:
            client.close()
            # When all is closed, the cluster asks its list of workers, which has lost killed ones.
            with suppress(KeyError):
                cluster.close()
            cluster.status = Status.closed


def workers(client):
    return list(client.scheduler_info(n_workers=-1)["workers"])


def wait_for(client, n_workers, seconds=90):
    """Wait until the cluster has this number of workers."""
    end = perf_counter() + seconds
    while len(workers(client)) != n_workers:
        if perf_counter() > end:
            raise TimeoutError(f"{len(workers(client))} workers after {seconds} s, not {n_workers}")
        sleep(0.05)


def refill(client, n_workers=2):
    """Bring the cluster back to its number of workers.

    A `LocalCluster` counts a worker that retired, or that died at its start, as one that has not
    come yet: it gives up those first when it is told that it needs fewer.
    """
    there = min(n_workers, len(workers(client)))
    client.cluster.scale(there)
    client.cluster.scale(n_workers)
    wait_for(client, n_workers)


def kill(client, address):
    (pid,) = client.run(os.getpid, workers=[address]).values()
    os.kill(pid, signal.SIGKILL)


class AtRound:
    """Callback that acts once, at the end of a round.

    With a delay, a thread of its own acts that many seconds later, while training goes on.
    """

    def __init__(self, number, act, delay=None):
        self.number, self.act = number, act
        self.thread = None if delay is None else threading.Timer(delay, act)

    def on_round_end(self, state):
        if state.round == self.number:
            (self.act if self.thread is None else self.thread.start)()


def join(client):
    """Let a worker join, then kill one of the former workers."""
    former = workers(client)
    client.cluster.scale(len(former) + 1)
    wait_for(client, len(former) + 1)
    kill(client, former[0])


def retire(client):
    """Retire a worker, as a cluster does that needs fewer of them."""
    # Dask refuses if the worker holds partitions; a cluster that shrinks does not ask.
    client.retire_workers(workers(client)[:1])
    client.cluster.scale(1)


def restart(client):
    """Restart all workers, which forgets every task and all data that they hold."""
    client.restart(wait_for_workers=False)  # now and then a nanny gives up, and one waits in vain
    refill(client)


FAULTS = {"join": join, "retire": retire, "restart": restart}


class Sleeper:
    """Actor that answers late. Workers can import it, unlike the classes of a test module."""

    def call(self, method, message):
        sleep(30)


def collections(n_rows=600):
    """Return VOWEL as collections whose graph holds the data."""
    import dask.array as da

    from cwboost.datasets import load_vowel

    X, y = load_vowel(return_X_y=True)
    X, y = X[:n_rows], y[:n_rows]
    return da.from_array(X, chunks=(n_rows // 4, 10)), da.from_array(y, chunks=n_rows // 4)


def made(callbacks=None, n_rounds=ROUNDS):
    from cwboost.dask import DaskCWBoostClassifier

    params = {"n_estimators": n_rounds, "tol": 0.0, "random_state": 0, "probability_scale": 2.0}
    return DaskCWBoostClassifier("stump", callbacks=callbacks, **params)


def assert_same_bits(one, other):
    np.testing.assert_equal(one.ensemble_.arrays(), other.ensemble_.arrays())
