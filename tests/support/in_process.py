"""Programs that print JSON, run in a process of their own."""

import json
import os
import subprocess
import sys


def json_under(instruction_set, program):
    """Return what a program prints when the environment forces an instruction set."""
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "CWBOOST_INSTRUCTION_SET": instruction_set},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
