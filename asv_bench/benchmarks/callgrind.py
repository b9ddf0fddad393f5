"""Count the instructions of the workloads with Valgrind's Callgrind.

Counts do not depend on the load of the machine: repeats differ by a few hundredths of a percent.
They depend on compiler and instruction set; Valgrind knows none beyond AVX2. Needs Valgrind with
its headers, and a C compiler.
"""

import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 900


class NotCounted(Exception):
    """Instructions cannot be counted here; the message says what is missing."""


def instructions(site=None, names=()):
    """Return the number of instructions of each workload, by name.

    Parameters
    ----------
    site : path, default=None
        Folder that holds the package; None is the installed one.
    names : sequence of str
        Workloads; all by default.

    Raises
    ------
    NotCounted
        Without Valgrind, its headers or a C compiler.
    RuntimeError
        If the process fails; what a revision cannot do is only left out.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise NotCounted("instructions are not counted: valgrind must be installed")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            valgrind, "-q", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no",
            "--callgrind-out-file=counts",
            sys.executable, "-m", "benchmarks.callgrind", _compiled(folder), *names,
        ]  # fmt: skip
        single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        path = os.pathsep.join([*([str(site)] if site else []), str(HERE.parent)])
        fixed = {"PYTHONPATH": path, "PYTHONHASHSEED": "0", "CWBOOST_PLUGINS": "0"}
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **single, **fixed}, timeout=SECONDS
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"counting failed under valgrind with status {done.returncode}")
        return dict(map(_read, sorted(Path(folder).glob("counts.*"), key=_number)))


def _compiled(folder):
    """Compile the switch of the counter; return its path."""
    path = os.path.join(folder, "switch.so")
    compiler = (sysconfig.get_config_var("CC") or "cc").split()
    command = [*compiler, "-shared", "-fPIC", "-O1", "-o", path, str(HERE / "callgrind.c")]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", None) or error
        raise NotCounted(
            f"instructions are not counted: valgrind's headers and a compiler are needed: {reason}"
        ) from error
    return path


def _number(path):
    return int(path.suffix[1:])


def _read(path):
    """Return name and instructions of one dump."""
    text = path.read_text()
    name = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.M)[1]
    return name, int(re.search(r"^(?:totals|summary): (\d+)", text, re.M)[1])


class Counter:
    """Context manager within which instructions are counted."""

    def __init__(self, library):
        self.switch = ctypes.CDLL(library)

    def __enter__(self):
        self.switch.toggle_counting()

    def __exit__(self, *error):
        self.switch.toggle_counting()


class Idle:
    """A meter that measures nothing, for the call before the one that is counted."""

    def __enter__(self): ...

    def __exit__(self, *error): ...


def main():
    """Do every workload in this process, which runs under Valgrind, and dump its counts."""
    from .workloads import WORKLOADS

    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("names", nargs="*", default=WORKLOADS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    # Before valgrind watches, it takes a tenth of the time. It starts once, since its stack of
    # calls does not survive a stop.
    ready = {}
    for name in options.names or WORKLOADS:
        try:
            ready[name] = WORKLOADS[name]()
            ready[name](Idle())
        except Exception as error:  # an old revision may lack what a workload needs
            ready.pop(name, None)
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    counter = Counter(options.library)
    counter.switch.start_watching()
    for name, work in ready.items():
        work(counter)
        counter.switch.dump_counts(name.encode())


if __name__ == "__main__":
    main()
