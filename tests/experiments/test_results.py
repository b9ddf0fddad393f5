"""The results of a reproduction: the record file, ratios of curves, provenance."""

from importlib.machinery import EXTENSION_SUFFIXES

import numpy as np
import pytest
from sklearn.datasets import make_classification

import cwboost
from cwboost import MultiBoostClassifier
from cwboost.experiments.records import RecordFile, find_done
from cwboost.experiments.reporting.report import write_report
from cwboost.experiments.reporting.summary import (
    Curve,
    error_differences,
    excess_over_best,
    excess_over_reference,
    rounds_to_reach,
    solver_ratios,
)
from cwboost.experiments.reproduce import Plan
from cwboost.experiments.revision import code_digest, revision
from cwboost.experiments.runner import used


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


# ---------------------------------------------------------------- what made a result


def test_digest_depends_on_paths_and_contents(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "cwboost_digested"
    package.mkdir()
    (package / "__init__.py").write_text("1\n")
    (package / "b.py").write_text("2\n")
    seen = [code_digest(["cwboost_digested"])]
    (package / "notes.txt").write_text("no code")
    assert code_digest(["cwboost_digested"]) == seen[0]
    (package / "b.py").rename(package / "c.py")
    seen.append(code_digest(["cwboost_digested"]))
    (package / "c.py").write_text("3\n")
    seen.append(code_digest(["cwboost_digested"]))
    (package / f"d{EXTENSION_SUFFIXES[0]}").write_bytes(b"4")
    seen.append(code_digest(["cwboost_digested"]))
    assert len(set(seen)) == 4
    assert all(len(digest) == 12 for digest in seen)


def test_revision_covers_cwboost_and_the_familys_package():
    assert revision("stump")["code"] == code_digest(["cwboost", "cwboost.plugins.stumps"])
    assert revision("stump")["code"] != revision("tree")["code"]
    assert revision("stump")["version"] == cwboost.__version__


@pytest.mark.parametrize(
    ("codes", "warning"),
    [
        (("aa", "aa"), None),
        (("aa", "bb"), "2 states of the code are mixed.** 0.1 (aa): 1 runs, 0.1 (bb): 1 runs."),
        (("aa", None), "2 states of the code are mixed.** 0.1 (aa): 1 runs, 0.1 (code unknown)"),
    ],
)
def test_table_warns_of_mixed_states_of_the_code(tmp_path, codes, warning):
    plan = Plan(figures=("uci",), out=tmp_path, datasets=("VOWEL",), methods=("CW-1",))
    for run, code in enumerate(codes):
        (record,) = curve([0.2, 0.1]).records
        key = {"kind": "run", "protocol": "VOWEL", "method": "CW-1", "run": run}
        made = {} if code is None else {"code": code}
        plan.records.append({**record, "key": key, "version": "0.1", **made})
    text = write_report(plan, {})
    assert "| VOWEL | CW-1 | 10.00" in text
    assert ("mixed" in text) is (warning is not None)
    assert warning is None or warning in text


# ---------------------------------------------------------------- ratios


def curve(*errors, objective=None, seconds=1.0, cut=()):
    return Curve(
        tuple(
            {
                "rounds": len(e),
                "stopped": run in cut,
                "test_error": e,
                "objective": objective or e,
                "pricing_seconds": [0.25] * len(e),
                "solver_seconds": [0.75] * len(e),
                "cpu_seconds": [seconds * (n + 1) for n in range(len(e))],
                "n_nonzero": [2 * (n + 1) for n in range(len(e))],
                "n_learners": [n + 1 for n in range(len(e))],
            }
            for run, e in enumerate(errors)
        )
    )


def test_rounds_to_reach_uses_mean_curves():
    fast = curve([0.5, 0.2, 0.1], [0.5, 0.4, 0.1])
    slow = curve([0.9, 0.6, 0.3], [0.9, 0.6, 0.3])
    assert rounds_to_reach(fast, 0.3) == 2
    assert rounds_to_reach(slow, 0.1) is None


def test_a_run_that_ended_keeps_its_last_error():
    both = curve([0.5, 0.2, 0.1], [0.4])
    assert np.array_equal(both.rows("test_error")[1], [0.4, 0.4, 0.4])
    assert both.rounds == [3, 1] and not both.stopped


def test_the_curve_of_a_run_that_was_cut_is_not_continued():
    both = curve([0.5, 0.2, 0.1], [0.4, 0.3], cut=[1])
    assert both.stopped
    assert np.allclose(both.mean("test_error"), [0.45, 0.25, np.nan], equal_nan=True)
    assert np.array_equal(both.last("test_error"), [0.1, 0.3])
    # The mean of the first run alone would reach 0.1.
    assert rounds_to_reach(both, 0.1) is None


def test_differences_are_those_of_common_runs():
    def numbered(runs, *errors, **options):
        records = curve(*errors, **options).records
        return Curve(tuple({**r, "key": {"run": run}} for r, run in zip(records, runs)))

    one = numbered([0, 2, 3], [0.5, 0.2], [0.6, 0.3], [0.1, 0.1])
    other = numbered([2, 0], [0.9, 0.4], [0.4], cut=[1])
    found = error_differences(one, other, (1, 2, 5))
    assert np.allclose(found, [[0.1, np.nan, np.nan], [-0.3, -0.1, -0.1]], equal_nan=True)


def test_times_are_shared_by_pricing_and_solver():
    one = curve([0.5, 0.4], seconds=2.0)
    assert np.allclose(one.rows("cpu_seconds"), [[2.0, 4.0]])
    assert np.allclose(one.rows("solver_cpu_seconds"), [[1.5, 3.0]])


def test_excesses_of_the_objective():
    curves = {
        "FCD-2": curve([0.1] * 3, objective=[6.0, 4.0, 2.0]),
        "FCD-20": curve([0.1] * 2, objective=[3.0, 2.5]),
    }
    best = excess_over_best(curves)
    assert np.allclose(best["FCD-2"], [2.0, 1.0, 0.0]) and np.allclose(best["FCD-20"], [0.5, 0.25])
    assert np.allclose(excess_over_reference(curves, "FCD-20")["FCD-2"], [1.0, 0.6])
    assert excess_over_reference(curves, "L-BFGS-B") == {}


def test_used_counts_coefficients_and_learners_per_round():
    X, y = make_classification(60, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    model = MultiBoostClassifier(n_estimators=6, random_state=0).fit(X, y)
    coefs = [model.ensemble_.coef(n) for n in range(1, model.n_iter_ + 1)]
    n_nonzero, n_learners = used(model.ensemble_)
    assert n_nonzero == [coef.nnz for coef in coefs] == model.history_["n_nonzero"].tolist()
    assert n_learners == [np.count_nonzero(np.diff(coef.indptr)) for coef in coefs]
    assert n_nonzero[-1] > n_learners[-1]


def test_solver_ratios():
    curves = {
        "FCD-2": curve([0.1] * 3, objective=[5.0, 2.0, 1.0], seconds=1.0),
        "FCD-1": curve([0.1] * 3, objective=[5.0, 4.0, 3.0], seconds=0.5),
        "L-BFGS-B": curve([0.1] * 3, objective=[4.0, 3.0, 2.0], seconds=10.0),
    }
    ratios = solver_ratios(curves)
    assert ratios["FCD-2"]["objective"] == pytest.approx(-0.5)
    assert ratios["FCD-2"]["seconds"] == pytest.approx(0.1)
    assert ratios["FCD-2"]["seconds_to_same"] == pytest.approx(2 / 30)
    assert np.isnan(ratios["FCD-1"]["seconds_to_same"])
    assert solver_ratios({"FCD-2": curve([0.1])}) == {}
