"""``cwboost plugins new``: a copy of a template under another name."""

import importlib.util
import re
from pathlib import Path

from cwboost.families.plugin_loading import normalise
from cwboost.families.registry import AUTO, INIT_MODELS, WEAK_LEARNERS
from cwboost.kernels.include import get_include

TEMPLATES = {
    "family": WEAK_LEARNERS,
    "init": INIT_MODELS,
    "raw": WEAK_LEARNERS,
    "cython": WEAK_LEARNERS,
}
"""Folders of templates, and the kinds of plugins that they hold."""

PLACEHOLDER = "acme"
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def write_plugin(name: str, output: str | None = None, template: str = "family") -> Path:
    """Write a new plugin, ready to be installed, tested and changed; return its folder.

    The distribution is called ``cwboost-NAME``, as its folder by default, the module
    ``cwboost_NAME``.
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
    for path, text in _files(template).items():
        target = folder / _rename(path, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_rename(text, name), encoding="utf-8")
    return folder


def _refuse_taken(name: str) -> None:
    """Refuse a name that clashes with a class, module or plugin, shipped or installed."""
    owner = "the automatic choice" if name == AUTO else None
    if importlib.util.find_spec(f"cwboost_{name}") is not None:
        owner = f"the installed module cwboost_{name}"
    for kind in (WEAK_LEARNERS, INIT_MODELS):
        for plugin in kind.declared():
            distribution = normalise(plugin.distribution)
            if plugin.name == name or distribution == f"cwboost-{name.replace('_', '-')}":
                owner = f"the installed plugin {plugin.source}"
    if owner is not None:
        raise ValueError(f"name of the plugin must be free, got {name!r}, that of {owner}")


def _files(template: str) -> dict[str, str]:
    """Return the texts of a template by their paths in the new plugin."""
    root = _templates()
    source = root / template
    files = {
        path.relative_to(source).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(source.rglob("*"))
        if path.suffix in (".md", ".py", ".pyi", ".pyx")
    }
    files["LICENSE"] = (root / "LICENSE").read_text(encoding="utf-8")
    files[".github/workflows/tests.yml"] = (root / "tests.yml").read_text(encoding="utf-8")
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    if template == "cython":
        project = project.replace('"setuptools>=77"', '"setuptools>=77", "Cython>=3.1"')
        # A copy of the declarations: the build of the plugin then needs no cwboost.
        declarations = Path(get_include(), "cwboost", "kernels", "__init__.pxd")
        copy = f"src/cwboost_{PLACEHOLDER}/cwboost_kernels.pxd"
        files[copy] = declarations.read_text(encoding="utf-8")
    group = TEMPLATES[template].group
    files["pyproject.toml"] = project.replace('entry-points."cwboost"', f'entry-points."{group}"')
    return files


def _templates() -> Path:
    """Return the folder of the templates: in the installed package, or in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "plugin_templates", package.parent / "plugins" / "templates"):
        if (folder / "pyproject.toml").is_file():
            return folder
    raise FileNotFoundError(2, "the templates of plugins are not installed", str(package))


def _rename(text: str, name: str) -> str:
    """Replace the placeholder by the name; names of distributions have hyphens."""
    text = text.replace(f"cwboost-{PLACEHOLDER}", f"cwboost-{name.replace('_', '-')}")
    title = "".join(part.capitalize() for part in name.split("_"))
    return text.replace(PLACEHOLDER, name).replace(PLACEHOLDER.capitalize(), title)
