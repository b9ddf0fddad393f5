"""Links from names: parameters are objects to link to, and inline code that names one is a link.

numpydoc lists the parameters of a class or function without a place that a link could lead to.
Here each becomes an object of the Python domain, `cwboost.CWBoostClassifier.C` for example. Inline
code on a page, such as ``learning_rate=0.1``, then links to the public object or to the parameter
or method of `CWBoostClassifier` of that name.
"""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_id, make_refnode

PLACES = ("{}", "cwboost.{}", "cwboost.CWBoostClassifier.{}")
NAME = re.compile(r"([A-Za-z_][\w.]*)(\(.*\)|=.*)?", re.DOTALL)


def note_parameters(app, doctree):
    """Give each parameter of a documented class or function a place and enter it as an object."""
    domain = app.env.get_domain("py")
    for description in doctree.findall(addnodes.desc):
        if description["domain"] != "py":
            continue
        owner = next(iter(description[0].get("ids", [])), None)
        for field in description[1].children if owner else ():
            if isinstance(field, nodes.field_list):
                for term in _terms_of(field, "Parameters"):
                    for name in re.split(r",\s*", _name_of(term)):
                        place = make_id(app.env, doctree, owner, name.strip("*"))
                        term["ids"].append(place)
                        full_name = f"{owner}.{name.strip('*')}"
                        if full_name not in domain.objects:
                            domain.note_object(full_name, "attribute", place, location=term)


def _terms_of(fields, title):
    for field in fields:
        if field[0].astext() == title:
            for items in field[1].children:
                if isinstance(items, nodes.definition_list):
                    for item in items:
                        yield item[0]


def _name_of(term):
    strong = next(iter(term.findall(nodes.strong)), None)
    return (strong or term).astext()


class LinkNames(SphinxPostTransform):
    """Wrap inline code that names a public object or a parameter of the classifier in a link."""

    default_priority = 20  # after the references that are written as such
    formats = ("html",)

    def run(self, **kwargs):
        domain = self.env.get_domain("py")
        for code in list(self.document.findall(nodes.literal)):
            if isinstance(code.parent, nodes.reference | nodes.title):
                continue
            name = NAME.fullmatch(code.astext())
            found = name and next(
                (p.format(name[1]) for p in PLACES if p.format(name[1]) in domain.objects), None
            )
            if found and domain.objects[found].docname != self.env.docname:
                code.replace_self(self._link(domain.objects[found], found, code.deepcopy()))

    def _link(self, found, title, code):
        return make_refnode(
            self.app.builder, self.env.docname, found.docname, found.node_id, code, title
        )


def setup(app):
    app.connect("doctree-read", note_parameters)
    app.add_post_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
