"""Programs that run in a process of their own."""

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


def output_of(*arguments, **options):
    """Return what Python prints if it is called with these arguments; it must succeed."""
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def json_under(environment, program):
    """Return what a program prints under variables of the environment."""
    return json.loads(output_of(program, env={**os.environ, **environment}))
