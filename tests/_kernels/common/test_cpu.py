"""The choice of the instruction set, and what the environment variable does to it."""

import os
import subprocess
import sys

from cwboost._kernels.common import cpu

# The compiled module by its path: the package around it would take seconds to import.
PROGRAM = """
import sys
from importlib.util import module_from_spec, spec_from_file_location

spec = spec_from_file_location("cpu", sys.argv[1])
cpu = module_from_spec(spec)
spec.loader.exec_module(cpu)
print(cpu.chosen())
"""


def run(name):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, cpu.__file__],
        env={**os.environ, "CWBOOST_INSTRUCTION_SET": name},
        capture_output=True,
        text=True,
    )


def test_the_base_runs_everywhere_and_comes_last():
    names = cpu.available()
    assert names[-1] in {"sse2", "neon", "portable"}
    assert set(names[:-1]) <= {"avx512", "avx2"}
    assert cpu.chosen() in names


def test_the_widest_is_the_default():
    """`instruction_sets/test_bits.py` forces the others."""
    done = run("")
    assert done.stdout.strip() == cpu.available()[0], done.stderr


def test_an_unknown_set_is_an_error_that_lists_those_that_run():
    done = run("AVX2")
    assert done.returncode != 0
    assert "got 'AVX2'" in done.stderr
    assert "CWBOOST_INSTRUCTION_SET must be one of " + ", ".join(cpu.available()) in done.stderr
