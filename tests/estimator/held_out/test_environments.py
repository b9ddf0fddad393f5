"""Models, scores, probabilities and histories do not depend on where a program runs."""

from pathlib import Path

import numpy as np
import pytest
from in_process import json_under

from cwboost._kernels.common import cpu

# Of NumPy's functions and of the C library's, with and without fused multiply-add.
DISPATCHED = [name for name in np._core._multiarray_umath.__cpu_dispatch__
              if np._core._multiarray_umath.__cpu_features__[name]]  # fmt: skip
PROGRAM = Path(__file__).with_name("hash_held_out.py")
ENVIRONMENTS = {
    "one thread of BLAS": ({"OPENBLAS_NUM_THREADS": "1"}, "main"),
    "another processor": (
        {
            "OPENBLAS_CORETYPE": "Prescott",
            "CWBOOST_INSTRUCTION_SET": cpu.available()[-1],
            "NPY_DISABLE_CPU_FEATURES": " ".join(DISPATCHED),
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4",
        },
        "main",
    ),
    "a worker of loky": ({}, "loky"),
}


@pytest.fixture(scope="module")
def here():
    return json_under({"OPENBLAS_NUM_THREADS": "2"}, PROGRAM, "main")


@pytest.mark.slow
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_more_than_ten_thousand_rows_held_out(name, here):
    environment, where = ENVIRONMENTS[name]
    assert json_under(environment, PROGRAM, where) == here
