"""Write, or check, the parts of the pages that follow from the files of results.

    python asv_bench/pages.py [--check]

A part of a page is the text between ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``, on lines
of its own or within a sentence. It is a function of the records of asv_bench/results/FILE.jsonl, to
which the scripts of measurement append, and is empty if there are none. The figure of the first
pages follows from the same records and holds its numbers. No measured number is typed into a page.
"""

import argparse
import html
import json
import re
import sys
from pathlib import Path

import example_plugins
import leaderboard
import mutants
import prediction_sets
import regimes
import reproduction
import small_models
import thin_models
import time_to_error
from peers import figure, report, study_report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PART = re.compile(r"(<!-- ([\w ,-]+): begin -->)(.*?)(<!-- \2: end -->)", re.DOTALL)


def many_classes(records):
    """Return the rows of time and memory with many classes."""
    return report.measured([r for r in records if r["group"] == "many classes"])


def speed(records):
    """Return the rows of solver, stumps, prediction, threads and memory."""
    return report.measured([r for r in records if r["group"] != "many classes"])


def clusters(records):
    """Return the rows of real clusters."""
    return report.measured([r for r in records if r["group"] != "simulation"])


def simulated(records):
    """Return the milliseconds of a round by table and number of simulated workers."""
    records, found = [r for r in records if r["group"] == "simulation"], {}
    for row in (r["row"] for r in records):
        data, workers = re.fullmatch(
            r"simulated: (.*): .* on (\d+) workers?", row["measure"]
        ).groups()
        found.setdefault(data, {})[int(workers)] = f"{row['value']:,.0f}"
    counts = sorted({n for of_data in found.values() for n in of_data})
    head = ["ms per round", *(f"{n} worker{'s' * (n > 1)}" for n in counts)]
    rows = [[data, *map(times.get, counts)] for data, times in found.items()]
    return f"{report.table(head, rows)}\n\n{report.conditions(records)}."


PARTS = {
    "landing": (("sets", *leaderboard.STUDIES[:2]), study_report.largest),
    "summary": (leaderboard.STUDIES, study_report.summary),
    "leaderboard": (("leaderboard",), leaderboard.report),
    "beyond boosting": (("beyond_boosting",), study_report.beyond_boosting),
    "tuned": (("tuned",), study_report.tuned),
    "many classes": (("many_classes",), study_report.errors),
    "many classes, cost": (("speed",), many_classes),
    "several classes": (("several_classes",), study_report.compared),
    "two classes": (("two_classes",), study_report.compared),
    "large": (("large",), study_report.compared),
    "ablation": (("ablation",), study_report.ablation),
    "trees": (("trees",), study_report.trees),
    "time to error": (("time_to_error",), time_to_error.report),
    "speed": (("speed",), speed),
    "thin": (("thin",), thin_models.report),
    "small models": (("small_models",), small_models.report),
    "clusters": (("clusters",), clusters),
    "clusters, simulated": (("clusters",), simulated),
    "plugins": (("plugins",), example_plugins.report),
    "prediction sets": (("prediction_sets",), prediction_sets.report),
    "regimes": (("regimes",), regimes.report),
    "mutants": (("mutants",), mutants.report),
    "reproduction, settings": (("reproduction",), reproduction.settings),
    "reproduction, errors": (("reproduction",), reproduction.errors),
    "reproduction, claims": (("reproduction",), reproduction.claims),
}
"""By the name of a part: the files of results, and the function from their records to the text."""

STUDIES = ("several_classes", "mixed", "two_classes", "numeric", "large", "many_classes")
SPREADSHEET = ROOT / "docs" / "data" / "benchmark_sets.csv"

FIGURES = {
    "peers.svg": (leaderboard.STUDIES, study_report.ratios, figure.draw),
    "reproduction.svg": (("reproduction",), reproduction.curves, reproduction.draw),
}
"""By file of docs/figures: the files of results, the function from records to numbers, the one that
draws these."""


def part(name):
    """Return the text of a part."""
    files, function = PARTS[name]
    records = records_of(files)
    return function(records) if records else ""


def records_of(files):
    """Return the records of several files of results."""
    return [r for file in files for r in report.read(HERE / "results" / f"{file}.jsonl")]


def spreadsheet():
    """Return the text of `SPREADSHEET`."""
    studies = {name: records_of([name]) for name in STUDIES}
    return study_report.spreadsheet(studies, records_of(["sets"]))


def drawn_numbers(text):
    """Return the numbers that an SVG of `figure.draw` holds as its description."""
    found = re.search(r"<dc:description>(.*?)</dc:description>", text, re.DOTALL)
    return json.loads(html.unescape(found[1]))


def rewritten(text):
    """Return the text of a page with its parts written from the results."""

    def fresh(match):
        own = part(match[2])
        # Within a sentence, a part has no lines of its own.
        end = "\n" if match[3].startswith("\n") else ""
        return f"{match[1]}{end}{own}{end if own else ''}{match[4]}"

    return PART.sub(fresh, text)


def pages():
    """Return the paths of all pages with parts."""
    folders = [ROOT / "docs", ROOT / "docs" / "plugins"]
    found = [ROOT / "README.md", *(path for own in folders for path in sorted(own.glob("*.md")))]
    return [path for path in found if PART.search(path.read_text(encoding="utf-8"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a page is stale")
    check = parser.parse_args().check
    stale = []
    for path in pages():
        text = path.read_text(encoding="utf-8")
        fresh = rewritten(text)
        if fresh != text:
            stale.append(path.relative_to(ROOT))
            if not check:
                path.write_text(fresh, encoding="utf-8")
    if not SPREADSHEET.exists() or SPREADSHEET.read_text(encoding="utf-8") != spreadsheet():
        stale.append(SPREADSHEET.relative_to(ROOT))
        if not check:
            SPREADSHEET.write_text(spreadsheet(), encoding="utf-8")
    for name, (files, function, draw) in FIGURES.items():
        # As JSON, which has no integers as keys.
        numbers = json.loads(json.dumps(function(records_of(files))))
        path = ROOT / "docs" / "figures" / name
        if not path.exists() or drawn_numbers(path.read_text(encoding="utf-8")) != numbers:
            stale.append(path.relative_to(ROOT))
            if not check:
                draw(numbers, path)
    print("stale:" if check else "written:", *stale or ["none"])
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
