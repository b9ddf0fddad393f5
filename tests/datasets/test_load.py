"""Loading by name: formats found in a folder, checks against known figures, clear absence."""

import numpy as np
import pytest

from cwboost.datasets import DataAbsent, load, load_pendigits, load_vowel
from cwboost.datasets.catalogue import CATALOGUE


def save_pendigits(folder, change=None):
    parts = {}
    for part in ("train", "test"):
        parts[f"X_{part}"], parts[f"y_{part}"] = load_pendigits(subset=part, return_X_y=True)
    if change:
        change(parts)
    np.savez(folder / "PENDIGITS.npz", **parts)


@pytest.mark.parametrize("name", ["VOWEL", "vowel", "PENDIGITS"])
def test_bundled_sets_load_without_a_folder(name, tmp_path):
    for folder in (None, tmp_path):
        bunch = load(name, folder)
        assert bunch.format == "bundled"
        assert bunch.name == name.upper()
        assert len(bunch.target_names) == bunch.y_train.max() + 1


def test_npz_in_the_folder_or_in_its_subfolder(tmp_path):
    save_pendigits(tmp_path)
    assert load("PENDIGITS", tmp_path).format == "PENDIGITS.npz"
    inner = tmp_path / "other" / "pendigits"
    inner.mkdir(parents=True)
    save_pendigits(inner)
    bunch = load("PENDIGITS", str(tmp_path / "other"))
    assert bunch.format == "PENDIGITS.npz"
    assert np.array_equal(bunch.X_test, load_pendigits(subset="test").data)


def test_official_files_equal_the_bundled_copy(tmp_path):
    for part, name in (("train", "pendigits.tra"), ("test", "pendigits.tes")):
        X, y = load_pendigits(subset=part, return_X_y=True)
        np.savetxt(tmp_path / name, np.c_[X.astype(int), y], fmt="%3d", delimiter=",")
    bunch = load("PENDIGITS", tmp_path)
    assert bunch.format == "pendigits.tra, pendigits.tes"
    assert np.array_equal(bunch.X_train, load_pendigits(subset="train").data)
    assert np.array_equal(bunch.y_test, load_pendigits(subset="test").target)


def test_missing_examples_are_noticed_unless_the_check_is_off(tmp_path):
    def cut(parts):
        parts["X_train"], parts["y_train"] = parts["X_train"][:-1], parts["y_train"][:-1]

    save_pendigits(tmp_path, cut)
    with pytest.raises(ValueError, match=r"PENDIGITS: 7494 training examples per class expected"):
        load("PENDIGITS", tmp_path)
    assert len(load("PENDIGITS", tmp_path, check=False).X_train) == 7493


def test_changed_values_are_noticed(tmp_path):
    def scale(parts):
        parts["X_train"] = parts["X_train"] // 2

    save_pendigits(tmp_path, scale)
    with pytest.raises(ValueError, match="mean and standard deviation of the training values"):
        load("PENDIGITS", tmp_path)


def test_vowel_with_repeated_rows_is_noticed(tmp_path):
    # A widespread copy has the test part twice: 1,452 rows.
    X, y = load_vowel(return_X_y=True)
    X_test, y_test = load_vowel(subset="test", return_X_y=True)
    np.savez(tmp_path / "VOWEL.npz", X=np.r_[X, X_test], y=np.r_[y, y_test])
    with pytest.raises(ValueError, match=r"528 training examples per class expected .* got 1452"):
        load("VOWEL", tmp_path)


def test_mismatched_labels_are_refused(tmp_path):
    np.savez(tmp_path / "VOWEL.npz", X=np.ones((3, 10)), y=[0, 1])
    with pytest.raises(ValueError, match="with one label per row"):
        load("VOWEL", tmp_path)
    np.savez(tmp_path / "VOWEL.npz", X=np.ones((2, 10)), y=[-1, 1])
    with pytest.raises(ValueError, match="labels from 0"):
        load("VOWEL", tmp_path, check=False)


@pytest.mark.parametrize("name", sorted(set(CATALOGUE) - {"VOWEL", "PENDIGITS"}))
def test_absent_set_says_what_is_missing_and_where_to_get_it(name, tmp_path):
    with pytest.raises(DataAbsent) as caught:
        load(name, tmp_path)
    message = str(caught.value)
    assert str(tmp_path) in message
    assert all(files in message for files, _ in CATALOGUE[name].readers)
    assert "Get it from" in message
    assert (f"datasets fetch {name}" in message) == bool(CATALOGUE[name].remote)


def test_absent_folder_and_unknown_name(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        load("MNIST", tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"name must be one of CIFAR10.*; got 'IRIS'"):
        load("IRIS")
    with pytest.raises(TypeError, match="name must be a string, got 3"):
        load(3)


def test_catalogue_is_consistent():
    for name, dataset in CATALOGUE.items():
        assert dataset.name == name == name.upper()
        if dataset.test_counts and dataset.counts:
            assert len(dataset.counts) == len(dataset.test_counts)
        for remote in dataset.remote:
            assert remote.url.startswith("https://")
            if remote.known_hash is not None:
                algorithm, digits = remote.known_hash.split(":")
                assert len(digits) == {"md5": 32, "sha256": 64}[algorithm]
