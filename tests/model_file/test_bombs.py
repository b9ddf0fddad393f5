"""Small files that claim much: refused within a bound on memory and time."""

import json
import time
import tracemalloc
import zlib

import numpy as np
import pytest
from models import paper
from mutations import forge, header_of
from sklearn.datasets import load_iris

from cwboost import ModelFileError, load_model
from cwboost.model_file import container

MEGABYTE = 2**20


@pytest.fixture
def saved(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "model.cwb"
    paper(n_estimators=5).fit(X, y).save(path)
    return path


def labels(width, n=256):
    return {"$": "labels", "width": width, "items": [""] * n}


def padded_strings(header):
    """Each node is within its bounds; the file takes 21 kB, its labels 1.3 GB."""
    header["params"]["C"] = {"$": "list", "items": [labels(2**16) for _ in range(20)]}


def nested_labels(header):
    node = "x"
    for _ in range(300):
        node = {"$": "labels", "width": 0, "items": [node]}
    header["params"]["C"] = node


def empty_lists(header):
    header["params"]["C"] = [[]] * 1_500_000


def small_dicts(header):
    header["params"]["C"] = [{"": 0}] * 400_000


def nested_lists(header):
    node = 1
    for _ in range(400):
        node = {"$": "list", "items": [node, 1]}
    header["params"]["C"] = node


def long_keys(header):
    node = {"$": "list", "items": [*[1] * 200_000, {"$": "exec"}]}
    for _ in range(20):
        node = {"$": "dict", "items": [["k" * 40, node]]}
    header["params"]["C"] = node


def deep_json(header):
    header["params"]["C"] = json.loads("[" * 900 + "]" * 900)


def array_entry(name, array, claimed=None, raw=None):
    stored = zlib.compress(array.tobytes() if raw is None else raw, 4)
    return {
        "name": name,
        "dtype": array.dtype.str,
        "shape": list(claimed or array.shape),
        "bytes": len(stored),
        "crc32": zlib.crc32(stored),
    }, stored


def replace_array(path, name, array, edit=lambda header: None):
    header, blobs = header_of(path)
    at, kept, entries = 0, b"", []
    for entry in header["arrays"]:
        if entry["name"] != name:
            kept += blobs[at : at + entry["bytes"]]
            entries.append(entry)
        at += entry["bytes"]
    entry, blob = array_entry(name, array)
    header["arrays"] = [*entries, entry]
    edit(header)
    forge(path, header, kept + blob)


def many_classes(path, n=15_000_000):
    """15 million classes, sorted and distinct."""
    labels = np.arange(n)

    def more_scores(header):
        header["ensemble"]["n_scores"] = n

    replace_array(path, "fitted.classes_", labels, more_scores)


def as_many_as_the_bytes_allow(path):
    many_classes(path, 1_000_000)


def many_rounds(path):
    replace_array(path, "ensemble.round_offsets", np.zeros(2_000_000, np.int64))


def many_learners(path):
    replace_array(path, "ensemble.learners.polarity", np.zeros(16_000_000, np.int8))


def in_header(edit):
    def change(path):
        header, blobs = header_of(path)
        edit(header)
        forge(path, header, blobs)

    change.__name__ = edit.__name__
    return change


BOMBS = [
    *map(in_header, (nested_labels, empty_lists, small_dicts)),
    *map(in_header, (nested_lists, long_keys, deep_json)),
    *(many_classes, many_rounds, many_learners),
]


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
@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.__name__)
def test_a_refusal_takes_64_MB_and_four_times_the_file(saved, bomb):
    bomb(saved)
    size = saved.stat().st_size
    start = time.process_time()
    refused(saved)
    assert time.process_time() - start < 1
    _, peak = peak_of(lambda: refused(saved))
    assert peak < 64 * MEGABYTE + 4 * size, f"{peak / MEGABYTE:.0f} MB for {size} bytes"


@pytest.mark.slow
def test_claims_that_the_file_holds_are_loaded_within_the_bound(saved):
    """A million labels take more than a byte each in the file."""
    as_many_as_the_bytes_allow(saved)
    size = saved.stat().st_size
    assert size > 1_000_000
    loaded, peak = peak_of(lambda: load_model(saved))
    assert len(loaded.classes_) == 1_000_000
    assert peak < 64 * MEGABYTE + 4 * size, f"{peak / MEGABYTE:.0f} MB for {size} bytes"


def test_strings_are_not_padded_beyond_a_bound(saved):
    """One long label makes all labels of an array of NumPy long: they stay Python's strings."""
    in_header(padded_strings)(saved)
    loaded, peak = peak_of(lambda: load_model(saved))
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


def test_honest_models_fit_the_limit(saved):
    """Names and labels by the hundred thousand are no attack."""
    header, blobs = header_of(saved)
    names = [f"feature {i}" for i in range(100_000)]
    header["fitted"]["n_features_in_"] = len(names)
    header["fitted"]["feature_names_in_"] = {"$": "labels", "width": 0, "items": names}
    forge(saved, header, blobs)
    assert load_model(saved).feature_names_in_[-1] == "feature 99999"
