"""The reproduction: runs, their resumption after a kill, the command line."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from cwboost.cli import main
from cwboost.experiments.methods import BASIC
from cwboost.experiments.reporting.report import write_report
from cwboost.experiments.reporting.summary import Results
from cwboost.experiments.reproduce import Study, reproduce
from cwboost.experiments.revision import code_digest


@pytest.fixture
def study(tmp_path):
    size = {"runs": 2, "rounds": 8, "selection_rounds": 4, "quiet": True}
    return Study(("uci",), tmp_path, methods=("CW", "CW-1"), datasets=("VOWEL", "ISOLET"), **size)


def saved(study):
    """All records, by run, those of a run by method."""
    found = [json.loads(path.read_text("utf-8")) for path in (study.out / "results").glob("*.json")]
    return sorted(found, key=lambda record: (record["key"]["run"], record["key"]["method"]))


def test_absent_data_are_named_and_never_given_a_number(study):
    absent = reproduce(study)
    assert list(absent) == ["ISOLET"]
    text = write_report(study, absent)
    (line,) = (line for line in text.splitlines() if "ISOLET" in line)
    assert "not run: data absent" in line
    assert not re.search(r"\d", line.replace("ISOLET", ""))
    assert text == (study.out / "table.md").read_text()


def test_results_hold_what_the_paper_compares(study):
    reproduce(study)
    runs = saved(study)
    keys = [(record["key"]["method"], record["key"]["run"]) for record in runs]
    assert keys == [("CW", 0), ("CW-1", 0), ("CW", 1), ("CW-1", 1)]
    for record in runs:
        assert record["n_train"] == 742 and record["n_test"] == 248
        for name in ("test_error", "objective", "cpu_seconds", "seconds", "solver_seconds"):
            assert len(record[name]) == record["rounds"] == 8
        assert np.all(np.diff(record["cpu_seconds"]) >= 0)
        assert record["test_error"][-1] < record["test_error"][0]
        assert record["code"] == code_digest()
    assert runs[0]["C"] in (1e2, 1e3, 1e4, 1e5)


def test_finished_runs_are_not_repeated(study):
    reproduce(study)
    before = saved(study)
    reproduce(study)
    assert saved(study) == before
    (path,) = (study.out / "results").glob("VOWEL-CW-1-1-*.json")
    path.unlink()  # as if interrupted before
    reproduce(study)
    after = saved(study)
    # The other records are unchanged, and the repeated run gives the same errors.
    assert after[:-1] == before[:-1] and after[-1] != before[-1]
    assert after[-1]["test_error"] == before[-1]["test_error"]


def test_a_larger_limit_repeats_only_stopped_runs(study):
    # This limit allows AdaBoost.MO only one round; the others have none.
    study = replace(study, runs=1, methods=("CW-1", "Ada.MO"), seconds=1e-9)
    reproduce(study)
    cut = saved(study)
    found = [(record["rounds"], record["stopped"], record["limit"]) for record in cut]
    assert found == [(1, True, 1e-9), (8, False, None)]
    for seconds in (1e-9, 1e-10):
        reproduce(replace(study, seconds=seconds))
        assert saved(study) == cut
    assert write_report(study, {}).count("| 1* |") == 1
    reproduce(replace(study, seconds=1000.0))
    again, other = whole = saved(study)
    assert (again["rounds"], again["stopped"]) == (8, False) and other == cut[1]
    # It replaces the stopped one, for the smaller limit too.
    assert Results(study).runs.xs("Ada.MO", level="method")["rounds"].tolist() == [8]
    reproduce(study)
    assert saved(study) == whole


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"figures": ("cats",)}, "figures must be among uci"),
        ({"methods": ("CW", "SVM")}, "methods must be among CW.* got SVM"),
        ({"datasets": ("IRIS",)}, "datasets must be among VOWEL"),
        ({"runs": 0}, "runs must be >= 1, got 0"),
        ({"rounds": -1}, "rounds must be >= 1"),
        ({"seconds": 0.0}, "seconds must be > 0"),
        ({"weak_learner": "shrub"}, "unknown weak learner 'shrub'"),
    ],
)
def test_bad_plans_are_refused(study, change, message):
    with pytest.raises(ValueError, match=message):
        replace(study, **change)


def test_the_report_has_the_tables_of_its_weak_learner(study):
    study = replace(study, methods=("CW", "MultiBoost"), runs=1, weak_learner="projection")
    text = write_report(study, reproduce(study))
    assert text == (study.out / "table.md").read_text()
    assert "| VOWEL | MultiBoost |" in text and "| ISOLET | not run: data absent |" in text
    assert "| data | method | C = 100 | C = 1000 |" in text
    (run,) = (r for r in saved(study) if r["key"]["method"] == "CW")
    assert run["settings"]["weak_learner"] == "ProjectionFamily()"
    assert run["machine"]["cores"] >= 1 and run["stop_reason"] == "n_estimators"


# ---------------------------------------------------------------- the command


ALL_METHODS = (*BASIC, "Ada.MO")


@pytest.mark.slow
def test_quick_reproduction_has_all_methods_in_table_and_figure(tmp_path, capsys):
    quick = ("--figure", "uci", "--quick", "--methods", *ALL_METHODS)
    assert main(["reproduce", "--out", str(tmp_path), *quick]) == 0
    printed = capsys.readouterr()
    methods = printed.out.split("## Methods")[1].split("##")[0]
    rows = [line.split("|")[1:3] for line in methods.splitlines() if "| VOWEL |" in line]
    assert [row[1].strip() for row in rows] == list(ALL_METHODS)
    assert (
        "| ISOLET | not run: data absent |" in printed.out
        and f"/{len(ALL_METHODS)} " in printed.err
    )
    assert "not run: data absent: ISOLET\n" in printed.out
    assert (tmp_path / "uci.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "uci.svg").read_text("utf-8").lstrip().startswith("<?xml")


@pytest.mark.slow
def test_solver_study_on_vowel(tmp_path, capsys):
    args = ("--figure", "solver", "--datasets", "VOWEL", "--runs", "1", "--rounds", "20", "--quiet")
    assert main(["reproduce", "--out", str(tmp_path), *args]) == 0
    finals, passes = capsys.readouterr().out.split("## Solvers")[1].split("##")
    rows = {
        cells[2].strip(): cells[1:]
        for cells in (line.split("|") for line in finals.splitlines())
        if len(cells) > 3 and cells[1].strip() == "VOWEL"
    }
    printed = [f"FCD-{n} printed" for n in (2, 3, 5, 10, 20)]
    assert list(rows) == [*(f"FCD-{n}" for n in (1, 2, 3, 5, 10, 20)), *printed, "L-BFGS-B"]
    assert rows["FCD-2 printed"][3] != rows["FCD-2"][3]
    assert float(rows["FCD-2 printed"][3]) == pytest.approx(float(rows["FCD-2"][3]), rel=0.2)
    # Twenty working sets per round reach the objective of the general solver. (In the first rounds
    # they find different columns, and either may be a tenth ahead.)
    assert float(rows["FCD-20"][3]) == pytest.approx(float(rows["L-BFGS-B"][3]), rel=0.02)
    assert float(rows["FCD-1"][3]) > float(rows["FCD-2"][3])
    assert "| VOWEL | FCD-2 | +" in passes
    assert (tmp_path / "solver.png").read_bytes().startswith(b"\x89PNG")
