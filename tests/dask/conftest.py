"""What the tests of clusters share."""

import pytest


@pytest.fixture(scope="module")
def client():
    """The client of a cluster of two workers in this process."""
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1}
    with (
        distributed.LocalCluster(dashboard_address=":0", **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
