"""Groups and copies stay together over partitions."""

import numpy as np
import pytest

from cwboost import CWBoostClassifier

da = pytest.importorskip("dask.array")

from cwboost.dask import DaskCWBoostClassifier, initial, listing  # noqa: E402
from cwboost.dask import places as cluster  # noqa: E402


@pytest.mark.parametrize("init", [None, "kernel"])
@pytest.mark.parametrize("given", [True, False])
def test_groups_are_never_on_both_sides(client, place, monkeypatch, init, given):
    left_out, provide = [], cluster.left_out_master

    def noted(crew, setup, C, rows):
        left_out.append(rows)
        return provide(crew, setup, C, rows)

    monkeypatch.setattr(cluster, "left_out_master", noted)
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(60), 5))
    centres = rng.normal(size=(60, 4))
    y = (centres[:, 0] > 0).astype(int)[groups]
    X = centres[groups] + (0.3 * rng.normal(size=(300, 4)) if given else 0.0)
    names = np.array([f"group {k}" for k in groups]) if given else None
    parameters = {"n_estimators": 20, "init": init, "random_state": 0}
    chunks = [da.from_array(each, chunks=(70, *each.shape[1:])) for each in (X, y)]
    own = None if names is None else da.from_array(names, chunks=70)
    model = DaskCWBoostClassifier(**parameters).fit(*chunks, groups=own)
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


def test_rows_that_repeat_few_are_examples_of_their_own(client, place):
    distinct, counts = [[0, 0], [0, 1], [1, 0], [1, 1]], [500, 40, 500, 60]
    X = np.repeat(distinct, counts, axis=0)
    y = np.concatenate([np.arange(n) < p * n for n, p in zip(counts, [0.2, 0.0, 0.8, 0.0])])
    mixed = np.random.default_rng(0).permutation(len(y))
    chunks = [da.from_array(each[mixed], chunks=(350, *each.shape[1:])) for each in (X, y)]
    for init in ("auto", "kernel"):
        model = DaskCWBoostClassifier(init=init, random_state=0, warm_start=True).fit(*chunks)
        found = model.predict_proba(np.array(distinct))
        np.testing.assert_allclose(found[:, 1], [0.2, 0.0, 0.8, 0.0], atol=0.05)
    assert model.init_.factor > 0.5  # other copies of a row predict it
    model.set_params(n_estimators=100).fit(1 - chunks[0], chunks[1])
    assert "on these examples alone is not known" in model.plan_.reasons["scale"]
