"""Which state of the code made a result: a digest that an installed package can give too.

A version number stays the same while the code changes, and an installed wheel knows nothing of the
repository it was built from. What both a checkout and a wheel have is the code that runs.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from cwboost import __version__
from cwboost.families.discovery import get_family

__all__ = ["revision"]

SUFFIXES = (".py", *EXTENSION_SUFFIXES)


@cache
def revision(weak_learner: str) -> dict[str, str]:
    """Version of cwboost, and a digest over the code of cwboost and of a family's package.

    Parameters
    ----------
    weak_learner : str
        Name of the family.

    Returns
    -------
    dict of str
        ``version``; ``code``: 12 hexadecimal digits over the paths and contents of the Python and
        compiled files. Two builds of one source have the same digest where the compiler gives
        the same machine code.
    """
    package = get_family(weak_learner).__module__.split(".")
    # A shipped family has a package of its own beside cwboost's, in a checkout.
    depth = 3 if package[:2] == ["cwboost", "plugins"] else 1
    packages = {"cwboost", ".".join(package[:depth])}
    return {"version": __version__, "code": code_digest(sorted(packages))}


def code_digest(packages) -> str:
    """12 hexadecimal digits over the code of packages or modules, given by their names."""
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
