"""C by the data on a cluster: on one worker as in one process, on partitions by the same path."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from cwboost import CWBoostClassifier

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("cwboost.dask")


def test_the_path_of_C(client, place):
    X, y = make_classification(
        900, 5, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    settings = {"correction": "total", "random_state": 0}
    rows = da.from_array(X, chunks=(300, 5)), da.from_array(y, chunks=300)
    clf = dask.DaskCWBoostClassifier("stump", **settings).fit(*rows)
    local = CWBoostClassifier("stump", **settings).fit(X, y)
    path, history = clf.path_, clf.history_
    assert (np.diff(path["C"]) > 0).all() and (np.diff(history["C"]) >= 0).all()
    assert history["C"][-1] == path["C"][path["log_loss"] <= 1.02 * path["log_loss"].min()][0]
    if place == "one worker":
        np.testing.assert_equal(path, local.path_)
        np.testing.assert_array_equal(clf.model_.scores(X), local.model_.scores(X))
    else:
        # Other rows are left out, and thresholds lie between coarser values.
        assert abs(path["log_loss"].min() - local.path_["log_loss"].min()) < 0.1
        assert abs(clf.model_.scores(X) - local.model_.scores(X)).mean() < 0.5
