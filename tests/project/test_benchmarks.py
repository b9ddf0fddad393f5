"""Benchmarks: pages have the stored numbers, regressions an answer; what counts as slower."""

import json
import re
import shutil
from time import process_time

import numpy as np
import pytest
from sources import BENCH, ROOT, bench_tool

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


def test_every_part_stands_on_a_page_under_a_known_name(pages):
    found = {match[1] for text in texts().values() for match in pages.PART.findall(text)}
    assert found == set(pages.PARTS)


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


def test_a_run_of_the_reproduction_has_one_record(runs):
    assert len({(run["set"], run["method"], run["run"]) for run in runs}) == len(runs) > 50
    for run in runs:
        assert len(run["errors"]) <= run["rounds"] and re.fullmatch("[0-9a-f]{8}", run["commit"])
        tenth = -(-len(run["errors"]) // run["every"])
        assert {len(run[name]) for name in ("seconds", "objective", "learners")} == {tenth}


def test_a_claim_that_fails_says_so(pages, runs):
    report = pages.reproduction.claims
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


HISTORY = BENCH / "history"


@pytest.fixture(scope="module")
def tools():
    pytest.importorskip("tomllib")
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


def points():
    return [json.loads(path.read_text()) for path in (HISTORY / "reference").glob("*-*.json")]


def test_all_points_have_the_same_parameters_and_environment():
    assert len(points()) > 20
    assert len({json.dumps([point["params"], point["env_name"]]) for point in points()}) == 1


def test_points_hold_what_the_present_benchmarks_measure():
    history = bench_tool("dashboard.history")
    benchmarks = json.loads((HISTORY / "benchmarks.json").read_text())
    for point in points():
        assert history.tidied(point, benchmarks) == point, "run asv_bench/run.py dashboard"
    old = {**points()[0], "params": {**points()[0]["params"], "version": 1}}
    old["results"] = {**old["results"], "fcd.Gone.time_it": [[1.0], [], "0" * 64]}
    assert history.tidied(old, benchmarks) == points()[0]


def test_names_say_what_is_timed():
    known = json.loads((HISTORY / "benchmarks.json").read_text())
    known = {name: one for name, one in known.items() if isinstance(one, dict)}
    assert sorted(known) == sorted(bench_tool("run").benchmark_names())
    short = ("time_price", "time_pass", "time_solve", "track_warm_pass", "track_instructions")
    assert [name for name in known if name.endswith(short) and not known[name]["pretty_name"]] == []


@pytest.mark.parametrize(
    ("options", "message"),
    {
        ("--points=-1",): "argument --points: must be a number of commits, got '-1'",
        ("no-such-revision",): "argument commits: must be revisions of this checkout, got",
        ("--bench=nothing",): "argument --bench: must fit a name like",
        ("--bench=(",): "argument --bench: must be a regular expression, got '('",
        ("--pionts=3",): "unrecognized arguments: --pionts=3",
    }.items(),
)
def test_options_of_the_dashboard_are_checked(options, message, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["run.py", "dashboard", *options])
    with pytest.raises(SystemExit):
        bench_tool("run").main()
    assert message in capsys.readouterr().err


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


@pytest.fixture(scope="module")
def compare():
    return bench_tool("compare")


def test_a_count_that_grew_is_flagged(compare):
    counts = {"updates": (1000, 1011), "nodes": (1000, 1010), "bytes": (1000, 900)}
    assert compare.slower(counts, {}) == ["updates"]
    assert compare.report(counts, {}).count("!") == 1


def test_a_slowdown_of_a_tenth_is_flagged_and_noise_is_not(compare):
    rng = np.random.default_rng(0)
    noise = np.exp(0.02 * rng.standard_normal((1000, compare.N_PAIRS)))
    noise[:, 0] *= rng.choice([0.7, 1, 1.5], size=1000)  # one pair may be disturbed at will
    found = [compare.slower({}, {"fit": list(1.1 * row)}) for row in noise]
    assert np.mean([bool(names) for names in found]) > 0.95
    found = [compare.slower({}, {"fit": list(row)}) for row in noise]
    assert np.mean([bool(names) for names in found]) < 0.01


@pytest.mark.slow
def test_two_processes_of_one_package_have_the_same_counts(compare):
    counts, ratios = compare.compare(None, None, ("FCD, solve to 1e-6", "nothing"), 1, 1)
    assert len(counts) > 5 and all(old == new for old, new in counts.values())
    assert counts["updates to 1e-06"] > counts["updates to 0.1"]
    assert list(ratios) == ["FCD, solve to 1e-6"] and ratios["FCD, solve to 1e-6"][0] > 0


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_a_hundredth_more_work_of_the_solver_is_counted_and_flagged(compare):
    first = compare.instructions(names=["FCD, one layer", "FCD, solve to 1e-6"])
    again = compare.instructions(names=["FCD, one layer", "FCD, solve to 1e-6"])
    pairs = {name: (first[name], again[name]) for name in first}
    assert len(pairs) == 2 and compare.slower(pairs, {}) == []
    more = {name: (old, 1.011 * new) for name, (old, new) in pairs.items()}
    assert compare.slower(more, {}) == list(pairs)
    # A layer of 25 columns over 10,000 examples is 500,000 pair weights, read and written.
    assert 1e6 < first["FCD, one layer"] < first["FCD, solve to 1e-6"]


def test_without_valgrind_times_are_compared_alone(compare, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert compare.compared_instructions(None, None) == {}
    assert "valgrind must be installed" in capsys.readouterr().err


TIMED = {
    "Pass": ("time_pass", (1_000, 5)),
    "ToEpsilon": ("time_solve", (0.1,)),
}


@pytest.mark.parametrize("name", TIMED)
def test_a_benchmark_of_the_solver_spends_its_time_there(name, monkeypatch):
    benches = bench_tool("benchmarks.fcd")
    solver, seconds = benches.solver.fcd, []

    def timed(*args, **options):
        start = process_time()
        report = solver(*args, **options)
        seconds[-1] += process_time() - start
        return report

    method, params = TIMED[name]
    bench = getattr(benches, name)()
    bench.setup(*params)
    monkeypatch.setattr(benches.solver, "fcd", timed)
    shares = []
    for _ in range(100):
        seconds.append(0.0)
        start = process_time()
        getattr(bench, method)(*params)
        shares.append(seconds[-1] / (process_time() - start))
    # A solver that takes twice its time makes the benchmark take 1.8 times its own. Programs of
    # others slow the way back, by the caches, more than the solver: the quietest part counts.
    assert max(map(np.median, np.array_split(shares, 3))) > 0.8
