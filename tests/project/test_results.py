"""Numbers of measurements on the pages are those of the files of results."""

import re

import pytest
from bench_tools import bench_tool
from import_graph import ROOT

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


def test_the_figure_is_that_of_the_results(pages):
    drawn = pages.drawn_numbers(pages.FIGURE.read_text(encoding="utf-8"))
    assert drawn == pages.study_report.ratios(pages.records_of(pages.leaderboard.STUDIES))
    assert set(drawn) > {"LightGBM", "XGBoost"}


def test_every_part_stands_on_a_page_under_a_known_name(pages):
    found = {match[1] for text in texts().values() for match in pages.PART.findall(text)}
    assert found - pages.ELSEWHERE == set(pages.PARTS)


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
