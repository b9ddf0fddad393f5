"""Refuse to publish what is not ready, with every fault on a line: check_release.py TAG"""

import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]


def faults(tag, project, changelog):
    """Return what keeps a release from going out.

    Parameters
    ----------
    tag : str
        Name of the tag, "v" and the version.
    project : dict
        The table [project] of pyproject.toml.
    changelog : str
        Text of CHANGELOG.md.
    """
    version = project["version"]
    if tag != f"v{version}":
        yield f"the tag must be v{version}, as pyproject.toml says, got {tag}"
    for name, address in project["urls"].items():
        if urlsplit(address).hostname.endswith(".example"):
            yield f"{name} of [project.urls] must be a public address, got {address}"
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.M):
        yield f"CHANGELOG.md must have a heading '## {version} (YYYY-MM-DD)'"


if __name__ == "__main__":
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = list(faults(sys.argv[1], project, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    sys.exit("\n".join(found))
