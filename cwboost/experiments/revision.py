"""The state of the code that made a result, as a digest, and the machine that it ran on.

A version number stays while the code changes, and a wheel does not hold its commit.
"""

import os
import platform
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import cwboost
from cwboost.environment import show_config

SUFFIXES = (".py", *EXTENSION_SUFFIXES)


@cache
def code_digest(folder: Path = Path(cwboost.__file__).parent) -> str:
    """Return 12 hexadecimal digits of a hash of the Python and compiled files of a package."""
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}:{len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:12]


@cache
def machine() -> dict:
    """Return the processor, the number of cores, the system and what `show_config` returns."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        **show_config(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
