"""Loading of damaged, hostile or too new files: clear errors and no side effects."""

import contextlib
import copy
import gc
import json
import random
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from forgery import forge, header_of
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from cwboost import CWBoostClassifier, ModelFileError, load_model
from cwboost.model_file import container

X, Y = load_iris(return_X_y=True)
MEGABYTE = 2**20
BUILT_IN = ["stump", "tree", "projection"]


@pytest.fixture(scope="module")
def model(quantile):
    clf = CWBoostClassifier(quantile(share=0.3), n_estimators=12, C=100.0, random_state=3)
    return clf.fit(X, Y)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.cwb"


def test_an_absent_family_is_named(model, path, monkeypatch):
    model.save(path)
    monkeypatch.setenv("CWBOOST_PLUGINS", "0")
    with pytest.raises(ModelFileError, match="needs the weak-learner family 'quantile'"):
        load_model(path)


def edited(model, path, edit):
    """Save, change the contents by `edit(header, arrays)`, write them with valid checksums."""
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
        (classifier, "classifier must be one of .*CWBoost.*, got 'QuantumBoostClassifier'"),
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
        (set_in("header", "params", "C", {"$": "array", "name": "no"}), "does not have its array"),
        (set_in("header", "ensemble", "n_scores", 4), "4 scores for 3 classes"),
        (set_in("header", "ensemble", "n_scores", 2), "score_index must lie"),
        (set_in("header", "ensemble", "n_scores", "3"), r"ensemble must have n_scores in 1\.\."),
        (set_in("header", "ensemble", "staged", 1), "and a bool staged"),
        (set_in("header", "classifier", ["CWBoostClassifier"]), "classifier must be one of"),
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
    with pytest.raises(ModelFileError, match=r"nested more than 24 deep|not JSON"):
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
    """Yield every (container, key) of a JSON tree."""
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
    """Write a mutated model file: mutated bytes, or mutated contents with valid checksums."""
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
    """Load a file and predict if it loads; allow only documented errors, within a time limit."""
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
    """A path in memory, so that thousands of files do not wait for a disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder, "model.cwb")


@pytest.fixture
def confined():
    """Limit the process to 256 MB beyond its present memory."""
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
    """Twenty thousand in total, five thousand per family."""
    family = quantile(share=0.3) if family == "quantile" else family
    clf = CWBoostClassifier(family, n_estimators=8, random_state=0, warm_start=True)
    clf.fit(X, np.array(["a", "b", "c"])[Y])
    parts = prepared(clf, in_memory)
    rng = random.Random(2024)
    loaded = 0
    for _ in range(5_000):
        mutated(rng, in_memory, *parts)
        loaded += assert_harmless(in_memory)
    # Some mutations are harmless (another history, another coefficient); most must be refused.
    assert 0 < loaded < 2_500
