"""``cwboost plugins new``: a copy of the example plugin under another name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["write_plugin"]

PLACEHOLDER = "acme"
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# What a build leaves behind, where the template is read from a checkout.
NOT_COPIED = re.compile(r"__pycache__|build|.*\.egg-info|.*\.(pyc|so|pyd|c)|\..*")


def write_plugin(name: str, output: str | None = None) -> Path:
    """Write a new plugin, ready to be installed, tested and changed.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and single underscores between them. The distribution is
        called ``cwboost-NAME``, the module ``cwboost_NAME``, its families ``NAME_ball`` and
        ``NAME_interval``.
    output : str, optional
        Folder to write to, new or empty; default ``cwboost-NAME`` in the current folder.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ValueError
        For a name of another form.
    FileExistsError
        If the folder exists and is not empty.
    """
    if not NAME.fullmatch(name):
        raise ValueError(
            "the name of a plugin must be lower-case letters and digits that begin with a letter, "
            f"with single underscores between them, got {name!r}"
        )
    folder = Path(output if output is not None else _rename(f"cwboost-{PLACEHOLDER}", name))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(17, "exists and is not an empty folder", str(folder))
    for path, source in _template():
        target = folder / _rename(path, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_rename(source.read_text(encoding="utf-8"), name), encoding="utf-8")
    return folder


def _template_folder() -> Path:
    """Where the example plugin is: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "plugin_template", package.parent / "plugins" / "example_plugin"):
        if (folder / "pyproject.toml").is_file():
            return folder
    raise FileNotFoundError(2, "the template of a plugin is not installed", str(package))


def _template() -> Iterator[tuple[str, Path]]:
    """Every file of the example plugin, with its path in the new one."""
    root = _template_folder()
    for source in sorted(root.rglob("*")):
        path = source.relative_to(root)
        if source.is_file() and not any(NOT_COPIED.fullmatch(part) for part in path.parts):
            yield path.as_posix(), source


def _rename(text: str, name: str) -> str:
    """Put the name where the placeholder stands; distributions have hyphens by custom."""
    text = text.replace(f"cwboost-{PLACEHOLDER}", f"cwboost-{name.replace('_', '-')}")
    return text.replace(PLACEHOLDER, name)
