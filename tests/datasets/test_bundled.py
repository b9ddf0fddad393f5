"""The bundled data equal their sources: counts, splits, known 1-NN accuracies, attribution."""

from importlib import resources

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from cwboost.datasets import load_annealing, load_pendigits, load_vowel

LOADERS = {
    load_vowel: {"n": (528, 462), "d": 10, "k": 11, "dtype": np.float64, "accuracy": 0.5628},
    load_pendigits: {"n": (7494, 3498), "d": 16, "k": 10, "dtype": np.uint8, "accuracy": 0.9774},
}


@pytest.mark.parametrize("loader", LOADERS)
def test_bundled_set_has_the_counts_of_its_source(loader):
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


@pytest.mark.parametrize("loader", LOADERS)
def test_split_of_the_source_gives_the_known_nearest_neighbour_accuracy(loader):
    X, y = loader(subset="train", return_X_y=True)
    X_test, y_test = loader(subset="test", return_X_y=True)
    nearest = KNeighborsClassifier(1).fit(X.astype(float), y)
    # The known figure is rounded to 0.01 %: half of that is 5e-5.
    assert nearest.score(X_test.astype(float), y_test) == pytest.approx(
        LOADERS[loader]["accuracy"], abs=5e-5
    )


def test_unknown_subset_is_refused():
    with pytest.raises(ValueError, match=r"subset must be one of all, train, test, got 'dev'"):
        load_vowel(subset="dev")


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
