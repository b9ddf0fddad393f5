"""The regressions that the dashboard shows, and the answer to each."""

import html as markup
import json
from fnmatch import fnmatchcase
from pathlib import Path

import tomllib

__all__ = ["find_regressions", "read_answers", "unanswered", "write_page"]


def find_regressions(html):
    """Return what ``asv publish`` found: one dict per step upwards.

    Each has the ``benchmark`` with its parameters, the commits ``before`` and ``after`` as eight
    hexadecimal digits, and the values ``old`` and ``new``.
    """
    html = Path(html)
    hashes = json.loads((html / "index.json").read_text())["revision_to_hash"]
    found = json.loads((html / "regressions.json").read_text())["regressions"]
    return sorted(
        (
            {
                "benchmark": benchmark,
                "before": hashes[str(before)][:8],
                "after": hashes[str(after)][:8],
                "old": old,
                "new": new,
            }
            for benchmark, *_, steps in found
            for before, after, old, new in steps
        ),
        key=lambda one: (one["benchmark"], one["after"]),
    )


def read_answers(path):
    """Return the tables ``[[answer]]``: ``benchmarks`` (patterns), ``after``, ``reason``."""
    return tomllib.loads(Path(path).read_text(encoding="utf-8"))["answer"]


def unanswered(regressions, answers):
    """Return the regressions without an answer."""
    return [one for one in regressions if _answer(one, answers) is None]


def _answer(regression, answers):
    for answer in answers:
        name = regression["benchmark"]
        if answer["after"] == regression["after"] and any(
            fnmatchcase(name, pattern) for pattern in answer["benchmarks"]
        ):
            return answer["reason"]
    return None


def write_page(html, regressions, answers):
    """Write ``answers.html``, and link it beside the list of regressions."""
    html = Path(html)
    rows = [
        f"<tr><td>{markup.escape(one['benchmark'])}</td><td>{one['before']}..{one['after']}</td>"
        f"<td>{one['new'] / one['old']:.2f}</td>"
        f"<td>{markup.escape(_answer(one, answers) or 'no answer')}</td></tr>"
        for one in regressions
    ]
    head = "<tr><th>benchmark</th><th>commits</th><th>times as much</th><th>answer</th></tr>"
    (html / "answers.html").write_text(
        "<!doctype html><meta charset='utf-8'><title>Answers to regressions</title>"
        "<style>body{font:15px sans-serif;margin:2em}td,th{padding:.3em .8em;text-align:left;"
        "vertical-align:top;border-bottom:1px solid #ccc}</style>"
        f"<h1>Answers to regressions</h1><p><a href='index.html'>All benchmarks</a></p>"
        f"<table>{head}{''.join(rows)}</table>",
        encoding="utf-8",
    )
    index = html / "index.html"
    page = index.read_text(encoding="utf-8")
    place = '<li id="nav-li-regressions">'
    index.write_text(
        page.replace(place, f'<li><a href="answers.html">Answers</a></li>{place}'), encoding="utf-8"
    )
