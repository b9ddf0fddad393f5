"""Models, scores, probabilities and histories do not depend on where a program runs."""

from pathlib import Path

import pytest
from in_process import OLD_PROCESSOR, json_under

PROGRAM = Path(__file__).with_name("hash_held_out.py")


@pytest.mark.slow
def test_more_than_ten_thousand_rows_held_out():
    """Here, and in workers of loky on an old processor."""
    here = json_under({"OPENBLAS_NUM_THREADS": "2"}, PROGRAM, "main")
    assert json_under(OLD_PROCESSOR, PROGRAM, "loky") == here
