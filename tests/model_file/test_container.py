"""The bytes of a model file: exact round trips; hostile files are refused within a bound."""

import json
import re
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from models import paper
from mutations import forge, npy, prepared
from sklearn.datasets import load_iris

from cwboost import ModelFileError, load_model
from cwboost.model_file import container
from cwboost.model_file.container import read, write

MEGABYTE = 2**20
FORMAT = {"format": 1}
# The last 22 bytes of an archive are the end of its directory; an entry of the directory, which
# begins with this, has its fields at fixed places.
ENTRY = b"PK\1\2"
METHOD, PACKED, UNPACKED = 10, 20, 24


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(container.DTYPES).flatmap(
        lambda name: hnp.arrays(name, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0))
    )
)
def test_any_array_comes_back_bit_for_bit(tmp_path_factory, array):
    path = tmp_path_factory.mktemp("container") / "a"
    write(path, {"k": [1, None, "ü"]}, {"a": array})
    header, arrays = read(path)
    assert header == {"k": [1, None, "ü"]}
    assert arrays["a"].dtype == array.dtype and arrays["a"].shape == array.shape
    assert arrays["a"].tobytes() == array.tobytes()
    assert arrays["a"].flags.writeable
    with np.load(path, allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["a"], array)


def test_layouts_byte_orders_and_large_arrays(path):
    big = np.random.default_rng(0).normal(size=(600, 500))  # more than is unpacked at a time
    arrays = {"f": np.asfortranarray(big), "s": big[::-1, ::3], "b": big.astype(">f8")}
    write(path, {}, arrays)
    for name, array in read(path)[1].items():
        np.testing.assert_array_equal(array, arrays[name])
        assert array.flags.c_contiguous and array.dtype == np.float64


def test_arrays_are_compressed_unless_they_would_be_taken_for_a_bomb(path):
    """Whatever is written is read, whatever it shrinks to."""
    rng = np.random.default_rng(0)
    write(path, {}, {"threshold": rng.integers(0, 255, 100_000) + 0.5})
    assert path.stat().st_size < 800_000 / 3
    for n in (2_000_000, 5_000_000):  # pair weights before the first round are all equal
        write(path, {}, {"weights": np.ones(n)})
        assert len(read(path)[1]["weights"]) == n
    assert path.stat().st_size > 8 * n


@pytest.mark.parametrize(
    "header, arrays, message",
    [
        ({}, {"n" * 101: np.zeros(1)}, "name must have 1 to 100 letters"),
        ({}, {"ü": np.zeros(1)}, "name must have"),
        ({}, {str(n): np.zeros(1) for n in range(20_001)}, "at most 20000 arrays, got 20001"),
        ({"k": [[]] * 1_500_000}, {}, "far more memory"),
        ({}, {"x": np.zeros(2, complex)}, "array 'x' has dtype"),
        ({}, {"x": np.array(["a"])}, "array 'x' has dtype"),
        ({}, {"x": np.array([None])}, "array 'x' has dtype"),
    ],
)
def test_what_would_not_be_read_is_not_written(path, header, arrays, message):
    with pytest.raises((ModelFileError, TypeError), match=message):
        write(path, header, arrays)
    assert not path.exists()


# ---------------------------------------------------------------------------- hostile bytes


def refused(path, message=None, load=read, **options):
    with pytest.raises(ModelFileError, match=message):
        load(path, **options)


def damaged(data):
    """Yield the bytes of a file cut at many lengths, and with a bit changed."""
    yield from (data[:length] for length in range(0, len(data), 3))
    for bit in range(0, 8 * len(data), 7):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield bytes(flipped)


def test_damage_is_detected_or_harmless(path):
    """Such as a changed date: what is read is what was written."""
    arrays = {"x": np.arange(300), "y": np.linspace(0, 1, 7)}
    write(path, {"a": 1}, arrays)
    n_refused = n_read = 0
    for data in damaged(path.read_bytes()):
        path.write_bytes(data)
        try:
            header, found = read(path)
        except ModelFileError:
            n_refused += 1
            continue
        n_read += 1
        assert header == {"a": 1} and found.keys() == arrays.keys()
        assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
    assert n_refused > 5 * n_read > 0


def test_limit_on_bytes(path):
    write(path, {}, {"x": np.arange(1000)})
    read(path, 8128)
    refused(path, r"max_bytes=8127, got 8128 bytes; raise max_bytes", max_bytes=8127)


@pytest.mark.parametrize(
    "header, message",
    [
        (b"[]", "JSON object"),
        (b"{}", "format must be a version from 1 to 1, got None"),
        (b'{"format": 2, "arrays": []}', "got 2; a newer cwboost may have written the file"),
        (b'{"format": true}', "must be a version from 1 to 1, got True"),
        (b'{"format": NaN}', "NaN is not a JSON number"),
        (b"\xff\xfe\xfa", "damaged"),
        (b"[" * 200_000, "damaged"),
        (b"9" * 10_000, "damaged"),
    ],
)
def test_hostile_headers(path, header, message):
    forge(path, header, {})
    refused(path, message)


NPY = npy(np.arange(4))


@pytest.mark.parametrize(
    "member, message",
    [
        (b"", "damaged"),
        (b"no array", "damaged"),
        (b"\x93NUMPY\2\0" + NPY[8:], "unknown version"),
        (NPY[:-1], "must be that of its bytes"),
        (NPY + b"x", "must be that of its bytes"),
        (NPY.replace(b"(4,)", b"(-4, -1)"), "damaged|must be that of its bytes"),
        (NPY.replace(b"(4,)", b"(0, %d)" % 2**62), "damaged|must be that of its bytes"),
        (NPY.replace(b"(4,)", b"(%d,)" % 2**80), "must be that of its bytes"),
        (NPY.replace(b"(4,)", b"'4'"), "damaged"),
        (NPY.replace(b"<i8", b">i8"), "must be C-ordered, of one of"),
        (NPY.replace(b"<i8", b"<M8"), "must be C-ordered, of one of"),
        (NPY.replace(b"'<i8'", b"[('a','<i8')]"), "must be C-ordered, of one of"),
        (NPY.replace(b"False", b"True "), "must be C-ordered"),
        (npy(np.array([{}, 1])), "must be C-ordered, of one of"),
        (npy(np.array([0, 1, 2], np.uint8)).replace(b"|u1", b"|b1"), "bools other than 0 and 1"),
    ],
)
def test_hostile_arrays(path, member, message):
    forge(path, FORMAT, {"x": member})
    assert peak_of(lambda: refused(path, message)) < MEGABYTE


def edited(data, entry, field, value, size=4):
    """Return an archive with another number in a field of an entry of its directory."""
    at = [found.start() for found in re.finditer(ENTRY, data)][entry] + field
    return data[:at] + value.to_bytes(size, "little") + data[at + size :]


@pytest.mark.parametrize(
    "entry, field, value, message",
    [
        (1, UNPACKED, 2**31, "must take at most max_bytes"),
        (1, UNPACKED, 8135, "must be that of its bytes"),
        (1, UNPACKED, 127, "damaged"),
        (1, PACKED, 2**31, "damaged"),
        (1, METHOD, 14, "must be stored or deflated"),  # LZMA: of any dictionary
        (1, METHOD, 0, "damaged"),
        (0, METHOD, 8, "first member is not 'header.json'"),
    ],
)
def test_hostile_directories(path, entry, field, value, message):
    write(path, {}, {"x": np.arange(1000)})
    data = path.read_bytes()
    path.write_bytes(edited(data, entry, field, value, 2 if field == METHOD else 4))
    assert peak_of(lambda: refused(path, message)) < 2 * MEGABYTE


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "names, message",
    [
        (["header.json", "x.npy", "x.npy"], "each once"),
        (["header.json", "x", "x.npy"], "each once"),
        (["header.json", "y.npy"], "must list the arrays"),
        (["header.json"], "must list the arrays"),
        (["x.npy", "header.json"], "not a cwboost model file: its first member"),
        (["x.npy"], "not a cwboost model file: its first member"),
        ([], "not a cwboost model file"),
        (None, "not a cwboost model file, or damaged: File is not a zip file"),
    ],
)
def test_hostile_names(path, names, message):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names or ():
            header = FORMAT | {"arrays": ["x"] * max(1, len(names) - 1)}
            archive.writestr(name, json.dumps(header) if name == "header.json" else NPY)
    if names is None:
        path.write_bytes(path.read_bytes()[:-1])
    refused(path, message)


# ---------------------------------------------------------------------------- bombs


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model file in parts."""
    X, y = load_iris(return_X_y=True)
    clf = paper(n_estimators=5, warm_start=True).fit(X, y)
    return prepared(clf, tmp_path_factory.mktemp("bombs") / "model")


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
    "many labels": lambda: {"fitted.classes_": np.arange(2_000_000)},
    "many rounds": lambda: {"ensemble.round_offsets": np.zeros(2_000_000, np.int64)},
    "many learners": lambda: {"ensemble.learners.polarity": np.zeros(16_000_000, np.int8)},
    "many arrays": lambda: dict.fromkeys(map(str, range(20_100)), b""),
}


def write_bomb(path, model, C=None, arrays=None):
    """Write the file of a model with another value of C or with other arrays."""
    header = json.loads(model.header)
    if C is not None:
        header["params"]["C"] = C
    elif "fitted.classes_" in arrays:
        header["ensemble"]["n_scores"] = len(arrays["fitted.classes_"])
    forge(path, header, model.arrays | (arrays or {}))


def peak_of(action):
    """Return the bytes that a function takes."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("bomb", [*VALUES, *ARRAYS])
def test_a_refusal_takes_64_MB_and_four_times_the_file(model, path, bomb):
    if bomb in VALUES:
        write_bomb(path, model, C=VALUES[bomb]())
    else:
        write_bomb(path, model, arrays=ARRAYS[bomb]())
    size = path.stat().st_size
    start = time.process_time()
    refused(path, load=load_model)
    assert time.process_time() - start < 1
    peak = peak_of(lambda: refused(path, load=load_model))
    assert peak < 64 * MEGABYTE + 4 * size, f"{peak / MEGABYTE:.0f} MB for {size} bytes"


def test_strings_are_not_padded_beyond_a_bound(model, path):
    """One long label makes all labels of an array of NumPy long: they stay Python's strings.

    Each node is within its bounds; the file takes 21 kB, its labels 1.3 GB.
    """
    write_bomb(path, model, C=values(*[labels([""] * 256, 2**16)] * 20))
    loaded = []
    peak = peak_of(lambda: loaded.append(load_model(path)))
    assert peak < 64 * MEGABYTE, f"{peak / MEGABYTE:.0f} MB"
    assert [array.tolist() for array in loaded[0].C] == [[""] * 256] * 20


def test_honest_models_fit_the_limit(model, path):
    """Names and labels by the hundred thousand are no attack."""
    names = [f"feature {i}" for i in range(100_000)]
    header = json.loads(model.header)
    header["fitted"] |= {"n_features_in_": len(names), "feature_names_in_": labels(names)}
    header.pop("importances", None)
    forge(path, header, model.arrays)
    assert load_model(path).feature_names_in_[-1] == "feature 99999"
