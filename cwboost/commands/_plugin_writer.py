"""``cwboost plugins new``: a copy of the example plugin under another name."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from cwboost.families.examination import WEAK_LEARNERS
from cwboost.families.plugin_index import index_others, index_own, normalise

__all__ = ["write_plugin"]

PLACEHOLDER = "acme"
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# Build products in a checkout.
NOT_COPIED = re.compile(r"__pycache__|build|.*\.egg-info|.*\.(pyc|so|pyd|c)|\..*")


def write_plugin(name: str, output: str | None = None, *, python_only: bool = False) -> Path:
    """Write a new plugin, ready to be installed, tested and changed.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and single underscores between them. The distribution is
        called ``cwboost-NAME``, the module ``cwboost_NAME``, its families ``NAME_ball`` and
        ``NAME_interval``.
    output : str, optional
        Folder to write to, new or empty; default ``cwboost-NAME`` in the current folder.
    python_only : bool, default=False
        Leave out the family with a Cython kernel.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ValueError
        If the name does not have this form, or is taken by something installed.
    FileExistsError
        If the folder exists and is not empty.
    """
    if not NAME.fullmatch(name):
        raise ValueError(
            "name of the plugin must start with a lower-case letter and consist of lower-case "
            f"letters, digits and single underscores between them, got {name!r}"
        )
    _refuse_taken(name)
    folder = Path(output if output is not None else _rename(f"cwboost-{PLACEHOLDER}", name))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(17, "exists and is not an empty folder", str(folder))
    for path, source in _template(python_only).items():
        target = folder / _rename(path, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_rename(source.read_text(encoding="utf-8"), name), encoding="utf-8")
    return folder


def _refuse_taken(name: str) -> None:
    """Refuse a name that clashes with a family, module or plugin, shipped or installed."""
    owner = None
    if name in _shipped_names():
        owner = "a family that comes with cwboost"
    elif importlib.util.find_spec(f"cwboost_{name}") is not None:
        owner = f"the installed module cwboost_{name}"
    else:
        families = {f"{name}_ball", f"{name}_interval"}
        for plugin in (*index_own(WEAK_LEARNERS), *index_others(WEAK_LEARNERS)):
            if families & set(plugin.names) or (
                normalise(plugin.distribution) == f"cwboost-{name.replace('_', '-')}"
            ):
                owner = f"the installed plugin {plugin.distribution} {plugin.version}"
    if owner is not None:
        raise ValueError(f"the name {name!r} is that of {owner}: choose another")


def _shipped_names() -> set[str]:
    """Return the names of cwboost's families and their modules, in singular and plural."""
    names = set()
    for plugin in index_own(WEAK_LEARNERS):
        module = plugin.entry_point.module.rpartition(".")[2]
        names.update((*plugin.names, module))
    return names | {f"{name}s" for name in names} | {name.removesuffix("s") for name in names}


def _template(python_only: bool) -> dict[str, Path]:
    """Return the files of the template by their paths in the new plugin."""
    if not python_only:
        return _files(_folder("plugin_template", "example_plugin"))
    ball = f"src/cwboost_{PLACEHOLDER}/ball.py"
    shared = {ball: _folder("plugin_template", "example_plugin") / ball}
    return shared | _files(_folder("python_plugin_template", "python_plugin"))


def _folder(installed: str, checkout: str) -> Path:
    """Return the folder of a template: in the installed package, or in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / installed, package.parent / "plugins" / checkout):
        if (folder / "pyproject.toml").is_file():
            return folder
    raise FileNotFoundError(2, "the template of a plugin is not installed", str(package))


def _files(root: Path) -> dict[str, Path]:
    paths = {source.relative_to(root): source for source in sorted(root.rglob("*"))}
    return {
        path.as_posix(): source
        for path, source in paths.items()
        if source.is_file() and not any(NOT_COPIED.fullmatch(part) for part in path.parts)
    }


def _rename(text: str, name: str) -> str:
    """Replace the placeholder by the name; names of distributions have hyphens."""
    text = text.replace(f"cwboost-{PLACEHOLDER}", f"cwboost-{name.replace('_', '-')}")
    return text.replace(PLACEHOLDER, name)
