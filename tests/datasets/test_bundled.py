"""The bundled data equal their sources: counts, splits, known 1-NN accuracies, attribution."""

from importlib import resources

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from cwboost.datasets import load_pendigits, load_vowel

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


@pytest.mark.parametrize("loader", LOADERS)
def test_split_of_the_source_gives_the_known_nearest_neighbour_accuracy(loader):
    X, y = loader(subset="train", return_X_y=True)
    X_test, y_test = loader(subset="test", return_X_y=True)
    nearest = KNeighborsClassifier(1).fit(X.astype(float), y)
    # The known figure is rounded to 0.01 %: half of that is 5e-5.
    assert nearest.score(X_test.astype(float), y_test) == pytest.approx(
        LOADERS[loader]["accuracy"], abs=5e-5
    )


@pytest.mark.parametrize("loader", LOADERS)
def test_parts_make_up_the_whole(loader):
    whole = loader()
    for subset, is_test in (("train", False), ("test", True)):
        part = loader(subset=subset)
        assert np.array_equal(part.data, whole.data[whole.is_test == is_test])
        assert np.array_equal(part.target, whole.target[whole.is_test == is_test])
        assert np.all(part.is_test == is_test)


def test_vowel_has_distinct_rows_and_ninety_examples_per_class():
    bunch = load_vowel()
    assert len(np.unique(bunch.data, axis=0)) == 990
    assert np.array_equal(np.bincount(bunch.target), np.full(11, 90))


def test_unknown_subset_is_refused():
    with pytest.raises(ValueError, match=r"subset must be one of all, train, test; got 'dev'"):
        load_vowel(subset="dev")


def test_attribution_is_installed_with_the_data():
    text = resources.files("cwboost.datasets.data").joinpath("ATTRIBUTION.md").read_text("utf-8")
    assert "CC BY 4.0" in text
    assert "10.24432/C58P4S" in text and "10.24432/C5MG6K" in text
