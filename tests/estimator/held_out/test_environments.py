"""Models, scores, probabilities and histories do not depend on where a program runs."""

import hash_held_out
import pytest
from in_process import OLD_PROCESSOR, json_under
from threadpoolctl import threadpool_limits


@pytest.mark.slow
def test_more_than_ten_thousand_rows_held_out():
    """Here, with two threads of BLAS, and in a process on an old processor."""
    with threadpool_limits(2, "blas"):
        here = {name: hash_held_out.hashes(name) for name in hash_held_out.NAMES}
    assert json_under(OLD_PROCESSOR, hash_held_out.__file__) == here
