"""Single entries of a matrix, whatever its layout, are those that NumPy and SciPy read."""

import numpy as np
import pytest
from cwboost._kernels.stumps.entries import Entries
from scipy import sparse


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_dense(dtype):
    X = np.random.default_rng(0).integers(0, 200, (14, 10)).astype(dtype)
    for layout in (X, np.asfortranarray(X), X[::2, 1::3], X[::-1], X.T):
        entry = Entries(layout)
        for (i, j), value in np.ndenumerate(layout):
            assert entry(i, j) == value


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_stored(dtype, index):
    X = sparse.random_array((20, 9), density=0.3, format="csc", rng=0, dtype=dtype)
    X.sort_indices()
    entry = Entries(X.data, X.indices.astype(index), X.indptr.astype(index))
    for (i, j), value in np.ndenumerate(X.toarray()):
        assert entry(i, j) == value
