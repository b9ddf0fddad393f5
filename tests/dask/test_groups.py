"""Groups stay together over partitions."""

import numpy as np
import pytest

from cwboost import CWBoostClassifier

da = pytest.importorskip("dask.array")

from cwboost.dask import DaskCWBoostClassifier, initial, listing  # noqa: E402
from cwboost.dask import places as cluster  # noqa: E402


@pytest.mark.parametrize("init", [None, "kernel"])
def test_groups_are_never_on_both_sides(client, place, monkeypatch, init):
    left_out, provide = [], cluster.left_out_master

    def noted(crew, setup, C, rows):
        left_out.append(rows)
        return provide(crew, setup, C, rows)

    monkeypatch.setattr(cluster, "left_out_master", noted)
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(60), 5))
    centres = rng.normal(size=(60, 4))
    y = (centres[:, 0] > 0).astype(int)[groups]
    X = centres[groups] + 0.3 * rng.normal(size=(300, 4))
    names = np.array([f"group {k}" for k in groups])
    parameters = {"n_estimators": 20, "init": init, "random_state": 0}
    chunks = [da.from_array(each, chunks=(70, *each.shape[1:])) for each in (X, y)]
    model = DaskCWBoostClassifier(**parameters).fit(*chunks, groups=da.from_array(names, chunks=70))
    if place == "one worker":
        local = CWBoostClassifier(**parameters).fit(X, y, groups=names)
        np.testing.assert_array_equal(model.predict_proba(X), local.predict_proba(X))
        return
    by_place = groups[np.argsort(y, kind="stable")]
    (places,) = left_out
    assert 40 <= len(places) <= 80
    assert not np.isin(by_place[places], np.delete(by_place, places)).any()


def test_few_groups_of_many_examples_are_left_out_too(client, place, monkeypatch):
    """Among a share of the groups there might be none."""
    monkeypatch.setattr(listing, "MOST_LISTED", 20)
    monkeypatch.setattr(initial, "MOST", 120)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    y, groups = (X[:, 0] > 0).astype(int), np.arange(1200) // 240
    chunks = [da.from_array(each, chunks=(350, *each.shape[1:])) for each in (X, y, groups)]
    model = DaskCWBoostClassifier("stump", init="kernel", n_estimators=20, random_state=0)
    model.fit(*chunks[:2], groups=chunks[2])
    assert model.init_ is not None
    assert model.plan_.curve is not None
