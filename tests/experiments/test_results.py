"""The results of a reproduction: the record file, provenance, tables."""

from importlib.machinery import EXTENSION_SUFFIXES

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from cwboost.experiments.methods import METHODS, SOLVERS
from cwboost.experiments.protocols import PROTOCOLS, Split
from cwboost.experiments.records import RecordFile, find_done
from cwboost.experiments.reporting import tables
from cwboost.experiments.reporting.report import write_report
from cwboost.experiments.reporting.summary import Results, mean, rounds_to_reach
from cwboost.experiments.reporting.tables import method_tables, solver_tables
from cwboost.experiments.reproduce import Plan
from cwboost.experiments.revision import code_digest
from cwboost.experiments.runner import train_and_measure


def test_records_are_read_in_order(tmp_path):
    file = RecordFile(tmp_path / "new" / "results.jsonl")
    assert file.read() == []
    for n in range(3):
        file.append({"key": {"run": n % 2}, "value": n})
    assert [r["value"] for r in file.read()] == [0, 1, 2]
    assert find_done(file.read(), {"run": 0}, None)["value"] == 2
    assert find_done(file.read(), {"run": 5}, None) is None


@pytest.mark.parametrize(
    ("stopped", "limit", "wanted", "done"),
    [
        (False, None, 10.0, True),
        (False, 10.0, None, True),
        (True, 10.0, None, False),
        (True, 10.0, 10.5, False),
        (True, 10.0, 10.0, True),
        (True, 10.0, 5.0, True),
    ],
)
def test_a_stopped_training_counts_only_up_to_its_limit(stopped, limit, wanted, done):
    record = {"key": 1, "stopped": stopped, "limit": limit}
    assert (find_done([record], 1, wanted) is record) is done
    finished = {"key": 1, "stopped": False, "limit": None}
    assert find_done([record, finished], 1, wanted) is finished


@pytest.mark.parametrize("tail", [b'{"key"', b"x" * 200_000])
def test_unfinished_line_is_removed_by_the_next_append(tmp_path, tail):
    file = RecordFile(tmp_path / "r")
    file.append({"key": 1})
    with file.path.open("ab") as stream:
        stream.write(tail)
    assert [r["key"] for r in file.read()] == [1]
    file.append({"key": 2})
    assert [r["key"] for r in file.read()] == [1, 2]


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "r").write_text("hello\n")
    with pytest.raises(ValueError, match="line 1 is not a result"):
        RecordFile(tmp_path / "r").read()


def test_digest_depends_on_paths_and_contents(tmp_path):
    package = tmp_path / "cwboost_digested"
    package.mkdir()
    (package / "__init__.py").write_text("1\n")
    (package / "b.py").write_text("2\n")
    seen = [code_digest.__wrapped__(package)]
    (package / "notes.txt").write_text("no code")
    assert code_digest.__wrapped__(package) == seen[0]
    (package / "b.py").rename(package / "c.py")
    seen.append(code_digest.__wrapped__(package))
    (package / "c.py").write_text("3\n")
    seen.append(code_digest.__wrapped__(package))
    (package / f"d{EXTENSION_SUFFIXES[0]}").write_bytes(b"4")
    seen.append(code_digest.__wrapped__(package))
    assert len(set(seen)) == 4
    assert all(len(digest) == 12 for digest in seen)


@pytest.fixture
def results(tmp_path):
    """Write results of methods on VOWEL, each a list of errors per run; return the summary."""

    def make(kind="run", cut=(), **methods):
        figures = ("solver",) if kind == "solver" else ("uci",)
        plan = Plan(figures, tmp_path, runs=2, rounds=3, datasets=("VOWEL",))
        known = METHODS | SOLVERS
        for method, runs in methods.items():
            for run, errors in enumerate(runs):
                n = len(errors)
                plan.records.append(
                    {
                        "key": plan.key(kind, PROTOCOLS["VOWEL"], known[method], run),
                        "version": "0.1",
                        "code": f"of {method}",
                        "machine": dict.fromkeys(MACHINE, "M"),
                        "rounds": n,
                        "stopped": (method, run) in cut,
                        "test_error": errors,
                        "objective": [10 * error for error in errors],
                        "pricing_seconds": [0.25] * n,
                        "solver_seconds": [0.75] * n,
                        "cpu_seconds": [2.0 * (i + 1) for i in range(n)],
                        "n_nonzero": [2 * (i + 1) for i in range(n)],
                        "n_learners": [i + 1 for i in range(n)],
                        "selection_nonzero": {"100": 6},
                        "selection_learners": {"100": 4},
                    }
                )
        return plan, Results(plan, kind)

    return make


MACHINE = ("processor", "cores", "system", "instruction_set", "python", "numpy")


def cells(table):
    """Return the rows of a Markdown table by method."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    return {row[1]: row[2:] for row in rows}


def test_report_warns_of_mixed_states_of_the_code(results):
    plan, _ = results(**{"CW-1": [[0.2, 0.1]]})
    assert "mixed" not in write_report(plan, {})
    plan, _ = results(CW=[[0.2, 0.1]])
    text = write_report(plan, {})
    assert "| VOWEL | CW-1 | 10.00 | 2 | 4.00 | 3.00 |" in text
    assert "2 states of the code are mixed.** 0.1 (of CW): 1 runs, 0.1 (of CW-1): 1 runs." in text


def test_a_run_that_ended_keeps_its_last_error_and_one_that_was_cut_does_not(results):
    runs = [[0.5, 0.2, 0.1], [0.4]]
    _, ended = results(CW=runs)
    assert ended.at("test_error").to_numpy().tolist() == [[0.5, 0.2, 0.1], [0.4, 0.4, 0.4]]
    _, both = results(cut=[("CW", 1)], CW=runs)
    errors = mean(both.at("test_error"))
    assert np.allclose(errors, [[0.45, np.nan, np.nan]], equal_nan=True)
    assert both.last("test_error").tolist() == [0.1, 0.4]
    # The mean of the first run alone would reach 0.1.
    assert rounds_to_reach(errors, pd.Series({"VOWEL": 0.1})).isna().all()
    assert rounds_to_reach(errors, pd.Series({"VOWEL": 0.45})).tolist() == [1]


def test_times_are_shared_by_pricing_and_solver(results):
    _, one = results(CW=[[0.5, 0.4, 0.3]])
    assert np.allclose(one.at("cpu_seconds"), [[2.0, 4.0, 6.0]])
    assert np.allclose(one.at("solver_cpu_seconds"), [[1.5, 3.0, 4.5]])


def test_tables_of_methods(results, monkeypatch):
    monkeypatch.setattr(tables, "AT_ROUNDS", (1, 3, 500))
    _, found = results(
        CW=[[0.5, 0.3, 0.2], [0.5, 0.3, 0.1]],
        MultiBoost=[[0.9, 0.6, 0.3], [0.8, 0.5]],
        **{"Ada.MH": [[0.9, 0.8, 0.7]]},
    )
    parts = method_tables(found, {"ISOLET": "absent"})
    assert cells(parts["methods"])["CW"][:3] == ["15.00 ± 7.07", "3", "6.00 ± 0.00"]
    assert cells(parts["methods"])["MultiBoost"][1] == "2 to 3"
    assert "| ISOLET | not run: data absent |" in parts["methods"]
    assert cells(parts["rounds"])["MultiBoost"] == ["85.0", "40.0"]
    # Only the first run is common to CW and AdaBoost.MH.
    paired = cells(parts["paired"])
    assert paired["Ada.MH"] == ["-40.0", "-50.0", "1 of 1"]
    assert paired["MultiBoost"] == ["-35.0 ± 5.0", "-25.0 ± 15.0", "2 of 2"]
    compact = cells(parts["compact"])
    assert compact["CW"] == ["2", "2", "4", "4.00", "0.8", "40.00"]
    assert compact["Ada.MH"][0] == "never" and compact["MultiBoost"][4] == "1"
    assert cells(parts["sparse"])["MultiBoost"] == ["1.50 ± 0.00", "2.00 ± 0.00"]


def test_tables_of_solvers(results, monkeypatch):
    monkeypatch.setattr(tables, "AT_ROUNDS_OF_PASSES", (1, 40))
    curves = {"FCD-2": [[0.5, 0.2, 0.1]], "FCD-20": [[0.25, 0.2, 0.3]]}
    _, found = results("solver", **curves, **{"L-BFGS-B": [[0.4, 0.3, 0.2]]})
    parts = solver_tables(found, {"USPS (solver)": "absent"})
    solvers = cells(parts["solvers"])
    assert solvers["FCD-2"] == ["3", "1", "-50.00%", "4.500", "1", "0.667", "10.00"]
    assert solvers["FCD-20"][2:6] == ["+50.00%", "4.500", "1", "0.667"]
    assert cells(parts["passes"])["FCD-2"] == ["+100.0", "-66.7"]
    assert "| USPS | not run: data absent |" in parts["solvers"]


def test_every_round_counts_coefficients_and_learners():
    X, y = make_classification(60, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    settings = {"rounds": 6, "limit": None, "bar": None}
    parameters = {"C": 1e3, "random_state": 0}
    measured = train_and_measure(
        METHODS["MultiBoost"], Split(X, y, X, y), parameters=parameters, **settings
    )
    assert len(measured["n_nonzero"]) == len(measured["n_learners"]) == measured["rounds"] == 6
    assert measured["n_nonzero"][-1] > measured["n_learners"][-1]
