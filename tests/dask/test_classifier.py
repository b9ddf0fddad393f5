"""`DaskCWBoostClassifier` on a cluster of threads: the interface on collections."""

import asyncio
import gc
import pickle
import threading
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

from distributed import Client, LocalCluster  # noqa: E402
from partitions import assert_same_learners  # noqa: E402
from scipy import sparse  # noqa: E402
from wave_family import Waves  # noqa: E402

from cwboost import CWBoostClassifier, TreeFamily, load_model  # noqa: E402
from cwboost.callbacks import Checkpoint, TimeLimit  # noqa: E402
from cwboost.dask import DaskCWBoostClassifier, actors  # noqa: E402
from cwboost.dask.input.collections import sources  # noqa: E402
from cwboost.dask.input.encoding import columns_of  # noqa: E402
from cwboost.datasets import load_vowel  # noqa: E402
from cwboost.recipe import recipe  # noqa: E402

X, Y = load_vowel(return_X_y=True)
X, Y = np.round(X[:400], 1).astype(np.float32), np.array([f"vowel {label}" for label in Y[:400]])
STEPS = {"correction": "stagewise", "learning_rate": 1.0, "subsample": 1.0, "tol": 0.0}
PARAMETERS = {"weak_learner": "stump", "init": None, "n_estimators": 5, "C": 100.0, **STEPS}

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("place")]


@pytest.fixture(scope="module")
def collections():
    return da.from_array(X, chunks=(150, 4)), da.from_array(Y, chunks=100)


@pytest.fixture(scope="module")
def fitted(client, place, collections):
    return DaskCWBoostClassifier(**PARAMETERS).fit(*collections)


def test_workers_let_go_of_sources_that_took_long(client, monkeypatch):
    """Whoever waited for them may still refer to their futures."""
    monkeypatch.setattr(actors, "LOOK_SECONDS", 0.05)

    def slowly(block):
        time.sleep(0.1)
        return block

    left = []

    def look(state):
        held = client.run(lambda dask_worker: [str(key) for key in dask_worker.data])
        left.extend(key for keys in held.values() for key in keys if "Chunk" in key)

    gc.collect()
    gc.disable()
    try:
        far = da.from_array(X, chunks=(200, 4)).map_blocks(slowly), da.from_array(Y, chunks=200)
        DaskCWBoostClassifier(**PARAMETERS, callbacks=[SimpleNamespace(on_round_end=look)]).fit(
            *far
        )
    finally:
        gc.enable()
    assert not left


@pytest.mark.parametrize("is_held", [False, True])
def test_sources_that_are_nowhere_yet_are_divided_evenly(client, is_held):
    """Dask alone may give both of two partitions to one worker; what is held stays there."""
    far = da.from_array(X, chunks=(100, 10)), da.from_array(Y, chunks=100)
    far = (far[0].persist(), far[1]) if is_held else far
    crew = actors.ActorCrew(client, sources(*far, None, "training"))
    crew.start()
    assert sorted(crew.collect(columns_of, None, None)) == [0, 1, 2, 3]
    known = client.cluster.scheduler.tasks
    tasks = [known[future.key] for future in crew._chunks.values()]
    crew.close()
    places = [address for task in tasks for address in task.worker_restrictions or ()]
    assert sorted(places) == ([] if is_held else sorted(2 * list(set(places))))
    assert all(task.loose_restrictions for task in tasks) != is_held


@pytest.mark.parametrize("place", ["partitions"], indirect=True, scope="module")
@pytest.mark.parametrize("is_persisted", [False, True])
@pytest.mark.parametrize("is_frame", [False, True])
def test_blocks_of_data_larger_than_memory_are_there_one_at_a_time(
    client, place, monkeypatch, is_frame, is_persisted
):
    """Persisted ones stay."""
    dd = pytest.importorskip("dask.dataframe")
    monkeypatch.setattr(actors, "HELD", 0.0)
    BLOCKS.clear()
    far = da.from_array(X, chunks=(40, 10)), da.from_array(Y, chunks=40)
    seen = far[0].map_blocks(read, dtype=X.dtype, meta=np.empty((0, 0), X.dtype))
    seen = seen.persist() if is_persisted else seen
    given = (dd.from_dask_array(seen), dd.from_dask_array(far[1])) if is_frame else (seen, far[1])
    model = DaskCWBoostClassifier(**PARAMETERS).fit(*given)
    wanted = CWBoostClassifier(**PARAMETERS).fit(X, Y)
    np.testing.assert_array_equal(model.to_local().predict(X), wanted.predict(X))
    most = max(n_alive for _, n_alive in BLOCKS)
    assert (most == 10) == (len(BLOCKS) == 10) == is_persisted
    assert is_persisted or is_frame or most <= len(client.ncores())


BLOCKS: list = []
"""Weak references to blocks that were read, and how many of these were there, it included."""

COLLECTS = threading.Lock()
"""While one worker's thread collects garbage, a call by the other would do nothing."""


def read(block):
    """Return a copy of a block, and note it."""
    block = np.array(block)
    with COLLECTS:
        gc.collect()
        BLOCKS.append((weakref.ref(block), 1 + sum(other() is not None for other, _ in BLOCKS)))
    return block


def test_the_fitted_model_is_the_local_one(fitted, collections, tmp_path):
    local = CWBoostClassifier(**PARAMETERS).fit(X, Y)
    lazy = fitted.decision_function(collections[0])
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), local.decision_function(X), rtol=1e-9)
    np.testing.assert_array_equal(fitted.predict(collections[0]).compute(), local.predict(X))
    np.testing.assert_array_equal(fitted.to_local().predict(X), local.predict(X))
    assert fitted.score(*collections) == local.score(X, Y)
    fitted.save(tmp_path / "model.cwb")
    loaded = load_model(tmp_path / "model.cwb")
    assert type(loaded) is type(fitted.to_local()) is CWBoostClassifier
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.to_local().predict_proba(X))


def test_frames_with_unknown_and_empty_chunks(client, fitted):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(10)]).assign(label=Y)
    frame = dd.from_pandas(frame, npartitions=3)
    frame = dd.concat([frame, frame[frame.f0 > 1e6]])
    columns = frame[[f"f{i}" for i in range(10)]]
    model = DaskCWBoostClassifier(**PARAMETERS).fit(columns, frame[["label"]])
    assert list(model.feature_names_in_) == list(columns.columns)
    found = model.predict_proba(columns).compute()
    assert list(found.columns) == list(model.classes_)
    wanted = fitted.to_local().predict_proba(X)
    np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-9)
    assert model.predict(columns).compute().tolist() == fitted.to_local().predict(X).tolist()


def test_early_stopping_and_callbacks_see_every_round(client, collections):
    weight = np.arange(200) % 3 * 5e-324
    labels = np.where(weight, Y[::2], "unknown")
    held_out = {"X_val": X[::2], "y_val": labels, "sample_weight_val": weight}
    sets = {"all": (X, Y), "some": (X[:60], Y[:60], weight[:60])}
    lazy = {name: da.from_array(array, chunks=90) for name, array in held_out.items()}
    lazy_sets = {k: tuple(da.from_array(a, chunks=130) for a in v) for k, v in sets.items()}
    seen = []

    note = SimpleNamespace(on_round_end=lambda state: seen.append(state.latest["train_error"]))
    parameters = {**PARAMETERS, "n_estimators": 40, "C": 1e6, "early_stopping": "loss"}
    model = DaskCWBoostClassifier(**parameters, n_iter_no_change=3, callbacks=[note])
    model.fit(*collections, **lazy, eval_sets=lazy_sets)
    local = CWBoostClassifier(**parameters, n_iter_no_change=3)
    local.fit(X, Y, **held_out, eval_sets=sets)
    assert seen == model.history_["train_error"].tolist() and len(seen) == model.n_iter_
    assert model.best_iteration_ == local.best_iteration_
    assert model.history_.keys() == local.history_.keys()
    for name in ("valid_error", "valid_loss", "all_logloss", "some_error"):
        np.testing.assert_allclose(model.history_[name], local.history_[name], 1e-9, 1e-9)
    assert model.probability_scale_ == pytest.approx(local.probability_scale_)


def test_warm_start_and_checkpoints_go_on(client, collections, fitted, tmp_path):
    path = tmp_path / "model.cwb"
    first = DaskCWBoostClassifier(**{**PARAMETERS, "n_estimators": 3}, warm_start=True)
    first.callbacks = [Checkpoint(path, every_rounds=3)]
    first.fit(*collections)
    stored = load_model(path)
    assert stored.n_iter_ == 3
    for model in (first, DaskCWBoostClassifier.from_local(stored)):
        model.set_params(n_estimators=5, callbacks=None, warm_start=True).fit(*collections)
        assert model.n_iter_ == 5
        objective = model.history_["objective"]
        np.testing.assert_allclose(objective, fitted.history_["objective"], rtol=1e-9)


def test_a_local_copy_goes_on_as_the_model_does(client, collections, place, tmp_path):
    settings = {**PARAMETERS, "weak_learner": "tree", "random_state": 0}
    model = DaskCWBoostClassifier(**settings, warm_start=True).fit(*collections)
    local = [model.to_local()]
    if place == "one worker":
        model.save(tmp_path / "model.cwb", training_state=True)
        local.append(load_model(tmp_path / "model.cwb"))
    model.set_params(n_estimators=8).fit(*collections)
    for one in local:
        one.set_params(n_estimators=8).fit(X, Y)
        np.testing.assert_allclose(one.predict_proba(X), model.to_local().predict_proba(X))


def test_a_model_is_pickled_without_its_client(client, fitted):
    model = DaskCWBoostClassifier.from_local(fitted.to_local())
    model.client = client
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None and model.client is client
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


def test_reading_counts_as_time_of_the_fit(client, collections, monkeypatch):
    left, decide = [], recipe.decide

    def noted(wanted, bench, clock):
        left.append(clock.left)
        return decide(wanted, bench, clock)

    def slowly(block):
        time.sleep(0.1)
        return block

    monkeypatch.setattr(recipe, "decide", noted)
    far = collections[0].map_blocks(slowly), collections[1]
    DaskCWBoostClassifier(**PARAMETERS, callbacks=[TimeLimit(1000)]).fit(*far)
    assert left[0] < 1000 - 0.3


def hidden(y):
    """Return labels or weights of which a mask hides the first."""
    return da.ma.masked_array(y, da.arange(400, chunks=y.chunks[0]) == 0)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda X, y: (X.compute(), y), TypeError, "X must be a Dask array or dataframe, got nd"),
        (lambda X, y: (X, y[:-1]), ValueError, "y must have the rows of X, 400, got 399"),
        (lambda X, y: (X[:, 0], y), ValueError, "X must be 2-d"),
        (lambda X, y: (X, y[y != ""]), ValueError, r"of X, 3, got 4: .*compute_chunk_sizes\(\)"),
        (lambda X, y: (X, y, None, None, X), ValueError, "X_val and y_val must be given together"),
        (lambda X, y: (X, y, *4 * [None], y), ValueError, "sample_weight_val needs X_val"),
        (
            lambda X, y: (X, y, None, None, X, da.where(y == "vowel 3", "else", y)),
            ValueError,
            "partition 3 of the held-out data: y must hold only training labels",
        ),
        (
            lambda X, y: (X, y, None, None, None, None, None, {"a": (X[:, :4], y)}),
            ValueError,
            "partition 3: X has 4 features, the training data has 10",
        ),
        (
            lambda X, y: (X, y, None, None, X, y, da.zeros(400, chunks=100)),
            ValueError,
            "sample_weight of the held-out data must have a finite sum > 0",
        ),
        (lambda X, y: (X, da.stack([y, y[::-1]], axis=1)), ValueError, r"1d array.* \(150, 2\)"),
        (lambda X, y: (X, hidden(y)), ValueError, "partition 0 .*got None for example 0"),
        (lambda X, y: (X, y, hidden(X[:, 0] * 0)), ValueError, "numbers >= 0, got nan in row 0"),
        (lambda X, y: (X, y, None, hidden(y)), ValueError, "got none for example 0"),
        (lambda X, y: (X, y, None, da.zeros(400, chunks=100)), ValueError, "at least two groups"),
    ],
)
def test_bad_collections(client, collections, change, error, message):
    with pytest.raises(error, match=message):
        DaskCWBoostClassifier(**PARAMETERS).fit(*change(*collections))


@pytest.mark.parametrize("is_held_out", [False, True])
def test_sparse_blocks_need_a_family_that_takes_them(client, collections, is_held_out):
    X, y = collections
    thin = X.map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 0)))
    given = (X, y, None, None, thin, y) if is_held_out else (thin, y)
    with pytest.raises(ValueError, match=r"partition \d of .* sparse_input is needed"):
        DaskCWBoostClassifier(**{**PARAMETERS, "weak_learner": Waves()}).fit(*given)


def test_a_partition_that_raises_is_named(client):
    def fail(block):
        raise OSError("no such file")

    broken = da.from_array(X, chunks=(200, 10)).map_blocks(fail, meta=np.empty((0, 0)))
    with pytest.raises(OSError, match="no such file") as caught:
        DaskCWBoostClassifier(**PARAMETERS).fit(broken, da.from_array(Y, chunks=200))
    assert any("source of partition" in note for note in getattr(caught.value, "__notes__", []))


@pytest.mark.parametrize(
    ("weak_learner", "change"),
    [
        ("tree", {"monotonic_cst": {"vowel 1": {0: 1}}}),
        ("tree", {"early_stopping": True}),
        (TreeFamily(max_leaf_nodes=5), {}),
    ],
)
def test_what_partitions_cannot_do_is_done_on_one_worker(
    client, collections, place, weak_learner, change
):
    settings = {**PARAMETERS, "weak_learner": weak_learner, **change, "random_state": 0}
    model = DaskCWBoostClassifier(**settings)
    if place == "one worker":
        local, model = CWBoostClassifier(**settings).fit(X, Y), model.fit(*collections)
        assert model.best_iteration_ == local.best_iteration_
        scores = model.to_local().decision_function(X)
        np.testing.assert_array_equal(scores, local.decision_function(X))
        assert model.plan_.reasons["place"].startswith("one worker has room for ")
        return
    with pytest.raises(ValueError, match="partitions"):
        model.fit(*collections)


def test_frames_of_numbers_bools_text_and_categories(client):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    kind = pd.Series([None if v < -4 else f"k{int(v)}" for v in X[:, 1]], dtype="category")
    frame = {"number": X[:, 0], "flag": X[:, 2] > 0, "word": [f"w{v:.0f}" for v in X[:, 3]]}
    mixed = pd.DataFrame(frame).assign(kind=kind)
    settings = {**PARAMETERS, "categorical_features": ["word", "kind"]}
    wanted = CWBoostClassifier(**settings).fit(mixed, Y)
    lazy = dd.from_pandas(mixed.assign(label=Y), npartitions=3)
    lazy["kind"] = lazy["kind"].astype(object).astype("category")
    assert not lazy["kind"].cat.known
    features = lazy[list(mixed.columns)]
    model = DaskCWBoostClassifier(**settings).fit(features, lazy["label"])
    assert_same_learners(model.ensemble_, wanted.ensemble_)
    for place, known in wanted.categories_.items():
        assert model.categories_[place].tolist() == known.tolist()
    assert model.predict(features).compute().tolist() == wanted.predict(mixed).tolist()
    other = mixed.assign(word="unseen", kind=pd.Series(["new"] * len(mixed), dtype="category"))
    scores = model.to_local().decision_function(other)
    np.testing.assert_allclose(scores, wanted.decision_function(other), rtol=1e-9)
    fewer = features[features.kind != "k0"], lazy.label[features.kind != "k0"]
    model.set_params(warm_start=True, n_estimators=7)
    with pytest.raises(ValueError, match="got others in column 'kind'"):
        model.fit(*fewer)
    assert model.fit(features, lazy.label).n_iter_ == 7


def test_columns_of_one_lazy_file_are_aligned(client, tmp_path):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(10)]).assign(label=Y)
    for part in range(6):
        frame.iloc[part::6].to_parquet(tmp_path / f"part.{part}.parquet")
    lazy = dd.read_parquet(tmp_path)
    features, labels = lazy.drop(columns="label"), lazy["label"]
    assert labels.optimize().npartitions < features.optimize().npartitions
    model = DaskCWBoostClassifier(**PARAMETERS).fit(features, labels)
    wanted = model.to_local().score(frame.drop(columns="label"), Y)
    assert model.score(features, labels) == wanted
    assert model.score(features, labels, lazy["f0"] * 0 + 2.0) == wanted
    found = model.predict(features)
    assert found.dtype == found.compute().dtype  # of which Parquet files are written


def test_predictions_for_arrays_and_frames_of_this_process(fitted):
    local = fitted.to_local()
    for data in (X, X.tolist()):
        assert np.array_equal(fitted.predict(data), local.predict(X))
        assert np.array_equal(fitted.predict_proba(data), local.predict_proba(X))
    assert fitted.score(X, Y) == local.score(X, Y)
    pd = pytest.importorskip("pandas")
    found = fitted.predict(pd.DataFrame(X))
    assert np.array_equal(found, local.predict(X))


@pytest.mark.parametrize("there", ["0.0.1", None])
def test_a_worker_without_a_package_is_named(client, collections, monkeypatch, there):
    get_versions = Client.get_versions

    def other_versions(self, packages):
        versions = get_versions(self, packages=packages)
        *_, last = versions["workers"].values()
        last["packages"]["cwboost"] = there
        return versions

    monkeypatch.setattr(Client, "get_versions", other_versions)
    with pytest.raises(
        ImportError, match=rf"must have cwboost .*, got {there or 'none'} on inproc"
    ):
        DaskCWBoostClassifier(**PARAMETERS).fit(*collections)


def test_an_adaptive_cluster_without_workers_is_asked_for_some(collections):
    options = {"n_workers": 0, "threads_per_worker": 1, "processes": False}
    with LocalCluster(dashboard_address=":0", **options) as cluster, Client(cluster):
        cluster.adapt(minimum=0, maximum=1, interval="100ms")
        assert DaskCWBoostClassifier(**PARAMETERS).fit(*collections).n_iter_ == 5


def test_an_asynchronous_client_is_refused(client, collections):
    async def fit():
        async with Client(client.scheduler.address, asynchronous=True) as own:
            model = DaskCWBoostClassifier(**PARAMETERS)
            model.client = own
            with pytest.raises(TypeError, match="client must be synchronous, got an asynchronous"):
                model.fit(*collections)

    asyncio.run(fit())
