"""What the tests of clusters share."""

import pytest


@pytest.fixture(scope="module", params=["one worker", "partitions"])
def place(request):
    """Where training happens: small data would never be trained on partitions."""
    actors = pytest.importorskip("cwboost.dask.actors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(actors, "threads_of_host", lambda address, workers: 1)
        if request.param == "partitions":
            patch.setattr(actors, "SHARE", 0.0)
        yield request.param


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
