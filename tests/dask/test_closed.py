"""A client, or its cluster, that is closed during training."""

import numpy as np
import pytest

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

from distributed import Client, LocalCluster  # noqa: E402

from cwboost.dask import DaskCWBoostClassifier, one_worker  # noqa: E402
from cwboost.dask.actors import PartitionsLost  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("what", ["client", "cluster"])
@pytest.mark.filterwarnings("ignore")
def test_a_client_closed_during_fit_keeps_the_finished_rounds(what, place, monkeypatch):
    """On one worker, those that it has reported."""
    monkeypatch.setattr(one_worker, "REPORT_SECONDS", 0.0)
    X = np.random.default_rng(0).random((400, 4))
    y = (X[:, 0] > 0.5) + 1 * (X[:, 1] > 0.5)
    options = {"processes": False, "n_workers": 2, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as own:
        closing = {"client": own, "cluster": cluster}[what]

        rounds = []

        class Close:
            def on_round_end(self, state):
                rounds.append(state)
                if len(rounds) == 3:
                    closing.close()

        model = DaskCWBoostClassifier("stump", n_estimators=5, tol=0.0, callbacks=[Close()])
        model.client = own
        X_there, y_there = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
        with pytest.raises(PartitionsLost, match="closed during fit; the finished rounds are kept"):
            model.fit(X_there, y_there, X_val=X_there, y_val=y_there)
    assert (1 if place == "one worker" else 3) <= model.n_iter_ <= 3
    assert len(model.to_local().predict(X)) == len(X)
