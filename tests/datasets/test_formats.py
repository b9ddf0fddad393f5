"""Readers of the official formats, tested on small files in the publishers' formats."""

import gzip
import io
import struct
from pathlib import PurePath

import numpy as np
import pytest

from cwboost.datasets.formats import cifar, idx, images, npz, tables
from cwboost.datasets.formats.files import read_packed


def test_npz_keeps_arrays_and_names_classes(tmp_path):
    np.savez(tmp_path / "A.npz", X=np.ones((3, 2)), y=[0, 1, 1], classes=np.array(["a", "b"]))
    arrays = npz.read_npz(tmp_path / "A.npz")
    assert arrays["X"].shape == (3, 2)
    assert list(arrays["target_names"]) == ["a", "b"]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_isolet_counts_its_classes_from_one(tmp_path, rng, suffix):
    X = np.round(rng.uniform(-1, 1, size=(3, 617)), 4)
    for name, rows in (("isolet1+2+3+4.data", [0, 1, 2]), ("isolet5.data", [2])):
        text = "".join(", ".join(f"{v:.4f}" for v in X[i]) + f", {i + 1}.\n" for i in rows)
        data = text.encode()
        (tmp_path / (name + suffix)).write_bytes(gzip.compress(data) if suffix else data)
    arrays = tables.read_isolet(tmp_path)
    assert np.array_equal(arrays["X_train"], X.astype(np.float32))
    assert np.array_equal(arrays["y_train"], [0, 1, 2])
    assert np.array_equal(arrays["y_test"], [2])


def test_usps_rescales_values_to_the_unit_interval(tmp_path, rng):
    X = np.round(rng.uniform(-1, 1, size=(3, 256)), 3)
    rows = [[f"{d:.4f}", *(f"{v:.3f}" for v in x)] for d, x in zip((6, 0, 9), X)]
    text = "".join(" ".join(row) + " \n" for row in rows).encode()
    (tmp_path / "zip.train.gz").write_bytes(gzip.compress(text))
    (tmp_path / "zip.test").write_bytes(text)
    arrays = tables.read_usps(tmp_path)
    assert arrays["X_train"].dtype == np.float32
    assert np.allclose(arrays["X_train"], (X + 1) / 2, atol=1e-7)
    assert np.array_equal(arrays["y_test"], [6, 0, 9])


def test_unix_compress_is_read(tmp_path):
    pytest.importorskip("unlzw3")
    # As the program writes it: codes of nine bits, least significant first.
    codes = [*b"abab", 258, 256, *b"x"]
    bits = sum(code << (9 * place) for place, code in enumerate(codes[:5]))
    path = tmp_path / "a.Z"
    path.write_bytes(b"\x1f\x9d\x90" + bits.to_bytes(6, "little"))
    assert read_packed(path) == b"ababba"
    path.write_bytes(b"not compressed")
    with pytest.raises(ValueError, match=r"a\.Z must be a whole"):
        read_packed(path)


def idx_bytes(array):
    return struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_mnist(folder, rng, pack=gzip.compress, suffix=".gz"):
    X = rng.integers(0, 256, size=(4, 28, 28), dtype=np.uint8)
    y = np.array([3, 1, 4, 1], dtype=np.uint8)
    for prefix, rows in (("train", slice(None)), ("t10k", slice(2))):
        for kind, array in (("images-idx3", X[rows]), ("labels-idx1", y[rows])):
            (folder / f"{prefix}-{kind}-ubyte{suffix}").write_bytes(pack(idx_bytes(array)))
    return X, y


@pytest.mark.parametrize("packed", [True, False])
def test_mnist_idx(tmp_path, rng, packed):
    X, y = write_mnist(tmp_path, rng, *(() if packed else (bytes, "")))
    arrays = idx.read_mnist(tmp_path)
    assert np.array_equal(arrays["X_train"], X.reshape(4, 784))
    assert np.array_equal(arrays["y_train"], y)
    assert arrays["X_test"].shape == (2, 784)


def test_cifar_takes_the_batches_that_are_there(tmp_path, rng):
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    rows = rng.integers(0, 10, size=(4, 2, 3073)).astype(np.uint8)
    for name, batch in zip(("data_batch_1", "data_batch_2", "data_batch_4", "test_batch"), rows):
        batch.tofile(folder / f"{name}.bin")
    arrays = cifar.read_cifar10(tmp_path)
    assert np.array_equal(arrays["X_train"], np.concatenate(rows[:2])[:, 1:])
    assert np.array_equal(arrays["y_train"], np.concatenate(rows[:2])[:, 0])
    assert np.array_equal(arrays["X_test"], rows[3, :, 1:])


def write_image(path, grey, size=(20, 12)):
    image = pytest.importorskip("PIL.Image")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.new("RGB", size, (grey, grey, grey)).save(path)


def test_the_folders_of_images_are_the_classes(tmp_path, monkeypatch):
    monkeypatch.setattr(PurePath, "__lt__", lambda a, b: str(a).lower() < str(b).lower())  # Windows
    for label, name in enumerate(("Zoo", "abbey", "cabin/outdoor")):
        for number in range(label + 1):
            write_image(tmp_path / "A" / name / f"image_{number}.png", 10 * label + number)
    (tmp_path / "A" / "abbey" / "notes.txt").touch()
    arrays = images.folders("A", 8)(tmp_path)
    assert list(arrays["target_names"]) == ["Zoo", "abbey", "cabin"]
    assert np.array_equal(arrays["y"], [0, 1, 1, 2, 2, 2])
    assert np.array_equal(arrays["X"][:, 0], [0, 10, 11, 20, 21, 22])


def test_gtsrb_final_folders(tmp_path):
    folder = tmp_path / "GTSRB"
    for label in (0, 1):
        for track in (0, 1):
            stem = f"{label:05d}/{track:05d}_00000"
            write_image(folder / f"Final_Training/Images/{stem}.ppm", 100 * label + track)
    for number in (0, 1, 2):
        write_image(folder / f"Final_Test/Images/{number:05d}.ppm", number)
    header = "Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId\n"
    rows = [f"{n:05d}.ppm;20;12;2;2;18;10;{n % 2}\n" for n in (0, 1, 2)]
    (folder / "GT-final_test.csv").write_text(header + "".join(rows), "ascii")
    arrays = images.read_gtsrb(tmp_path, side=8)
    assert np.array_equal(arrays["y_train"], [0, 0, 1, 1])
    assert np.array_equal(arrays["X_train"][:, 0], [0, 1, 100, 101])
    assert np.array_equal(arrays["y_test"], [0, 1, 0])


def npz_bytes(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def read_npz(folder):
    return npz.read_npz(folder / "A.npz")


ROW = b" ".join([b"1"] * 257)
IDX = "train-images-idx3-ubyte"
HEAD = b"\0\0\x08"
CIFAR = "data_batch_1.bin"
NO_BATCH = r"data_batch_1\.bin must be a batch of CIFAR-10"
DAMAGED = [
    (read_npz, "A.npz", npz_bytes(X=np.ones((3, 2))), "must hold X_train.*, got X"),
    (read_npz, "A.npz", npz_bytes(X=np.array([{}]), y=[0]), "must be an NPZ file"),
    (tables.read_usps, "zip.train", b"", "must have 257 columns, got"),
    (tables.read_usps, "zip.train", b"1 2 3\n", "must have 257 columns, got 3"),
    (tables.read_usps, "zip.train", b"1 2 three\n", "must be a table of numbers"),
    (tables.read_usps, "zip.train", b"1 2\n1 2 3\n", "must be a table of numbers"),
    (tables.read_usps, "zip.train", b"\xff\n", "must be a table of numbers"),
    (tables.read_usps, "zip.train", ROW, r"lacks zip\.test or zip\.test\.gz"),
    (idx.read_mnist, IDX, b"", "must be an IDX file"),
    (idx.read_mnist, IDX, b"\0\0\x0d\x01" + bytes(8), "must be an IDX file of unsigned bytes"),
    (idx.read_mnist, IDX, HEAD + b"\x03\0\0", "must be an IDX file"),
    (idx.read_mnist, IDX, HEAD + struct.pack(">BI", 1, 5) + b"abcd", r"for shape \[5\], got 4"),
    (
        idx.read_mnist,
        IDX,
        HEAD + struct.pack(">B3I", 3, *[2**32 - 1] * 3) + b"a",
        "must have bytes for .*, got 1",
    ),
    (idx.read_mnist, f"{IDX}.gz", gzip.compress(bytes(99))[:-20], r"ubyte\.gz must be a whole"),
    (cifar.read_cifar10, CIFAR, b"", NO_BATCH),
    (cifar.read_cifar10, CIFAR, bytes(3072), NO_BATCH),
    (cifar.read_cifar10, CIFAR, bytes([10]) + bytes(3072), NO_BATCH),
    (images.folders("A", 8), "A/b/c.jpg", b"not an image", r"c\.jpg must be an image"),
]


@pytest.mark.parametrize(("read", "name", "content", "message"), DAMAGED)
@pytest.mark.filterwarnings("ignore:loadtxt")
def test_a_damaged_file_is_named(tmp_path, read, name, content, message):
    if name.endswith("jpg"):
        pytest.importorskip("PIL.Image")
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read(tmp_path)
