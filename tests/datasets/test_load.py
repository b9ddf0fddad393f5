"""Loading by name: formats found in a folder, checks against known figures, clear absence."""

import numpy as np
import pytest

from cwboost.datasets import DataAbsent, load
from cwboost.datasets.catalogue import CATALOGUE, DataSet
from cwboost.datasets.formats import tables

SMALL = DataSet(
    "SMALL",
    "a set for these tests",
    "nowhere",
    ("zip.train, zip.test", tables.read_usps),
    n_features=2,
    counts=(2, 1),
    test_counts=(1, 1),
    moments=(2.5, 1.707825),
)


def save(folder, **changes):
    parts = {"X_train": np.arange(6.0).reshape(3, 2), "y_train": [0, 1, 0]}
    parts |= {"X_test": np.ones((2, 2)), "y_test": [1, 0]}
    np.savez(folder / "SMALL.npz", **parts | changes)


@pytest.mark.parametrize("name", ["VOWEL", "vowel", "PENDIGITS"])
def test_bundled_sets_load_without_a_folder(name, tmp_path):
    for folder in (None, tmp_path):
        bunch = load(name, folder)
        assert bunch.format == "bundled"
        assert bunch.name == name.upper()
        assert len(bunch.target_names) == bunch.y_train.max() + 1


def test_npz_in_the_folder_or_in_its_subfolder(tmp_path):
    for name in ("", "SMALL", "small"):
        folder = tmp_path / f"in {name}" / name
        folder.mkdir(parents=True)
        save(folder)
        bunch = load(SMALL, str(tmp_path / f"in {name}"))
        assert bunch.format == "SMALL.npz" and bunch.y_train.dtype == np.int64
        assert list(bunch.target_names) == ["0", "1"]


@pytest.mark.parametrize(
    ("changes", "check", "message"),
    [
        (
            {"y_train": [0, 1, 1]},
            True,
            r" must have 3 training examples per class as \[2, 1\], got 3",
        ),
        ({"y_test": [1, 1]}, True, " must have 2 test examples per class"),
        ({"X_train": np.ones((3, 2))}, True, " must have training values of mean"),
        ({"X_train": np.ones((3, 3))}, True, " must have 2 features, got 3"),
        ({"y_train": [0, 1]}, False, ":.* with one label per row"),
        ({"y_train": [0, 1, -1]}, False, ":.* labels from 0"),
    ],
)
def test_figures_of_the_source_are_compared_unless_the_check_is_off(
    tmp_path, changes, check, message
):
    save(tmp_path, **changes)
    with pytest.raises(ValueError, match=f"SMALL{message}"):
        load(SMALL, tmp_path, check=check)
    if check:
        assert len(load(SMALL, tmp_path, check=False).X_train) == 3


@pytest.mark.parametrize("name", sorted(set(CATALOGUE) - {"VOWEL", "PENDIGITS"}))
def test_absent_set_says_what_is_missing_and_where_to_get_it(name, tmp_path):
    with pytest.raises(DataAbsent) as caught:
        load(name, tmp_path)
    message = str(caught.value)
    assert str(tmp_path) in message
    assert all(files in message for files in (CATALOGUE[name].official or [f"{name}.npz"])[:1])
    assert "Get it from" in message
    assert (f"datasets fetch {name}" in message) == bool(CATALOGUE[name].remote)


def test_absent_folder_and_unknown_name(tmp_path):
    with pytest.raises(FileNotFoundError, match="must be a folder"):
        load("MNIST", tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"name must be one of CIFAR10.*, got 'IRIS'"):
        load("IRIS")
    with pytest.raises(ValueError, match=r"name must be one of .*, got 3"):
        load(3)


def test_catalogue_is_consistent():
    for name, dataset in CATALOGUE.items():
        assert dataset.name == name == name.upper()
        if dataset.test_counts and dataset.counts:
            assert len(dataset.counts) == len(dataset.test_counts)
        for url, known_hash in dataset.remote.items():
            assert url.startswith("https://")
            if known_hash is not None:
                algorithm, digits = known_hash.split(":")
                assert len(digits) == {"md5": 32, "sha256": 64}[algorithm]
