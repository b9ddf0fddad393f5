"""The state of the code that made a result, as a digest, and the machine that it ran on.

A version number stays the same while the code changes, and an installed wheel does not know the
commit it was built from. A digest of the code is available in a checkout and in a wheel.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from cwboost import __version__
from cwboost.environment import show_config
from cwboost.families.discovery import get_family

__all__ = ["machine", "revision"]

SUFFIXES = (".py", *EXTENSION_SUFFIXES)


@cache
def revision(weak_learner: str) -> dict[str, str]:
    """Return the version of cwboost and a digest of its code and of a family's package.

    Parameters
    ----------
    weak_learner : str
        Name of the family.

    Returns
    -------
    dict of str
        ``version``; ``code``, 12 hexadecimal digits of a hash of the paths and contents of the
        Python and compiled files. Two builds of one source have the same digest if the compiler
        emits the same machine code.
    """
    package = get_family(weak_learner).__module__.split(".")
    # In a checkout, a shipped family has a separate package beside that of cwboost.
    depth = 3 if package[:2] == ["cwboost", "plugins"] else 1
    packages = {"cwboost", ".".join(package[:depth])}
    return {"version": __version__, "code": code_digest(sorted(packages))}


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


def code_digest(packages) -> str:
    """Return a 12-digit hexadecimal hash of the code of packages or modules, given by name."""
    digest = sha256()
    for package in packages:
        for name, path in _files(package):
            content = path.read_bytes()
            digest.update(f"{package}/{name}:{len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:12]


def _files(package) -> list[tuple[str, Path]]:
    spec = find_spec(package)
    if spec.submodule_search_locations is None:
        return [("", Path(spec.origin))]
    found = [
        (path.relative_to(folder).as_posix(), path)
        for folder in map(Path, spec.submodule_search_locations)
        for path in folder.rglob("*")
        if path.name.endswith(SUFFIXES)
    ]
    return sorted(found)
