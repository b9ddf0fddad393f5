"""CIFAR-10's pickles: read as data, whatever they hold."""

import contextlib
import pickle

import numpy as np
import pytest

from cwboost.datasets.formats import cifar


@pytest.fixture
def rng():
    return np.random.default_rng(0)


class _Harmful:
    def __reduce__(self):
        return (print, ("run by a data file",))


def write_batches(folder, rng, names):
    made = {}
    for name in names:
        data = rng.integers(0, 256, size=(3, 3072), dtype=np.uint8)
        batch = {b"data": data, b"labels": [0, 9, 4], b"batch_label": b"x"}
        # Protocol 2, as in the published files.
        (folder / name).write_bytes(pickle.dumps(batch, protocol=2))
        made[name] = data
    return made


def test_cifar_batches_in_order(tmp_path, rng):
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    made = write_batches(folder, rng, ["data_batch_1", "data_batch_2", "test_batch"])
    arrays = cifar.read_cifar10(tmp_path)
    assert np.array_equal(
        arrays["X_train"], np.concatenate([made["data_batch_1"], made["data_batch_2"]])
    )
    assert np.array_equal(arrays["y_test"], [0, 9, 4])
    assert np.array_equal(cifar.read_cifar10(folder)["X_test"], made["test_batch"])


def test_cifar_with_a_batch_missing_between_is_refused(tmp_path, rng):
    write_batches(tmp_path, rng, ["data_batch_1", "data_batch_3", "test_batch"])
    with pytest.raises(ValueError, match="lacks a data_batch before data_batch_3"):
        cifar.read_cifar10(tmp_path)


def test_cifar_pickle_cannot_run_code(tmp_path, rng, capsys):
    write_batches(tmp_path, rng, ["data_batch_1", "test_batch"])
    (tmp_path / "data_batch_1").write_bytes(pickle.dumps({b"data": _Harmful(), b"labels": []}))
    with pytest.raises(ValueError, match="a data file must not refer to"):
        cifar.read_cifar10(tmp_path)
    assert capsys.readouterr().out == ""


class _Call:
    """Pickles as a call of a function that the reader lets a file name."""

    def __init__(self, function, arguments, state=None):
        self.parts = function, arguments, state

    def __reduce__(self):
        return self.parts


def _pointers():
    """An array of objects whose bytes are pointers, in three disguises."""
    reconstruct = np._core.multiarray._reconstruct
    start = reconstruct, (np.ndarray, (0,), b"b")
    objects = np.dtype("O")
    raw = b"\x41" * 24
    yield _Call(*start, (1, (3,), objects, False, raw))
    yield _Call(*start, (1, (3,), np.dtype([("a", "O")]), False, raw))
    yield _Call(*start, (1, (1,), _Call(np.dtype, ("u1", False, True)), False, [1, 2]))
    yield _Call(np.ndarray, ((3,), objects))
    yield _Call(*start, (1, (2**40, 3072), np.dtype("u1"), False, raw))
    yield _Call(*start, (1, (-1, -24), np.dtype("u1"), False, raw))


@pytest.mark.parametrize("data", _pointers(), ids=range(6))
def test_cifar_pickle_cannot_name_memory(tmp_path, rng, data):
    write_batches(tmp_path, rng, ["data_batch_1", "test_batch"])
    batch = pickle.dumps({b"data": data, b"labels": [1, 2, 3]}, protocol=2)
    (tmp_path / "data_batch_1").write_bytes(batch)
    with pytest.raises(ValueError, match="not a batch of CIFAR-10"):
        cifar.read_cifar10(tmp_path)


def test_cifar_pickle_with_a_bit_changed_is_refused_or_read(tmp_path, rng):
    write_batches(tmp_path, rng, ["data_batch_1", "test_batch"])
    whole = (tmp_path / "data_batch_1").read_bytes()
    # Its structure: what stands before and behind the pixels.
    places = [i for i in range(len(whole)) if i < 300 or i > len(whole) - 120]
    for _ in range(500):
        changed = bytearray(whole)
        changed[rng.choice(places)] = rng.integers(256)
        (tmp_path / "data_batch_1").write_bytes(bytes(changed))
        with contextlib.suppress(ValueError):
            assert cifar.read_cifar10(tmp_path)["X_train"].shape == (3, 3072)
