"""The inverse of a Cholesky factor, with the same bits on every machine."""

import numpy as np
import pytest

from cwboost.kernels import inverse_factor
from cwboost.kernels.projector import LEAF


@pytest.mark.parametrize("m", [1, 5, LEAF, LEAF + 1, 3 * LEAF + 7])
def test_inverse_factor(m):
    rng = np.random.default_rng(m)
    S = rng.normal(size=(m + 3, m))
    A = S.T @ S + 0.1 * np.eye(m)
    B = inverse_factor(A)
    assert (np.triu(B, 1) == 0).all()
    np.testing.assert_allclose(B @ A @ B.T, np.eye(m), atol=1e-9)
    assert np.array_equal(B, inverse_factor(A, n_threads=2))


@pytest.mark.parametrize("m", [4, 2 * LEAF])
def test_a_matrix_that_is_not_positive_definite(m):
    A = np.eye(m)
    A[m - 1, m - 1] = -1
    with pytest.raises(ValueError, match="not positive definite"):
        inverse_factor(A)
