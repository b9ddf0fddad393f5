"""Check the links within built pages: ``check_links.py FOLDER`` prints those that lead nowhere.

Sphinx checks the references of the sources. This checks what came out: every relative link and
picture of every page, and the place within the page that it names. Links to other sites are left to
``make linkcheck``, which needs a network.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page and the places that links can name."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def broken(folder):
    """Yield the page and the target of every link that leads nowhere."""
    # A script makes the places of the dashboard.
    found = (path for path in folder.rglob("*.html") if path.parent.name != "dashboard")
    pages = {path.resolve(): Page(path) for path in found}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            no_place = place and target in pages and place not in pages[target].places
            if no_place or not target.exists():
                yield path.relative_to(folder), link


def main(folder):
    folder = Path(folder).resolve()
    found = sorted({(str(page), link) for page, link in broken(folder)})
    for page, link in found:
        print(f"{page}: {link} leads nowhere", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
