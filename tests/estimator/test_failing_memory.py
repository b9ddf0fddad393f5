"""One allocation after the other fails, in a process of its own."""

import shutil
import subprocess
import sys

import attack
import pytest


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"), reason="needs glibc and a C compiler"
)
def test_allocations_that_fail():
    """A few of each fit; `make attack` lets all of them fail."""
    command = [sys.executable, attack.__file__, "allocations", "--times", "24"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    lines = done.stdout.splitlines()
    assert len(lines) == 11
    assert all("the former model" in line for line in lines)
    assert sum("some rounds" in line for line in lines) >= 5
