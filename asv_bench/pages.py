"""Parts of the pages that the files of results determine: write them, or check them.

    python asv_bench/pages.py [--check]

A part stands in a page between ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``, on lines of its
own or within a sentence. It is a function of one record per line of asv_bench/results/FILE.jsonl,
which the scripts of measurement append to, and is empty without records. No number of a measurement
is typed into a page.
"""

import argparse
import re
import sys
from pathlib import Path

import example_plugins
import numpy as np
import prediction_sets
import thin_models
import time_to_error
from peers import report, study_report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PART = re.compile(r"(<!-- ([\w ,-]+): begin -->)(.*?)(<!-- \2: end -->)", re.DOTALL)

SHOWN = {
    "weather": "numbers, gaps",
    "storms": "numbers, many gaps",
    "happiness": "a survey, gaps",
    "hotel_rates": "mixed, dates",
    "yrbss": "a survey, gaps",
    "gapminder": "few numbers, 22 classes",
    "mlc_churn": "mixed, two classes",
}
"""Rows of the landing page: the largest tables on which no setting was chosen, and two classes."""


def landing(records):
    """Return error and log loss of the default and of LightGBM on a few sets, wins and losses."""
    rows, behind = [], []
    for name, kind in SHOWN.items():
        ours, theirs = (
            mean_of([r for r in records if r["set"] == name and r["model"] == model])
            for model in ("cwboost", "LightGBM")
        )
        if ours is None or theirs is None:
            continue
        rows.append([f"{name}: {kind}", cell(ours), cell(theirs)])
        if ours[0] > theirs[0]:
            behind.append(name)
    if not rows:
        return ""
    losses = f" LightGBM has the lower error on {', '.join(behind)}." if behind else ""
    head = ["data", "cwboost", "LightGBM"]
    note = f"Test error in percent / log loss; defaults of both, means over splits.{losses}"
    return f"{report.table(head, rows)}\n\n{note}"


def mean_of(records):
    """Return mean error in percent and mean log loss of runs, None without any."""
    known = [(100 * r["error"], r["log_loss"]) for r in records]
    return np.mean(known, axis=0) if known else None


def cell(figures):
    return f"{figures[0]:.1f} / {figures[1]:.2f}"


def many_classes(records):
    """Return the rows of time and memory with many classes."""
    return report.goals([r for r in records if r["group"] == "many classes"])


PARTS = {
    "landing": (("several_classes", "two_classes"), landing),
    "mixed": (("mixed",), study_report.errors),
    "numeric": (("numeric",), study_report.errors),
    "many classes": (("many_classes",), study_report.errors),
    "many classes, cost": (("speed",), many_classes),
    "several classes": (("several_classes",), study_report.errors),
    "two classes": (("two_classes",), study_report.areas),
    "large": (("large",), study_report.errors),
    "ablation": (("ablation",), study_report.ablation),
    "time to error": (("time_to_error",), time_to_error.report),
    "speed": (("speed",), report.goals),
    "solver over L-BFGS-B": (("speed",), report.solver_ratios),
    "thin": (("thin",), thin_models.report),
    "clusters": (("clusters",), report.goals),
    "plugins": (("plugins",), example_plugins.report),
    "prediction sets": (("prediction_sets",), prediction_sets.report),
}
"""By the name of a part: the files of results, and the function from their records to the text."""

ELSEWHERE = {"settings"}
"""Parts copied from the ``table.md`` that ``cwboost reproduce`` writes."""


def part(name):
    """Return the text of a part."""
    files, function = PARTS[name]
    records = [r for file in files for r in report.read(HERE / "results" / f"{file}.jsonl")]
    return function(records) if records else ""


def rewritten(text):
    """Return the text of a page with its parts as the results have them."""

    def fresh(match):
        if match[2] in ELSEWHERE:
            return match[0]
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
    print("stale:" if check else "written:", *stale or ["none"])
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
