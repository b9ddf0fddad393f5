"""Every regression of the stored history of benchmarks has an answer."""

import json

import pytest
from bench_tools import BENCH, bench_tool

pytest.importorskip("tomllib")

HISTORY = BENCH / "history"


@pytest.fixture(scope="module")
def tools():
    return bench_tool("dashboard.answers")


@pytest.fixture(scope="module")
def stored():
    return json.loads((HISTORY / "regressions.json").read_text())


@pytest.fixture(scope="module")
def answers(tools):
    return tools.read_answers(HISTORY / "answers.toml")


def test_every_regression_has_an_answer(tools, stored, answers):
    assert tools.unanswered(stored["regressions"], answers) == []


def test_the_stored_regressions_are_those_of_the_stored_points(stored):
    points = sorted(path.name[:8] for path in (HISTORY / "reference").glob("*-*.json"))
    assert stored["points"] == points, "run make publish"


def test_every_answer_has_a_reason_and_a_regression(tools, stored, answers):
    for place, answer in enumerate(answers):
        assert len(answer["reason"]) > 20, answer
        others = answers[:place] + answers[place + 1 :]
        assert tools.unanswered(stored["regressions"], others), f"answers nothing: {answer}"


def test_a_regression_without_an_answer_is_found_and_shown(tools, answers, tmp_path):
    one = {"benchmark": "fit.New.time_fit(3)", "before": "1" * 8, "after": "2" * 8}
    one |= {"old": 1.0, "new": 2.5}
    assert tools.unanswered([one], answers) == [one]
    given = [{"benchmarks": ["fit.New.*"], "after": "2" * 8, "reason": "exact sums < fast ones"}]
    assert tools.unanswered([one], given) == []
    assert tools.unanswered([one | {"after": "3" * 8}], given) == [one | {"after": "3" * 8}]
    (tmp_path / "index.html").write_text('<ul><li id="nav-li-regressions"></li></ul>')
    tools.write_page(tmp_path, [one], given)
    page = (tmp_path / "answers.html").read_text()
    assert "exact sums &lt; fast ones" in page and "2.50" in page
    assert 'href="answers.html"' in (tmp_path / "index.html").read_text()


def test_steps_of_asv_are_read(tools, tmp_path):
    (tmp_path / "index.json").write_text(
        json.dumps({"revision_to_hash": {"4": "a" * 40, "7": "b" * 40}})
    )
    steps = [["x.time(1)", "graphs/x.json", {}, 0, 3.0, 1.0, [[4, 7, 1.0, 3.0]]]]
    (tmp_path / "regressions.json").write_text(json.dumps({"regressions": steps}))
    (found,) = tools.find_regressions(tmp_path)
    assert found == {
        "benchmark": "x.time(1)", "before": "a" * 8, "after": "b" * 8, "old": 1.0, "new": 3.0
    }  # fmt: skip
