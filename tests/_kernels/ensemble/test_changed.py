"""The coefficients that changed are those that NumPy finds; new columns count as changed."""

import numpy as np
import pytest
from cwboost._kernels.ensemble.changed import assign, changed


@pytest.mark.parametrize("width", [1, 7, 16, 200])
@pytest.mark.parametrize("share", [0.0, 0.02, 1.0])
def test_changed(width, share):
    rng = np.random.default_rng(0)
    recorded, ids = rng.random((5, width)), rng.permutation(5 * width).reshape(5, width)
    coef = np.where(rng.random((5, width)) < share, recorded + 1.0, recorded)
    recorded[2, width // 2] = np.nan
    places, of_places, classes, values, before = changed(coef, recorded, ids)
    expected = np.flatnonzero(coef != recorded)
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(of_places, ids.ravel()[expected])
    np.testing.assert_array_equal(classes, expected // width)
    np.testing.assert_array_equal(values, coef.ravel()[expected])
    np.testing.assert_array_equal(before, recorded.ravel()[expected])


def test_shapes_and_layouts():
    coef, ids = np.zeros((3, 4)), np.zeros((3, 4), dtype=np.int64)
    with pytest.raises(ValueError, match=r"float64 of shape \(3, 4\), got float64 of shape \(3, 5"):
        changed(coef, np.zeros((3, 5)), ids)
    with pytest.raises(ValueError, match="in one piece"):
        changed(coef, np.zeros((4, 3)).T, ids)
    with pytest.raises(ValueError, match="int64 of shape"):
        changed(coef, coef, coef)


def test_assign():
    recorded, ids = np.zeros((3, 4)), np.zeros((3, 4), dtype=np.int64)
    assign(recorded, ids, np.array([0, 2, 2]), [3, 0, 1], np.arange(9)[5:8])
    np.testing.assert_array_equal(ids, [[0, 0, 0, 5], [0, 0, 0, 0], [6, 7, 0, 0]])
    np.testing.assert_array_equal(np.isnan(recorded), ids > 0)
    for place in ([3], [0]), ([-1], [0]), ([0], [4]), ([0], [-1]):
        with pytest.raises(IndexError, match="no column"):
            assign(recorded, ids, *place, [9])
