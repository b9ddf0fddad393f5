"""The directive ``layer-diagram``: draw the table of layers that stands on the same page.

A row of the table that begins with a number is a unit of the package: ``| 3 | `commands/` | ...``.
``tests/project/test_structure.py`` reads the same rows, so page, picture and rule cannot differ.
"""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROW = re.compile(r"^\| (\d+) \| `([\w.]+/?)` \|", re.MULTILINE)
WIDTH, BAND, PITCH, LEFT, RIGHT = 800, 36, 46, 46, 170


def layers(page):
    """Return the units of each layer, from the top down."""
    found = {}
    for layer, unit in ROW.findall(page):
        found.setdefault(int(layer), []).append(unit)
    return [found[layer] for layer in sorted(found)]


def box(x, y, width, height, text, style=""):
    middle = f'x="{x + width / 2:g}" y="{y + height / 2:g}"'
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" class="{style}"/>'
        f'<text {middle} class="{style}">{escape(text)}</text>'
    )


def arrow(points):
    return f'<path d="M{" L".join(points)}" class="arrow" marker-end="url(#arrowhead)"/>'


def draw(units_by_layer):
    """Return the picture as an SVG element; its colours come from the style sheet."""
    height = PITCH * len(units_by_layer) + 10
    inner = WIDTH - LEFT - RIGHT
    parts = [
        f'<svg class="layers" viewBox="0 0 {WIDTH} {height}" role="img" '
        'xmlns="http://www.w3.org/2000/svg" aria-label="Layers of the package, from the command '
        'line at the top to the kernels at the bottom; every import points down">',
        '<defs><marker id="arrowhead" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>',
        arrow([f"18 {10 + BAND / 2}", f"18 {height - 18}"]),
        f'<text class="side" transform="translate(32 {height / 2}) rotate(-90)">'
        "imports point down</text>",
    ]
    where = {}
    for depth, units in enumerate(units_by_layer):
        x, y = LEFT, 8 + PITCH * depth
        share = inner / sum(len(unit) + 6 for unit in units)
        for unit in units:
            style = "folder" if unit.endswith("/") else "module"
            width = share * (len(unit) + 6)
            parts.append(box(x, y, width - 8, BAND, unit, style))
            where[unit] = y + BAND / 2
            x += width
    side, right = WIDTH - RIGHT + 22, LEFT + inner - 8
    public = ("testing/", "families/", "kernels/")
    top = min(where[unit] for unit in public) - BAND / 2
    bottom = max(where[unit] for unit in public) + BAND / 2
    parts.append(box(side, top, RIGHT - 24, bottom - top, "plugins/", "plugin"))
    note = f'x="{side + RIGHT / 2 - 12:g}" y="{(top + bottom) / 2 + 20:g}"'
    parts.append(f'<text {note} class="side">public names only</text>')
    for unit in public:
        parts.append(arrow([f"{side:g} {where[unit]:g}", f"{right + 2:g} {where[unit]:g}"]))
    return "".join([*parts, "</svg>"])


class LayerDiagram(SphinxDirective):
    """Draw the layers that the table of this page lists."""

    def run(self):
        page = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        return [nodes.raw("", f'<div class="figure">{draw(layers(page))}</div>', format="html")]


def setup(app):
    app.add_directive("layer-diagram", LayerDiagram)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
