"""Exact sums of weights per bin, compared with NumPy, at every number of targets of one pass."""

import numpy as np
import pytest

from cwboost._kernels.partitions.bin_sums import bin_sums


@pytest.mark.parametrize("n_targets", [1, 2, 3, 6, 8, 9, 12, 13, 16, 17])
def test_sums_and_squares_are_exact(n_targets):
    rng = np.random.default_rng(0)
    weights, scales = (
        rng.normal(size=(n_targets, 301)),
        np.ldexp(1.0, rng.integers(30, 40, n_targets)),
    )
    codes, starts = rng.integers(0, 7, (2, 301), dtype=np.uint8), np.array([0, 7, 14])
    rounded, coarse = (np.rint(weights * by[:, None]) for by in (scales, scales * 2.0**-26))
    wanted = [rounded[:, feature == code].sum(axis=1) for feature in codes for code in range(7)]
    sums, squares = bin_sums(weights, scales, codes, starts)
    np.testing.assert_array_equal(sums, wanted)
    np.testing.assert_array_equal(squares, (coarse**2).sum(axis=1))
