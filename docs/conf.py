"""Settings of the documentation; ``make docs`` builds it with warnings as errors."""

import os
import sys
from importlib.metadata import version as distribution_version
from pathlib import Path

from docutils import nodes

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
# The gallery shows these plugins, which a reader installs.
sys.path[:0] = [
    str(Path(__file__).parents[1] / f"plugins/{name}/src") for name in ("patches", "text")
]

# What the cluster of the gallery says about its workers does not belong on a page.
os.environ["DASK_LOGGING__DISTRIBUTED"] = "error"

project = "cwboost"
author = "The cwboost developers"
copyright = "The cwboost developers"
release = version = distribution_version("cwboost")

extensions = [
    "layer_diagram",
    "mathml",
    "myst_parser",
    "names",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples"]
default_role = "py:obj"  # `name` in a docstring is code, and a link if it names an object
templates_path = ["_templates"]  # a class page without what scikit-learn documents itself

html_theme = "furo"
html_title = f"cwboost {release}"
html_static_path = ["_static"]
# A guide for programs that read pages, and what make publish wrote, if it did, beside the pages.
html_extra_path = ["llms.txt"]
_site = Path(__file__).parents[1] / ".asv" / "site"
if _site.is_dir():
    html_extra_path.append(str(_site))
    tags.add("dashboard")  # noqa: F821, a name that Sphinx gives this file
html_css_files = ["cwboost.css"]
pygments_dark_style = "github-dark"
html_math_renderer = "mathml"  # formulas need neither a script nor a network

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = "$ "

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "capture_repr": (),  # what a program prints, and its pictures
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 60,
    "remove_config_comments": True,
    "download_all_examples": False,
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("cwboost",),
    "image_scrapers": ("matplotlib",),
}

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say more: shapes, units, defaults
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # autosummary lists them
numpydoc_class_members_toctree = False


def drop_modules_without_source(app):
    """Leave compiled modules out of the list of sources: they have no page to link to."""
    found = getattr(app.env, "_viewcode_modules", {})
    for name in [name for name, entry in found.items() if not entry]:
        del found[name]
    return []


def skip_member(app, what, name, obj, skip, options):
    """Leave out the methods that scikit-learn generates for metadata routing."""
    return True if name == "get_metadata_routing" or name.endswith("_request") else None


LONGEST_FIGURE = 14
"""Characters of a cell such as "19.03 ± 1.44", which a narrow column must not break."""


def mark_figures(app, doctree):
    """Mark the table cells that hold one figure; the style sheet keeps them on one line."""
    for cell in doctree.findall(nodes.entry):
        text = cell.astext()
        if len(text) <= LONGEST_FIGURE and any(map(str.isdigit, text)):
            cell["classes"].append("unbroken")


def setup(app):
    app.connect("doctree-read", mark_figures)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("html-collect-pages", drop_modules_without_source, priority=400)
