"""The results of a reproduction: the records, provenance, tables."""

from importlib.machinery import EXTENSION_SUFFIXES

import numpy as np
import pandas as pd
import pytest

from cwboost.experiments.methods import METHODS, SOLVERS
from cwboost.experiments.protocols import PROTOCOLS
from cwboost.experiments.reporting import tables
from cwboost.experiments.reporting.report import write_report
from cwboost.experiments.reporting.summary import Results, _curve, mean, rounds_to_reach
from cwboost.experiments.reporting.tables import method_tables, solver_tables
from cwboost.experiments.reproduce import Study
from cwboost.experiments.revision import code_digest


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
        study = Study(figures, tmp_path, runs=2, rounds=3, datasets=("VOWEL",))
        known = METHODS | SOLVERS
        for method, runs in methods.items():
            for run, errors in enumerate(runs):
                n = len(errors)
                study.save(
                    {
                        "key": study.key(PROTOCOLS["VOWEL"], known[method], run),
                        "version": "0.1",
                        "code": f"of {method}",
                        "machine": dict.fromkeys(MACHINE, "M"),
                        "rounds": n,
                        "stopped": (method, run) in cut,
                        "test_error": errors,
                        "objective": [10 * error for error in errors],
                        "solver_seconds": [0.75] * n,
                        "cpu_seconds": [2.0 * (i + 1) for i in range(n)],
                        "seconds": [1.0 * (i + 1) for i in range(n)],
                        "n_nonzero": [2 * (i + 1) for i in range(n)],
                        "n_learners": [i + 1 for i in range(n)],
                        "selection_nonzero": {"100": 6},
                        "selection_learners": {"100": 4},
                    }
                )
        return study, Results(study, kind)

    return make


MACHINE = ("processor", "cores", "system", "instruction_set", "python", "numpy")


def cells(table):
    """Return the rows of a Markdown table by method."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    return {row[1]: row[2:] for row in rows}


def test_report_warns_of_mixed_states_of_the_code(results):
    study, _ = results(**{"CW-1": [[0.2, 0.1]]})
    assert "mixed" not in write_report(study, {})
    study, _ = results(CW=[[0.2, 0.1]])
    text = write_report(study, {})
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


def test_the_solver_has_its_share_of_each_round(results):
    _, one = results(CW=[[0.5, 0.4, 0.3]])
    assert np.allclose(one.at("cpu_seconds"), [[2.0, 4.0, 6.0]])
    assert np.allclose(one.at("solver_cpu_seconds"), [[1.5, 3.0, 4.5]])
    # The data were bound before the first round, for twice as long.
    bound = {"cpu_seconds": [6.0, 8.0, 10.0], "seconds": [3.0, 4.0, 5.0]}
    assert np.allclose(
        _curve(bound | {"solver_seconds": [0.75] * 3}, "solver_cpu_seconds"), [1.5, 3.0, 4.5]
    )


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


def test_cut_runs_are_no_numbers(results, monkeypatch):
    """A mean is over all runs of a method, and only runs that both have finished are compared."""
    monkeypatch.setattr(tables, "AT_ROUNDS", (1, 2))
    runs = {"CW": [[0.3, 0.3, 0.3]] * 2, "Ada.MO": [[0.5, 0.4, 0.2], [0.5]]}
    _, found = results(cut=[("Ada.MO", 1)], **runs)
    assert cells(method_tables(found, {})["paired"])["Ada.MO"] == [
        "-20.0 ± 0.0",
        "-",
        "-",
        "0 of 1",
    ]


def test_tables_of_solvers(results, monkeypatch):
    monkeypatch.setattr(tables, "AT_ROUNDS_OF_PASSES", (1, 40))
    curves = {"FCD-2": [[0.5, 0.2, 0.1]], "FCD-20": [[0.25, 0.2, 0.3]]}
    _, found = results("solver", **curves, **{"L-BFGS-B": [[0.4, 0.3, 0.2]]})
    parts = solver_tables(found, {"USPS": "absent"})
    solvers = cells(parts["solvers"])
    assert solvers["FCD-2"] == ["3", "1", "-50.00%", "4.500", "1", "0.667", "10.00"]
    assert solvers["FCD-20"][2:6] == ["+50.00%", "4.500", "1", "0.667"]
    assert cells(parts["passes"])["FCD-2"] == ["+100.0", "-66.7"]
    assert "| USPS | not run: data absent |" in parts["solvers"]
