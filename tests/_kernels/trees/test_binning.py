"""Codes of values, compared with NumPy's search, at every number of bins and with every stride."""

import numpy as np
import pytest
from cwboost._kernels.trees.binning import encode_columns, encode_entries
from scipy.sparse import csr_array

from cwboost.kernels import BinnedMatrix, Bins, FeatureSketch, binned_matrix


def wanted_codes(values, highest):
    codes = np.searchsorted(highest[:-1], values, side="left")
    return np.where(np.isnan(values), len(highest), codes)


def values_around(highest, n, rng):
    at = rng.choice(highest, n)
    moved = np.nextafter(at, rng.choice([-np.inf, np.inf], n))
    values = np.where(rng.random(n) < 0.5, at, moved)
    values[: n // 8] = rng.choice([np.nan, -1e300, 1e300, -np.inf, np.inf, 0.0, -0.0], n // 8)
    return rng.permutation(values)


@pytest.mark.parametrize("n_bins", [1, 2, 15, 16, 17, 32, 33, 128, 255, 256])
@pytest.mark.parametrize("n", [1, 15, 256, 700])
def test_codes_of_columns_and_entries(n_bins, n):
    rng = np.random.default_rng(n_bins)
    highest = np.sort(rng.normal(size=n_bins))
    values = values_around(highest, n, rng)
    wanted = wanted_codes(values, highest)
    if n_bins == 256:
        values, wanted = values[~np.isnan(values)], wanted[~np.isnan(values)]
    starts = np.array([0, n_bins])
    wide = np.zeros((len(values), 3))
    wide[:, 1] = values
    for columns in (values[None], wide.T[1:2]):
        codes = np.empty((1, len(values)), dtype=np.uint8)
        encode_columns(columns, highest, starts, codes, 1)
        np.testing.assert_array_equal(codes[0], wanted)
    codes = np.empty(len(values), dtype=np.uint8)
    encode_entries(values, np.array([0, len(values)]), highest, starts, codes, 1)
    np.testing.assert_array_equal(codes, wanted)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_columns_of_several_features_with_two_threads(dtype):
    X = np.random.default_rng(0).integers(0, 200, (1_000, 5)).astype(dtype)
    highest = np.tile(np.arange(10, 210, 10.0), 5)
    starts = np.arange(6) * 20
    wanted = np.searchsorted(np.arange(10, 200, 10.0), X.T)
    for n_threads in (1, 2):
        codes = np.empty((5, 1_000), dtype=np.uint8)
        encode_columns(X.T, highest, starts, codes, n_threads)
        np.testing.assert_array_equal(codes, wanted)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, csr_array])
def test_rows_in_another_order_have_the_codes_of_a_copy(form, monkeypatch):
    monkeypatch.setattr(binned_matrix, "_BLOCK_BYTES", 1_000)
    X = np.random.default_rng(0).integers(0, 200, (300, 4)).astype(np.float32)
    rows = np.random.default_rng(1).permutation(300)
    found, expected = BinnedMatrix(form(X), rows=rows), BinnedMatrix(form(X)[rows])
    np.testing.assert_array_equal(found.codes, expected.codes)
    for one, other in zip(found.lists(), expected.lists()):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_parts", [1, 4])
def test_bins_hold_about_equal_numbers(n_parts):
    """Of the values of all partitions."""
    x = np.random.default_rng(0).normal(size=(12_000, 2)).astype(np.float32)
    parts = np.array_split(x, n_parts)
    bins = Bins.from_sketches([FeatureSketch.of(part, 256) for part in parts], 64)
    codes = np.hstack([BinnedMatrix(part, bins)._columns for part in parts])
    for of_feature in codes:
        counts = np.bincount(of_feature, minlength=64)
        assert counts.min() > 0.6 * counts.mean() and counts.max() < 1.5 * counts.mean()
