"""Programs that print JSON, run in a process of their own."""

import json
import os
import subprocess
import sys


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
