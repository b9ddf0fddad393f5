"""Small files that claim much: refused within a bound on memory and time."""

import json
import time
import tracemalloc
import zlib

import numpy as np
import pytest
from models import paper
from mutations import forge, prepared
from sklearn.datasets import load_iris

from cwboost import ModelFileError, load_model
from cwboost.model_file import container

MEGABYTE = 2**20


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model file in parts."""
    X, y = load_iris(return_X_y=True)
    return prepared(paper(n_estimators=5).fit(X, y), tmp_path_factory.mktemp("bombs") / "model")


def nested(node, depth, wrap):
    for _ in range(depth):
        node = wrap(node)
    return node


def labels(items, width=0):
    return {"$": "labels", "width": width, "items": items}


def values(*items):
    return {"$": "list", "items": items}


LONG = values(*[1] * 200_000, {"$": "exec"})
# Values of the parameter C.
VALUES = {
    "nested labels": lambda: nested("x", 300, lambda node: labels([node])),
    "empty lists": lambda: [[]] * 1_500_000,
    "small dicts": lambda: [{"": 0}] * 400_000,
    "nested lists": lambda: nested(1, 400, lambda node: values(node, 1)),
    "long keys": lambda: nested(LONG, 20, lambda node: {"$": "dict", "items": [["k" * 40, node]]}),
    "deep JSON": lambda: json.loads("[" * 900 + "]" * 900),
}
# Arrays of many zeros or sorted numbers, which take few bytes in the file.
ARRAYS = {
    "many classes": lambda: {"fitted.classes_": np.arange(15_000_000)},
    "many rounds": lambda: {"ensemble.round_offsets": np.zeros(2_000_000, np.int64)},
    "many learners": lambda: {"ensemble.learners.polarity": np.zeros(16_000_000, np.int8)},
}


def write(path, model, C=None, arrays=None):
    """Write the file of a model with another value of C or with other arrays."""
    header = json.loads(model.header)
    if arrays is None:
        header["params"]["C"] = C
        forge(path, header, model.blobs)
        return
    del header["arrays"]
    if "fitted.classes_" in arrays:
        header["ensemble"]["n_scores"] = len(arrays["fitted.classes_"])
    container.write(path, header, model.arrays | arrays)


def peak_of(action):
    """Return what a function returns, and the bytes that it takes."""
    tracemalloc.start()
    try:
        return action(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def refused(path):
    with pytest.raises(ModelFileError):
        load_model(path)


@pytest.mark.slow
@pytest.mark.parametrize("bomb", [*VALUES, *ARRAYS])
def test_a_refusal_takes_64_MB_and_four_times_the_file(model, path, bomb):
    if bomb in VALUES:
        write(path, model, C=VALUES[bomb]())
    else:
        write(path, model, arrays=ARRAYS[bomb]())
    size = path.stat().st_size
    start = time.process_time()
    refused(path)
    assert time.process_time() - start < 1
    _, peak = peak_of(lambda: refused(path))
    assert peak < 64 * MEGABYTE + 4 * size, f"{peak / MEGABYTE:.0f} MB for {size} bytes"


@pytest.mark.slow
def test_claims_that_the_file_holds_are_loaded_within_the_bound(model, path):
    """A million labels take more than a byte each in the file."""
    write(path, model, arrays={"fitted.classes_": np.arange(1_000_000)})
    size = path.stat().st_size
    assert size > 1_000_000
    loaded, peak = peak_of(lambda: load_model(path))
    assert len(loaded.classes_) == 1_000_000
    assert peak < 64 * MEGABYTE + 4 * size, f"{peak / MEGABYTE:.0f} MB for {size} bytes"


def test_strings_are_not_padded_beyond_a_bound(model, path):
    """One long label makes all labels of an array of NumPy long: they stay Python's strings.

    Each node is within its bounds; the file takes 21 kB, its labels 1.3 GB.
    """
    write(path, model, C=values(*[labels([""] * 256, 2**16)] * 20))
    loaded, peak = peak_of(lambda: load_model(path))
    assert peak < 64 * MEGABYTE, f"{peak / MEGABYTE:.0f} MB"
    found = loaded.C
    assert len(found) == 20 and all(array.tolist() == [""] * 256 for array in found)


@pytest.mark.parametrize("n", [0, 1, 2, 1000, 2**20 + 7])
def test_arrays_are_read_in_parts(tmp_path, n):
    """Wherever an array ends."""
    array = np.random.default_rng(0).integers(0, 50, n).astype(np.int32)
    blob = zlib.compress(array.tobytes(), 1)
    entry = {"shape": [n], "dtype": "<i4", "name": "x"}
    entry |= {"bytes": len(blob), "crc32": zlib.crc32(blob)}
    path = tmp_path / "x.cwb"
    forge(path, {"arrays": [entry]}, blob)
    np.testing.assert_array_equal(container.read(path, 2**26)[1]["x"], array)
    for claimed in (n + 1, *([n - 1] if n else [])):
        forge(path, {"arrays": [entry | {"shape": [claimed]}]}, blob)
        with pytest.raises(ModelFileError, match=r"declared size|can hold"):
            container.read(path, 2**26)


def test_honest_models_fit_the_limit(model, path):
    """Names and labels by the hundred thousand are no attack."""
    names = [f"feature {i}" for i in range(100_000)]
    header = json.loads(model.header)
    header["fitted"] |= {"n_features_in_": len(names), "feature_names_in_": labels(names)}
    forge(path, header, model.blobs)
    assert load_model(path).feature_names_in_[-1] == "feature 99999"
