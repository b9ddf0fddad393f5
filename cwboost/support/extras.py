"""Packages that only parts of cwboost need: imported when used, named if they are absent."""

import re
from contextlib import contextmanager
from importlib.metadata import requires


@contextmanager
def extra(name: str, needs: str):
    """Guard imports of optional packages: the error for an absent one has the command to run.

    `name` is the extra of cwboost that lists the packages, such as "plot"; `needs` begins the
    message, such as "plotting needs matplotlib".
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{needs}: {install(name)}", name=error.name) from error


def install(name: str) -> str:
    """Return the command that installs the packages of an extra, by the installed metadata."""
    own = re.compile(rf'\s*([^\s;]+)\s*;.*extra == ["\']{name}["\']')
    found = (own.match(requirement) for requirement in requires("cwboost") or ())
    packages = [re.split(r"[<>=!~]", match[1])[0] for match in found if match]
    # A shell may take brackets for a pattern.
    return "pip install " + " ".join(f'"{name}"' if "[" in name else name for name in packages)
