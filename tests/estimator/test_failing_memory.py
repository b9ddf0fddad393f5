"""One allocation after the other fails, in a process of its own."""

import shutil
import subprocess
import sys

import faults
import pytest


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"), reason="needs glibc and a C compiler"
)
def test_allocations_that_fail():
    """Every 97th; `make faults` lets each of them fail."""
    command = [sys.executable, faults.__file__, "allocations", "97"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    lines = done.stdout.splitlines()
    assert len(lines) == 19
    assert all("the former model" in line for line in lines)
    assert all("some rounds" in line for line in lines if not line.startswith("thin"))
