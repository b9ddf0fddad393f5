"""Benchmarks: pages and figures have the stored numbers, and no others."""

import json
import re

import pytest
from sources import ROOT, bench_tool

pytest.importorskip("pandas")

RATIO = re.compile(
    r"\b(?:[\d.]+|two|three|four|five|six|seven|eight|nine|ten) times (?:as|the time|faster)\b"
    r"|\d\s?(?:ms|us|µs)\b|\d(?:\.\d+)? s\b"
)
"""What a sentence says of a measurement: a factor of time, or a time."""


@pytest.fixture(scope="module")
def pages():
    return bench_tool("pages")


def texts():
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found += sorted((ROOT / "docs" / "plugins").glob("*.md"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in found}


def test_parts_of_pages_are_those_of_the_results(pages):
    for name, text in texts().items():
        assert pages.rewritten(text) == text, f"{name}: run python asv_bench/pages.py"


@pytest.mark.parametrize(
    ("name", "parts"),
    {"peers.svg": {"LightGBM", "XGBoost"}, "reproduction.svg": {"VOWEL"}}.items(),
)
def test_a_figure_is_that_of_the_results(pages, name, parts):
    files, numbers, _ = pages.FIGURES[name]
    drawn = pages.drawn_numbers((ROOT / "docs" / "figures" / name).read_text(encoding="utf-8"))
    assert drawn == json.loads(json.dumps(numbers(pages.records_of(files))))
    assert set(drawn) >= parts


def test_the_file_of_all_sets_is_that_of_the_results(pages):
    text = pages.SPREADSHEET.read_text(encoding="utf-8")
    assert text == pages.spreadsheet()
    assert text.count(",cwboost,") > 80


def test_a_changed_number_is_noticed(pages):
    text = texts()["docs/benchmarks.md"]
    match = next(m for m in pages.PART.finditer(text) if m[2] == "summary")
    place = match.start(3) + re.search(r"\d\.\d", match[3]).start()
    changed = f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}"
    assert pages.rewritten(changed) == text != changed


@pytest.mark.parametrize("name", texts())
def test_no_measured_time_is_typed_into_a_sentence(pages, name):
    prose = pages.PART.sub("", texts()[name])
    prose = re.sub(r"^```.*?^```|`[^`\n]+`", "", prose, flags=re.S | re.M)
    assert RATIO.findall(prose) == []


@pytest.fixture(scope="module")
def runs(pages):
    return pages.records_of(["reproduction"])


def test_a_claim_that_fails_says_so(pages, runs):
    report = pages.reproduction.claims
    runs = [run for run in runs if run["set"] in {"PENDIGITS", "USPS", "VOWEL"}]
    worse = [
        run | {"errors": [3 * error for error in run["errors"]]} if run["method"] == "CW" else run
        for run in runs
    ]
    fewer, *_, lowest, _, _, _, _ = report(runs).splitlines()[2:]
    assert "| holds on 3 of 3 sets |" in fewer
    fewer, *_, lowest, _, _, _, _ = report(worse).splitlines()[2:]
    assert "| does not hold, on 0 of 3 sets |" in fewer and "CW " not in lowest
    few = [run for run in runs if run["method"] in ("CW", "CW-1")]
    assert "| not recorded |" in report(few).splitlines()[2]
