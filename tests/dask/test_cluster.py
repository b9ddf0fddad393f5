"""A cluster of processes: equal bits for any number of workers, and through faults.

``python tests/support/cluster_faults.py --kills 20`` kills more.
"""

import pytest

pytest.importorskip("distributed")
pytest.importorskip("dask.array")

from cluster_faults import (
    AtRound,
    Killer,
    assert_same_bits,
    collections,
    kill,
    train,
    wait_for,
    workers,
)
from distributed import Client, LocalCluster

pytestmark = pytest.mark.slow


def test_the_bits_do_not_depend_on_workers_or_faults():
    """One cluster for all: its start is what takes the time."""
    data = collections()
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        alone = train(data)
        # A worker joins, and the first one is killed.
        joins = AtRound(3, lambda: (cluster.scale(2), wait_for(client, 2)))
        dies = AtRound(8, lambda: kill(client, workers(client)[0]))
        assert_same_bits(alone, train(data, [joins, dies]))
        wait_for(client, 2)
        with Killer(client, most=2) as killer:
            assert_same_bits(alone, train(data, n_rounds=25))
        assert killer.n_killed
        wait_for(client, 2)
        restarts = AtRound(4, client.restart)
        retires = AtRound(12, lambda: client.retire_workers(workers(client)[:1]))
        assert_same_bits(alone, train(data, [restarts, retires]))
