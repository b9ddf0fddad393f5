"""Write formulas as MathML, which browsers draw by themselves: no script and no network."""

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.errors import ExtensionError


def mathml(latex, display):
    """Return the MathML of a formula; a formula that cannot be converted fails the build."""
    try:
        return LatexToMathML().convert_with_local_state(latex, displaystyle=display)
    except LatexError as error:
        raise ExtensionError(f"formula {latex!r}: {error}") from error


def visit_inline(translator, node):
    translator.body.append(mathml(node.astext(), display=False))
    raise nodes.SkipNode


def visit_display(translator, node):
    formula = mathml(node.astext(), display=True)
    translator.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
