"""Models, scores, probabilities and histories do not depend on where a program runs."""

import hash_fits
import pytest
from in_process import OLD_PROCESSOR, json_under
from threadpoolctl import threadpool_limits


@pytest.mark.slow
def test_the_same_bits_whatever_the_kernels_of_blas_and_numpy():
    """Here, with two threads of BLAS, and in a process on an old processor."""
    with threadpool_limits(2, "blas"):
        here = hash_fits.every_hash()
    assert json_under(OLD_PROCESSOR, hash_fits.__file__) == here
