"""The bytes of a model file: exact round trips, and refusal of hostile files."""

import json
import stat
import struct
import subprocess
import sys
import textwrap
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mutations import forge, header_of

from cwboost.model_file import container
from cwboost.model_file.container import MAGIC, ModelFileError, read, write

LIMIT = 2**24
DTYPES = st.sampled_from(list(container.DTYPES))


@pytest.fixture
def written(path):
    write(path, {"a": 1}, {"x": np.arange(1000), "y": np.linspace(0, 1, 7)})
    return path


@settings(max_examples=60, deadline=None)
@given(
    DTYPES.flatmap(
        lambda name: hnp.arrays(name, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0))
    )
)
def test_any_array_comes_back_bit_for_bit(tmp_path_factory, array):
    path = tmp_path_factory.mktemp("container") / "a"
    write(path, {"k": [1, None, "ü"]}, {"a": array})
    header, arrays = read(path, LIMIT)
    assert header == {"k": [1, None, "ü"]}
    assert arrays["a"].dtype == array.dtype and arrays["a"].shape == array.shape
    assert arrays["a"].tobytes() == array.tobytes()
    assert arrays["a"].flags.writeable


def test_layouts_byte_orders_and_large_arrays(path, monkeypatch):
    monkeypatch.setattr(container, "QUICK_ABOVE", 1000)
    big = np.random.default_rng(0).normal(size=(30, 40))
    arrays = {"f": np.asfortranarray(big), "s": big[::-1, ::3], "b": big.astype(">f8")}
    write(path, {}, arrays)
    for name, array in read(path, LIMIT)[1].items():
        np.testing.assert_array_equal(array, arrays[name])
        assert array.flags.c_contiguous and array.dtype == np.float64


def test_arrays_of_models_are_compressed(path):
    n = 2000
    rng = np.random.default_rng(0)
    arrays = {
        "column": np.arange(n, dtype=np.int32),
        "round_offsets": np.arange(0, n + 1, 10),
        "threshold": rng.integers(0, 255, n) + 0.5,
        "polarity": rng.choice(np.array([-1, 1], np.int8), n),
    }
    write(path, {}, arrays)
    assert path.stat().st_size < sum(array.nbytes for array in arrays.values()) / 3


def test_many_arrays_of_many_dimensions(path):
    arrays = {f"a{i}": np.full([1] * (i % 33), i) for i in range(1000)}
    write(path, {}, arrays)
    for name, array in read(path, LIMIT)[1].items():
        assert array.shape == arrays[name].shape and array.item() == arrays[name].item()


@pytest.mark.parametrize(
    "header, arrays, message",
    [
        ({}, {"x": np.zeros([1] * 40)}, "at most 32 integers"),
        ({}, {"n" * 101: np.zeros(1)}, "at most 100 characters"),
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


def damaged(data):
    """Yield the bytes of a file cut at many lengths, with a bit changed, and with one more byte."""
    yield from (data[:length] for length in range(0, len(data), 3))
    for bit in range(0, 8 * len(data), 5):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield bytes(flipped)
    yield data + b"x"


def test_damage_is_detected(written):
    for data in damaged(written.read_bytes()):
        written.write_bytes(data)
        with pytest.raises(ModelFileError):
            read(written, LIMIT)


def test_newer_format_is_reported(written):
    header, blobs = header_of(written)
    forge(written, header, blobs, version=2)
    with pytest.raises(ModelFileError, match=r"format version .* got 2: .*newer cwboost"):
        read(written, LIMIT)


def test_limit_on_bytes(written):
    read(written, 8056)
    with pytest.raises(ModelFileError, match=r"max_bytes=8055, got 8056 bytes; raise max_bytes"):
        read(written, 8055)


@pytest.mark.parametrize(
    "field, values, message",
    [
        ("shape", ([-1], [2.0], [True], "12", [1] * 33), "shape of .* integers >= 0"),
        ("shape", ([2**60], [0, 2**60]), "axis"),
        ("shape", ([2**39, 2**39, 2**39], [2**20]), "more than its bytes"),
        ("shape", ([999], [1001]), "its declared size"),
        ("dtype", ("|O", ["<i8"], ">i8"), "unknown dtype"),
        ("filter", ("delta",), "must have the fields"),
        ("bytes", (-5, None), "size and checksum of .* integers >= 0"),
        ("bytes", (2**62,), "cut off"),
        ("crc32", (0,), "checksum"),
        ("name", ("y",), "occurs twice"),
        ("name", (3, "n" * 101), "must be a string"),
    ],
)
def test_hostile_entries(written, field, values, message):
    header, blobs = header_of(written)
    for value in values:
        header["arrays"][0][field] = value
        forge(written, header, blobs)
        with pytest.raises(ModelFileError, match=message):
            read(written, LIMIT)


@pytest.mark.parametrize(
    "header, message",
    [
        (b"[]", "JSON object"),
        (b"{}", "arrays must be a list"),
        (b'{"arrays": {}}', "arrays must be a list"),
        (b'{"arrays": [1]}', "must have the fields"),
        (b'{"arrays": [{"name": "x"}]}', "must have the fields"),
        (b'{"arrays": NaN}', "not JSON"),
        (b"\xff\xfe\xfa", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b"9" * 10_000, "not JSON"),
        (json.dumps({"arrays": [{}] * 300}).encode(), "must have the fields"),
    ],
)
def test_hostile_headers(path, header, message):
    forge(path, header, b"")
    with pytest.raises(ModelFileError, match=message):
        read(path, LIMIT)


@pytest.mark.parametrize(
    "stored, dtype, message",
    [
        (b"not deflate at all", "<f8", "decompress"),
        (zlib.compress(bytes(32)) + b"more", "<f8", "decompress"),
        (zlib.compress(bytes(32))[:-1], "<f8", "decompress"),
        (zlib.compress(bytes(31)), "<f8", "decompress"),
        (zlib.compress(bytes(33)), "<f8", "decompress"),
        (zlib.compress(b"\x00\x01\x02\x00"), "|b1", "other than 0 and 1"),
    ],
)
def test_streams_that_contradict_their_entry(path, stored, dtype, message):
    entry = {"name": "x", "dtype": dtype, "shape": [4]}
    entry |= {"bytes": len(stored), "crc32": zlib.crc32(stored)}
    forge(path, {"arrays": [entry]}, stored)
    with pytest.raises(ModelFileError, match=message):
        read(path, LIMIT)


@pytest.mark.parametrize(
    "data, message",
    [
        *((other, "not a cwboost model file") for other in (b"", b"x", MAGIC, b"\x89PNG" * 9)),
        (struct.pack("<8sIII", MAGIC, 1, 2**32 - 1, 0), "cut off"),
    ],
)
def test_other_files(path, data, message):
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=message):
        read(path, LIMIT)


def test_permissions_and_links(written, tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert stat.S_IMODE(written.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    link = tmp_path / "link"
    link.symlink_to(written)
    write(link, {"b": 2}, {})
    assert link.is_symlink() and read(written, LIMIT)[0] == {"b": 2}


@pytest.mark.slow
def test_kill_during_save_leaves_a_whole_file(path):
    """Kill a process that alternately saves two models, at random moments."""
    program = """
        import os, signal, sys, time, numpy as np
        from cwboost.model_file.container import read, write
        pattern = np.arange(300_000) % 7
        write(sys.argv[1], {"i": 0}, {"x": pattern})
        for delay in sys.argv[2:]:
            child = os.fork()
            while not child:
                for i in (1, 0):
                    write(sys.argv[1], {"i": i}, {"x": i + pattern})
            time.sleep(float(delay))
            os.kill(child, signal.SIGKILL)
            assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
            header, arrays = read(sys.argv[1], 10**8)
            np.testing.assert_array_equal(arrays["x"], header["i"] + pattern)
            print(header["i"])
    """
    delays = [f"{delay:.3f}" for delay in np.random.default_rng(5).uniform(0.05, 0.4, 6)]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(path), *delays],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == len(delays)
