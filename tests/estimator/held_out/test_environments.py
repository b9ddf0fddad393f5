"""Models, scores, probabilities and histories do not depend on where a program runs."""

from pathlib import Path

import pytest
from in_process import OLD_PROCESSOR, json_under

PROGRAM = Path(__file__).with_name("hash_held_out.py")
ENVIRONMENTS = {"an old processor": (OLD_PROCESSOR, "main"), "a worker of loky": ({}, "loky")}


@pytest.fixture(scope="module")
def here():
    return json_under({"OPENBLAS_NUM_THREADS": "2"}, PROGRAM, "main")


@pytest.mark.slow
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_more_than_ten_thousand_rows_held_out(name, here):
    environment, where = ENVIRONMENTS[name]
    assert json_under(environment, PROGRAM, where) == here
