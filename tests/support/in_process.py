"""Programs that print JSON, run in a process of their own."""

import json
import os
import subprocess
import sys

import numpy as np

from cwboost._kernels.common import cpu

# Functions of NumPy, BLAS and the C library as on an old processor, with and without fused
# multiply-add, and one thread of BLAS.
DISPATCHED = [name for name in np._core._multiarray_umath.__cpu_dispatch__
              if np._core._multiarray_umath.__cpu_features__[name]]  # fmt: skip
OLD_PROCESSOR = {
    "OPENBLAS_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Prescott",
    "CWBOOST_INSTRUCTION_SET": cpu.available()[-1],
    "NPY_DISABLE_CPU_FEATURES": " ".join(DISPATCHED),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4",
}


def json_under(environment, program, *arguments):
    """Return what a program prints under variables of the environment."""
    done = subprocess.run(
        [sys.executable, str(program), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
