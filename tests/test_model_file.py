"""Saving and loading of classifiers: exact round trips, clear refusals, no harm from any file."""

import contextlib
import copy
import gc
import importlib
import json
import math
import pickle
import random
import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pytest
from forgery import forge, header_of
from hypothesis import given, settings
from hypothesis import strategies as st
from plugin_folder import write_distribution
from quantile_family import QuantileStumps
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import cwboost
from cwboost import CWBoostClassifier, ModelFileError, container, load_model, plugins

X, Y = load_iris(return_X_y=True)
MEGABYTE = 2**20


@pytest.fixture(scope="module")
def quantile(tmp_path_factory):
    """The family "quantile", registered by a distribution of its own."""
    folder = tmp_path_factory.mktemp("third_party")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.delenv("CWBOOST_PLUGINS", raising=False)
        write_distribution(folder, "quantile-stumps", "3.1", {"q": "quantile_family"}, {})
        importlib.invalidate_caches()
        plugins.refresh()
        yield QuantileStumps
    plugins.refresh()


def trained(quantile, y=Y, **params):
    params = {"n_estimators": 12, "C": 100.0, "random_state": 3, **params}
    return CWBoostClassifier(quantile(share=0.3), **params).fit(X, y)


@pytest.fixture(scope="module")
def model(quantile):
    return trained(quantile)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.cwb"


def same_params(a, b):
    a, b = a.get_params(), b.get_params()
    assert a.keys() == b.keys()
    for name in a:
        assert type(a[name]) is type(b[name])
        if not isinstance(a[name], cwboost.WeakLearnerFamily):
            assert a[name] == b[name], name


def assert_equal_models(ours, theirs, data=X):
    np.testing.assert_array_equal(ours.decision_function(data), theirs.decision_function(data))
    np.testing.assert_array_equal(ours.predict(data), theirs.predict(data))
    assert ours.predict(data).dtype == theirs.predict(data).dtype
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.classes_.dtype == theirs.classes_.dtype
    assert ours.n_features_in_ == theirs.n_features_in_
    assert ours.history_.keys() == theirs.history_.keys()
    for name, values in ours.history_.items():
        np.testing.assert_array_equal(values, theirs.history_[name])


# ---------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("correction", ["total", "stagewise"])
def test_round_trip(quantile, path, correction):
    clf = trained(quantile, correction=correction)
    clf.save(path)
    loaded = load_model(path)
    assert type(loaded) is CWBoostClassifier
    same_params(loaded, clf)
    assert_equal_models(loaded, clf)
    for a, b in zip(
        loaded.staged_decision_function(X), clf.staged_decision_function(X), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(
        loaded.decision_function(X, n_estimators=5), clf.decision_function(X, n_estimators=5)
    )
    np.testing.assert_array_equal(loaded.feature_importances_, clf.feature_importances_)
    assert (loaded.n_iter_, loaded.stop_reason_) == (clf.n_iter_, clf.stop_reason_)
    second = path.with_suffix(".again")
    loaded.save(second)
    assert second.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["setosa", "versicolor", "ß-Iris ☘"]),
        np.array(["a", "b", "c"], dtype="<U40"),
        np.array(["a", "b", "c"], dtype=object),
        np.array([-7, 0, 2**40]),
        np.array([0, 1, 200], dtype=np.uint8),
        np.array([0.0, 1.0, 2.0]),
    ],
    ids=["str", "wide str", "object str", "int64", "uint8", "float"],
)
def test_labels_of_every_type(quantile, path, labels):
    clf = trained(quantile, labels[Y])
    clf.save(path)
    assert_equal_models(load_model(path), clf)


def test_two_classes_of_bools(quantile, path):
    clf = CWBoostClassifier(quantile(), n_estimators=5).fit(X, Y == 1)
    clf.save(path)
    assert_equal_models(load_model(path), clf)


def test_labels_that_need_pickle_are_refused(quantile, path, model):
    clf = copy.copy(model)
    clf.classes_ = np.array([(1,), (2,), (3, 4)], dtype=object)
    with pytest.raises(TypeError, match=r"fitted.classes_ holds a tuple"):
        clf.save(path)
    clf.classes_ = np.array([b"a", b"b", b"c"])
    with pytest.raises(TypeError, match=r"fitted.classes_ is an array of dtype"):
        clf.save(path)
    assert not path.exists()


def test_feature_names_and_class_weight(quantile, path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "länge", "d"])
    weight = {"x": 1.0, "y": 2.5, "z": 1}
    clf = CWBoostClassifier(quantile(), n_estimators=4, class_weight=weight)
    clf.fit(frame, np.array(["x", "y", "z"])[Y]).save(path)
    loaded = load_model(path)
    assert loaded.class_weight == weight
    np.testing.assert_array_equal(loaded.feature_names_in_, clf.feature_names_in_)
    assert_equal_models(loaded, clf, frame)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "other"}))


def test_without_stages(quantile, path):
    clf = trained(quantile, n_estimators=40)
    clf.save(path)
    whole = path.stat().st_size
    clf.save(path, staged=False)
    assert path.stat().st_size < whole
    loaded = load_model(path)
    assert_equal_models(loaded, clf)
    with pytest.raises(ValueError, match="staged=True"):
        loaded.predict(X, n_estimators=3)
    assert clf.ensemble_.path.staged
    clf.predict(X, n_estimators=3)


def test_generators_and_callbacks_are_not_stored(quantile, path):
    clf = trained(quantile, random_state=np.random.RandomState(0), callbacks=[])
    with pytest.warns(UserWarning, match="random_state is a generator object"):
        clf.save(path)
    assert load_model(path).random_state is None and load_model(path).callbacks is None


def test_odd_but_legal_parameters(quantile, path):
    clf = trained(quantile, C=np.float32(50), n_estimators=np.int64(3), n_jobs=2)
    clf.tol = math.inf
    clf.save(path)
    loaded = load_model(path)
    assert (loaded.C, loaded.n_estimators, loaded.n_jobs, loaded.tol) == (50.0, 3, 2, math.inf)


def test_pickle_and_joblib(model, tmp_path):
    assert_equal_models(pickle.loads(pickle.dumps(model)), model)
    joblib.dump(model, tmp_path / "m.joblib")
    assert_equal_models(joblib.load(tmp_path / "m.joblib"), model)


def test_continuation_from_a_file_equals_one_fit(quantile, path):
    whole = trained(quantile, n_estimators=20)
    part = trained(quantile, n_estimators=8, warm_start=True)
    part.save(path, training_state=True)
    loaded = load_model(path).set_params(n_estimators=20).fit(X, Y)
    np.testing.assert_array_equal(loaded.decision_function(X), whole.decision_function(X))
    np.testing.assert_array_equal(loaded.history_["objective"], whole.history_["objective"])


@pytest.mark.parametrize("staged", [True, False])
def test_the_offset_of_an_ensemble(quantile, path, staged):
    clf = trained(quantile)
    offsets = np.arange(clf.n_iter_ * 3 + 3.0).reshape(-1, 3)
    clf.ensemble_ = replace(clf.ensemble_, offsets=offsets)
    clf.save(path, staged=staged)
    assert_equal_models(load_model(path), clf)


BUILT_IN = ["stump", "tree", "projection"]


@pytest.mark.parametrize("correction", ["total", "stagewise"])
@pytest.mark.parametrize("family", BUILT_IN)
def test_round_trip_of_the_built_in_families(path, family, correction):
    clf = CWBoostClassifier(family, n_estimators=12, correction=correction, random_state=0)
    clf.fit(X, Y).save(path)
    loaded = load_model(path)
    same_params(loaded, clf)
    assert_equal_models(loaded, clf)


# ---------------------------------------------------------------------------- refusals


def test_what_cannot_be_saved(quantile, path, model):
    with pytest.raises(NotFittedError):
        CWBoostClassifier(quantile()).save(path)
    with pytest.raises(ValueError, match="training_state=True needs staged=True"):
        model.save(path, staged=False, training_state=True)

    class Subclass(CWBoostClassifier):
        pass

    clf = Subclass(quantile(), n_estimators=2).fit(X, Y)
    with pytest.raises(TypeError, match=r"takes the classifiers of cwboost, got .*Subclass"):
        clf.save(path)
    clf = copy.copy(model).set_params(verbose={1, 2})
    with pytest.raises(TypeError, match=r"params.verbose is a set, which a model file cannot"):
        clf.save(path)
    assert not path.exists()


def test_a_family_that_is_not_registered(quantile, path):
    class Unknown(QuantileStumps):
        name = "nobody-has-it"

    clf = CWBoostClassifier(Unknown(), n_estimators=2).fit(X, Y)
    with pytest.raises(ValueError, match="'nobody-has-it' is not registered"):
        clf.save(path)

    class Impostor(QuantileStumps):
        name = "quantile"

    clf = CWBoostClassifier(Impostor(), n_estimators=2).fit(X, Y)
    with pytest.raises(ValueError, match="registered for another class"):
        clf.save(path)


def test_an_absent_family_is_named(model, path, monkeypatch):
    model.save(path)
    monkeypatch.setenv("CWBOOST_PLUGINS", "0")
    with pytest.raises(ModelFileError, match="needs the weak-learner family 'quantile'"):
        load_model(path)


def edited(model, path, edit):
    """Save, let `edit(header, arrays)` change the contents, write them with right checksums."""
    model.save(path)
    header, arrays = container.read(path, 2**26)
    edit(header, arrays)
    container.write(path, header, arrays)
    return path


def test_newer_family_classifier_and_parameters_are_named(model, path):
    def family(header, arrays):
        header["family"]["api_version"] = 7

    def classifier(header, arrays):
        header["classifier"] = "QuantumBoostClassifier"

    def parameter(header, arrays):
        header["params"]["momentum"] = 0.9

    def family_parameter(header, arrays):
        header["family"]["params"]["depth"] = 3

    for edit, message in (
        (family, "'quantile' of API version 7.*installed one has version 1"),
        (classifier, "holds a 'QuantumBoostClassifier'.*does not have; known: .*CWBoost"),
        (parameter, "CWBoostClassifier has no parameter 'momentum'"),
        (family_parameter, "family 'quantile' has no parameter 'depth'"),
    ):
        with pytest.raises(ModelFileError, match=message):
            load_model(edited(model, path, edit))


def set_in(*keys):
    *keys, value = keys

    def edit(header, arrays):
        node = {"header": header, "arrays": arrays}
        for key in keys[:-1]:
            node = node[key]
        node[keys[-1]] = value

    return edit


@pytest.mark.parametrize(
    "edit, message",
    [
        (set_in("header", "fitted", "n_features_in_", 2), "feature must lie"),
        (set_in("header", "fitted", "n_features_in_", 0), "n_features_in_ must lie"),
        (set_in("header", "fitted", "n_features_in_", 2**40), "n_features_in_ must lie"),
        (set_in("header", "fitted", "n_features_in_", True), "must be of type int"),
        (set_in("header", "fitted", "predict", 1), "must have the attributes"),
        (set_in("header", "fitted", {}), "must have the attributes"),
        (set_in("header", "fitted", []), "no object 'fitted'"),
        (set_in("header", "fitted", "stop_reason_", None), "stop_reason_ must be of type str"),
        (set_in("header", "fitted", "history_", {"$": "dict", "items": [["a", 1]]}), "history_"),
        (set_in("header", "params", "n_jobs", 10**9), "n_jobs"),
        (set_in("header", "params", "n_jobs", 0), "n_jobs"),
        (set_in("header", "params", "C", {"$": "exec"}), "unknown kind of value 'exec'"),
        (set_in("header", "params", "C", [1]), "not a value"),
        (set_in("header", "params", "C", {"$": "float", "value": "1"}), "nan, inf"),
        (set_in("header", "params", "C", {"$": "dict", "items": [1]}), "list of pairs"),
        (set_in("header", "params", "C", {"$": "array", "name": "no"}), "no array for it"),
        (set_in("header", "ensemble", "n_scores", 4), "4 scores for 3 classes"),
        (set_in("header", "ensemble", "n_scores", 2), "score_index must lie"),
        (set_in("header", "ensemble", "n_scores", "3"), "number of scores"),
        (set_in("header", "ensemble", "staged", 1), "number of scores"),
        (set_in("header", "classifier", ["CWBoostClassifier"]), "does not have"),
        (set_in("header", "training_state", 3), "training_state must be a dict"),
        (set_in("arrays", "fitted.classes_", np.array([0, 1, 1])), "sorted and distinct"),
        (set_in("arrays", "fitted.classes_", np.array([0.0, 1, np.nan])), "sorted and distinct"),
        (set_in("arrays", "fitted.classes_", np.array([2])), "at least two labels"),
        (set_in("arrays", "fitted.classes_", np.zeros((3, 3))), "at least two labels"),
        (set_in("arrays", "ensemble.value", np.full(3, np.nan)), "same length"),
        (set_in("arrays", "ensemble.learners.sign", np.zeros(3, np.int8)), "feature must be"),
        (set_in("arrays", "ensemble.unknown", np.zeros(3)), "has the arrays"),
    ],
)
def test_hostile_contents(model, path, edit, message):
    with pytest.raises(ModelFileError, match=message):
        load_model(edited(model, path, edit))


def test_deeply_nested_values(model, path):
    model.save(path)
    header, blobs = header_of(path)
    header["params"]["C"] = "deep"
    deep = '{"$":"list","items":[' * 900 + "1" + "]}" * 900
    forge(path, json.dumps(header).replace('"deep"', deep).encode(), blobs)
    with pytest.raises(ModelFileError, match=r"RecursionError|not JSON"):
        load_model(path)


def test_limit_of_bytes(model, path):
    model.save(path)
    with pytest.raises(ModelFileError, match="raise max_bytes"):
        load_model(path, max_bytes=100)


# ---------------------------------------------------------------------------- fuzzing


WEIRD = [
    *(None, True, -1, 0, 1, 3, 2**31, 2**63, -(2**63), 10**40, 1e308, -0.5, "", "x" * 5000),
    *([], {}, [[]], {"$": "array", "name": "fitted.classes_"}, {"$": "tuple", "items": [1]}),
]
EXTREME = [0, 1, -1, 2, 127, -128, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 1e308, -1e-308]
NOT_FINITE = [np.nan, np.inf, -np.inf]


def nodes_of(node, found):
    """Every (container, key) of a JSON tree."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        found.append((node, key))
        if isinstance(node[key], (dict, list)):
            nodes_of(node[key], found)
    return found


def mutate_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        kind, at = rng.randrange(5), rng.randrange(len(data) + 1)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randrange(1, 9))
        elif kind == 3:
            del data[at : at + rng.randrange(1, 9)]
        else:
            data[at : at + 4] = rng.choice((b"\xff" * 4, b"\0" * 4, rng.randbytes(4)))
    return bytes(data)


def mutate_header(rng, header):
    holder, key = rng.choice(nodes_of(header, []))
    if rng.random() < 0.2:
        del holder[key]
    elif rng.random() < 0.2 and isinstance(holder[key], int):
        holder[key] += rng.choice((-1, 1, 2**20))
    else:
        holder[key] = copy.deepcopy(rng.choice(WEIRD))


def mutate_array(rng, arrays):
    name = rng.choice(sorted(arrays))
    array, kind = arrays[name], rng.randrange(6)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        dtype = rng.choice(sorted(container.DTYPES))
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(dtype)
    elif kind == 2:
        arrays[name] = np.resize(array, rng.choice((0, 1, array.size + 1, 2 * array.size + 3)))
    elif kind == 3:
        arrays[name] = array.reshape(rng.choice(((1, array.size), (array.size, 1), (1, 1, -1))))
    elif kind == 4:
        other = rng.choice(sorted(arrays))
        arrays[name], arrays[other] = arrays[other], array
    elif array.size:
        values = array.ravel().copy()
        choices = EXTREME + (NOT_FINITE if array.dtype.kind == "f" else [])
        with np.errstate(all="ignore"):
            value = np.array(rng.choice(choices), dtype=np.float64).astype(array.dtype)
            values[rng.randrange(len(values))] = value
        arrays[name] = values.reshape(array.shape)


def mutated(rng, path, data, header, arrays):
    """Write a mutation of a model file: of its bytes, or of its contents with right checksums."""
    if rng.random() < 0.4:
        path.write_bytes(mutate_bytes(rng, data))
        return
    header, arrays = copy.deepcopy(header), dict(arrays)
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.5:
            mutate_header(rng, header)
        elif arrays:
            mutate_array(rng, arrays)
    container.write(path, header, arrays)


def assert_harmless(path, data=X):
    """Load and, where that works, predict: errors of the announced kinds at most; and quickly."""
    start = time.perf_counter()
    loaded = None
    try:
        loaded = load_model(path)
    except ModelFileError as error:
        assert not isinstance(error.__cause__, MemoryError)
    assert time.perf_counter() - start < 2
    if loaded is not None:
        with contextlib.suppress(TypeError, ValueError):
            loaded.predict(data[:5])
    return loaded is not None


def prepared(clf, path):
    clf.save(path, training_state=True)
    return path.read_bytes(), *container.read(path, 2**26)


@pytest.fixture
def in_memory():
    """A path in memory: thousands of files need not wait for a disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder, "model.cwb")


@pytest.fixture
def confined():
    """No more than 256 MB beyond what the process has."""
    gc.collect()
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + 256 * MEGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


on_linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


@on_linux
def test_the_confinement_confines(confined):
    with pytest.raises(MemoryError):
        np.ones(1024 * MEGABYTE, np.uint8)


@on_linux
def test_mutations_by_hypothesis(model, in_memory, confined):
    parts = prepared(model, in_memory)

    @settings(max_examples=150, deadline=None, database=None)
    @given(seed=st.integers(0, 2**32))
    def harmless(seed):
        mutated(random.Random(seed), in_memory, *parts)
        assert_harmless(in_memory)

    harmless()


@on_linux
@pytest.mark.slow
@pytest.mark.parametrize("family", ["quantile", *BUILT_IN])
def test_twenty_thousand_mutations(quantile, family, in_memory, confined):
    """Twenty thousand in all, five thousand a family."""
    family = quantile(share=0.3) if family == "quantile" else family
    clf = CWBoostClassifier(family, n_estimators=8, random_state=0, warm_start=True)
    clf.fit(X, np.array(["a", "b", "c"])[Y])
    parts = prepared(clf, in_memory)
    rng = random.Random(2024)
    loaded = 0
    for _ in range(5_000):
        mutated(rng, in_memory, *parts)
        loaded += assert_harmless(in_memory)
    # Some mutations are harmless (another history, another coefficient); most must not pass.
    assert 0 < loaded < 2_500


def test_the_header_is_json_that_names_no_code(model, path):
    model.save(path)
    header, _ = header_of(path)
    text = json.dumps({key: header[key] for key in header if key != "arrays"})
    assert "cwboost." not in text and "quantile_family" not in text and "QuantileStumps" not in text
    assert header["family"]["name"] == "quantile" and header["family"]["api_version"] == 1
