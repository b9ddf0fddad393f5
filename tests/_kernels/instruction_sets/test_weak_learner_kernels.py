"""Kernels of weak learners and kernel values: the same bits under every instruction set."""

from pathlib import Path

import pytest
from in_process import json_under

from cwboost._kernels.common import cpu

PROGRAM = Path(__file__).resolve().parents[2] / "support" / "kernel_bits.py"


def hashes(name):
    found = json_under({"CWBOOST_INSTRUCTION_SET": name}, PROGRAM)
    assert found["instruction_set"] == name
    return found["hashes"]


@pytest.fixture(scope="module")
def plain():
    return hashes("plain")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(cpu.available()) - {"plain"}))
def test_bits_equal_those_of_plain_c(plain, name):
    found = hashes(name)
    assert {kernel for kernel in plain if found[kernel] != plain[kernel]} == set()
