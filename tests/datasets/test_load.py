"""Loading by name: formats found in a folder, checks against known figures, clear absence."""

from importlib import resources

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from cwboost.datasets import DataAbsent, load, load_annealing, load_pendigits, load_vowel
from cwboost.datasets.catalogue import CATALOGUE, DataSet, find
from cwboost.datasets.formats import tables
from cwboost.experiments.features import image_features

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
    save(tmp_path, y_test=[2, 0])
    assert list(load(SMALL, tmp_path, check=False).target_names) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("changes", "check", "message"),
    [
        ({"y_train": [0, 1, 1]}, True, r" must have 3 training .* class as \[2, 1\], got 3"),
        ({"y_test": [1, 1]}, True, " must have 2 test examples per class"),
        ({"X_train": np.ones((3, 2))}, True, " must have training values of mean"),
        (
            {"X_train": np.ones((3, 3)), "X_test": np.ones((2, 3))},
            True,
            " must have 2 features, got 3",
        ),
        ({"y_train": [0, 1]}, False, ":.* with one label per row"),
        *(
            ({"y_train": y}, False, ": y_train must hold whole labels from 0")
            for y in ([0, 1, -1], [0, 1, 0.5], [0, 1, np.nan], list("010"))
        ),
        ({"X_train": np.ones((0, 2)), "y_train": []}, False, ": y_train must hold whole labels"),
        ({"X_test": np.ones((2, 3))}, False, ": X_test must have 2 columns, got 3"),
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


LOADERS = {
    load_vowel: {"n": (528, 462), "d": 10, "k": 11, "dtype": np.float64, "accuracy": 0.5628},
    load_pendigits: {"n": (7494, 3498), "d": 16, "k": 10, "dtype": np.uint8, "accuracy": 0.9774},
}


@pytest.mark.parametrize("loader", LOADERS)
def test_bundled_set_has_the_counts_and_the_nearest_neighbours_of_its_source(loader):
    known = LOADERS[loader]
    bunch = loader()
    assert bunch.data.shape == (sum(known["n"]), known["d"])
    assert bunch.data.dtype == known["dtype"]
    assert bunch.target.dtype == np.int64
    assert np.array_equal(np.unique(bunch.target), np.arange(known["k"]))
    assert len(bunch.target_names) == known["k"]
    assert len(bunch.feature_names) == known["d"]
    assert bunch.is_test.sum() == known["n"][1]
    assert "CC BY 4.0" in bunch.DESCR and "doi.org" in bunch.DESCR
    for subset, is_test in (("train", False), ("test", True)):
        part = loader(subset=subset)
        assert np.array_equal(part.data, bunch.data[bunch.is_test == is_test])
        assert np.array_equal(part.target, bunch.target[bunch.is_test == is_test])
        assert np.all(part.is_test == is_test)
    X, y = loader(subset="train", return_X_y=True)
    nearest = KNeighborsClassifier(1).fit(X.astype(float), y)
    # The known figure is rounded to 0.01 %: half of that is 5e-5.
    accuracy = nearest.score(part.data.astype(float), part.target)
    assert accuracy == pytest.approx(known["accuracy"], abs=5e-5)


def test_annealing_has_the_counts_of_its_source_and_its_frame_the_same_cells():
    pd = pytest.importorskip("pandas")
    bunch, (frame, y) = load_annealing(), load_annealing(as_frame=True, return_X_y=True)
    assert bunch.data.shape == (898, 31) and bunch.data.dtype == np.float64
    counts = dict(zip(bunch.target_names.tolist(), np.bincount(bunch.target).tolist()))
    assert counts == {"1": 8, "2": 99, "3": 684, "5": 67, "U": 40}
    assert bunch.is_categorical.sum() == 25 == len(bunch.categories)
    assert np.isnan(bunch.data).any(axis=0).sum() == 23
    assert "CC BY 4.0" in bunch.DESCR and "doi.org" in bunch.DESCR
    assert np.array_equal(y, bunch.target)
    assert list(frame) == bunch.feature_names
    for j, name in enumerate(frame):
        column = frame[name]
        assert isinstance(column.dtype, pd.CategoricalDtype) == bunch.is_categorical[j]
        if bunch.is_categorical[j]:
            assert list(column.cat.categories) == list(bunch.categories[name])
            column = column.cat.codes.replace(-1, np.nan)
        assert np.array_equal(column.astype(float), bunch.data[:, j], equal_nan=True)


def test_attribution_is_installed_with_the_data():
    text = resources.files("cwboost.datasets.data").joinpath("ATTRIBUTION.md").read_text("utf-8")
    assert "CC BY 4.0" in text
    for source in ("10.24432/C58P4S", "10.24432/C5MG6K", "10.24432/C5RW2F"):
        assert source in text


def test_grey_images_may_have_another_square_size(tmp_path):
    counts = find("SCENE15").counts
    y = np.repeat(np.arange(15), counts)

    def written(n_columns):
        X = np.zeros((len(y), n_columns), dtype=np.uint8)
        np.savez_compressed(tmp_path / "SCENE15.npz", X=X, y=y)
        return load("SCENE15", tmp_path)

    assert written(32 * 32).image_shape == (32, 32)
    for n_columns in (33 * 32, 31 * 31):
        message = (
            r"rows of 256 x 256 pixels \(65,536 columns\), or of other squares from 32 x 32 on"
        )
        with pytest.raises(ValueError, match=f"SCENE15 must have {message}, got {n_columns:,}"):
            written(n_columns)
    with pytest.raises(ValueError, match="image_shape must be 32 x 32 or 128 x 128 pixels for HOG"):
        image_features.hog(np.zeros((2, 64 * 64)), (64, 64))
