"""The reproduction: protocols, resumable results, ratios, tables and figures, the command line."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.utils import Bunch

from cwboost.datasets import load
from cwboost.experiments.cache import ArrayCache
from cwboost.experiments.methods import METHODS
from cwboost.experiments.protocols import (
    FIGURES,
    PROTOCOLS,
    Batch,
    PerClass,
    Protocol,
    Share,
    load_for,
    prepare,
)
from cwboost.experiments.records import RecordFile
from cwboost.experiments.reproduce import Plan, reproduce
from cwboost.experiments.runner import RoundClock, choose_C, hold_out
from cwboost.experiments.summary import (
    Curve,
    gather,
    rounds_to_reach,
    solver_ratios,
    time_ratio,
)

ALL_METHODS = ("CW", "CW-1", "MultiBoost", "Ada.ECC", "Ada.MH", "Ada.MO")


def numbered(n_train=60, n_test=30, k=3):
    """A data set whose only feature is the number of the example, to follow it through a split."""
    y = np.arange(n_train + n_test) % k
    X = np.arange(n_train + n_test, dtype=float)[:, None]
    return Bunch(X_train=X[:n_train], y_train=y[:n_train], X_test=X[n_train:], y_test=y[n_train:])


# ---------------------------------------------------------------- protocols


def test_share_pools_and_splits_without_loss_or_overlap():
    bunch = numbered()
    split = Share(0.75)(bunch, 0, np.random.default_rng(0))
    train, test = split.X_train[:, 0], split.X_test[:, 0]
    assert len(train) == 68 and len(test) == 22
    assert np.array_equal(np.sort(np.r_[train, test]), np.arange(90))
    assert np.array_equal(split.y_train, train % 3)


def test_per_class_counts_and_where_they_are_drawn_from():
    bunch = numbered()
    rng = np.random.default_rng(0)
    original = PerClass(5, original_test=True)(bunch, 0, rng)
    assert np.array_equal(np.bincount(original.y_train), [5, 5, 5])
    assert original.X_train.max() < 60
    assert np.array_equal(original.X_test, bunch.X_test)
    pooled = PerClass(5, original_test=False)(bunch, 0, rng)
    assert np.array_equal(np.bincount(pooled.y_train), [5, 5, 5])
    everything = np.r_[pooled.X_train, pooled.X_test][:, 0]
    assert np.array_equal(np.sort(everything), np.arange(90))
    with pytest.raises(ValueError, match="25 examples of class 0 needed, got 20"):
        PerClass(25, original_test=True)(bunch, 0, rng)


def test_batches_follow_the_source():
    split = Batch(rows=20)(numbered(), 2, None)
    assert np.array_equal(split.X_train[:, 0], np.arange(40, 60))
    assert len(split.X_test) == 30
    assert Batch(rows=20).n_runs(numbered()) == 3


def test_splits_differ_by_run_and_repeat_by_seed():
    protocol, bunch, cache = PROTOCOLS["VOWEL"], load("VOWEL"), ArrayCache(None)
    first, again, other = (prepare(protocol, bunch, run, cache=cache) for run in (0, 0, 1))
    assert np.array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, other.X_train)
    assert first.X_train.shape == (742, 10) and first.X_test.shape == (248, 10)


def test_table_of_protocols_is_the_papers():
    assert [name for names in FIGURES.values() for name in names] == list(PROTOCOLS)
    assert FIGURES["digits"] == ("USPS", "PENDIGITS", "MNIST")
    for name in ("VOWEL", "ISOLET", "USPS", "PENDIGITS"):
        assert PROTOCOLS[name].split == Share(0.75)
    assert PROTOCOLS["MNIST"].split == PerClass(1000, original_test=True)
    assert PROTOCOLS["GTSRB"].split == PerClass(100, original_test=True)
    assert PROTOCOLS["SCENE15"].split == PerClass(100, original_test=False)
    assert PROTOCOLS["SUN"].split == Share(0.8)
    assert PROTOCOLS["PASCAL07"].split == PROTOCOLS["LABELME"].split == Share(0.7)
    with_mo = [name for name, protocol in PROTOCOLS.items() if protocol.with_mo]
    assert with_mo == ["VOWEL", "ISOLET", "USPS", "PENDIGITS", "MNIST"]
    assert tuple(METHODS) == ALL_METHODS


@pytest.mark.parametrize(
    ("name", "features", "side", "size"),
    [("SCENE15", "codebook", 32, 6200), ("CIFAR10-GIST", "gist", 32, 512)],
)
def test_images_become_features(name, features, side, size):
    rng = np.random.default_rng(0)
    assert PROTOCOLS[name].features == features
    X = rng.integers(0, 256, size=(12, side * side)).astype(np.uint8)
    bunch = Bunch(X=X, y=np.arange(12) % 3, image_shape=(side, side))
    small = Protocol("small", name, "scenes", Share(0.75), features=features)
    split = prepare(small, bunch, 0, cache=ArrayCache(None))
    assert split.X_train.shape == (9, size) and split.X_test.shape == (3, size)


def test_hog_files_of_the_source_replace_its_images(monkeypatch):
    bunch = Bunch(image_shape=(32, 32), hog_train=np.ones((4, 6)), hog_test=np.ones((2, 6)))
    bunch |= {"X_train": None, "X_test": None, "y_train": np.arange(4), "y_test": np.arange(2)}
    monkeypatch.setattr("cwboost.experiments.protocols.load", lambda *args: Bunch(**bunch))
    loaded = load_for(PROTOCOLS["GTSRB"], None)
    protocol = Protocol("G", "GTSRB", "traffic", Batch(rows=4), features="hog")
    split = prepare(protocol, loaded, 0, cache=ArrayCache(None))
    assert split.X_train.shape == (4, 6) and split.X_test.shape == (2, 6)


# ---------------------------------------------------------------- runs


def test_hold_out_takes_a_quarter_of_each_class():
    y = np.repeat([0, 1, 2], [40, 8, 1])
    train, validation = hold_out(y, np.random.default_rng(0))
    assert np.array_equal(np.bincount(y[validation], minlength=3), [10, 2, 1])
    assert np.array_equal(np.sort(np.r_[train, validation]), np.arange(49))


def test_chosen_C_has_the_least_validation_error():
    bunch = load("VOWEL")
    split = prepare(PROTOCOLS["VOWEL"], bunch, 0, cache=ArrayCache(None))
    chosen = choose_C(METHODS["CW"], split, rounds=10, rng=np.random.default_rng(0), parameters={})
    errors = chosen["validation_error"]
    assert list(errors) == ["100", "1000", "10000", "100000"]
    assert errors[f"{chosen['C']:g}"] == min(errors.values())
    assert max(errors.values()) > min(errors.values())


def test_clock_stops_when_its_time_is_over():
    clock = RoundClock(seconds=0.05)
    assert clock.on_round_end(None) is False
    time.sleep(0.06)
    assert clock.on_round_end(None) is True
    assert clock.stopped and len(clock.cpu_seconds) == 2
    assert RoundClock().on_round_end(None) is False


@pytest.fixture
def plan(tmp_path):
    return Plan(
        figures=("uci",),
        out=tmp_path,
        runs=2,
        rounds=8,
        selection_rounds=4,
        methods=("CW", "CW-1"),
        datasets=("VOWEL", "ISOLET"),
        quiet=True,
    )


def test_absent_data_are_named_and_never_given_a_number(plan):
    from cwboost.experiments.report import write_report

    absent = reproduce(plan)
    assert list(absent) == ["ISOLET"]
    text = write_report(plan, absent)
    (line,) = (line for line in text.splitlines() if "ISOLET" in line)
    assert "not run: data absent" in line
    assert not re.search(r"\d", line.replace("ISOLET", ""))
    assert text == (plan.out / "table.md").read_text()


def test_results_hold_what_the_paper_compares(plan):
    reproduce(plan)
    runs = [r for r in plan.records.read() if r["key"]["kind"] == "run"]
    assert [(r["key"]["method"], r["key"]["run"]) for r in runs] == [
        ("CW", 0),
        ("CW-1", 0),
        ("CW", 1),
        ("CW-1", 1),
    ]
    for record in runs:
        assert record["n_train"] == 742 and record["n_test"] == 248
        for name in ("test_error", "objective", "cpu_seconds", "solver_seconds"):
            assert len(record[name]) == record["rounds"] == 8
        assert np.all(np.diff(record["cpu_seconds"]) >= 0)
        assert record["test_error"][-1] < record["test_error"][0]
    assert runs[0]["C"] in (1e2, 1e3, 1e4, 1e5)


def test_what_is_done_is_not_run_again(plan):
    reproduce(plan)
    path = plan.records.path
    before = path.read_bytes()
    reproduce(plan)
    assert path.read_bytes() == before
    lines = before.splitlines(keepends=True)
    # The last run is cut in half, as by a crash while it was written.
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:50])
    reproduce(plan)
    after = plan.records.read()
    assert [r["key"] for r in after] == [json.loads(line)["key"] for line in lines]
    # The rest was kept as it was, and the run repeated gives the same errors.
    assert path.read_bytes().startswith(b"".join(lines[:-1]))
    assert after[-1]["test_error"] == json.loads(lines[-1])["test_error"]


def test_more_rounds_are_runs_of_their_own(plan):
    reproduce(plan)
    n_before = len(plan.records.read())
    longer = Plan(**{**vars_of(plan), "rounds": 9, "runs": 1})
    reproduce(longer)
    curves = gather(plan.records.read(), longer)
    assert curves["VOWEL"]["CW"].rounds_done == 9
    assert gather(plan.records.read(), plan)["VOWEL"]["CW"].n_runs == 2
    assert len(plan.records.read()) == n_before + 3


def vars_of(plan):
    return {name: getattr(plan, name) for name in type(plan).__dataclass_fields__}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"figures": ("cats",)}, "figures must be of uci"),
        ({"methods": ("CW", "SVM")}, "methods must be of CW.* got SVM"),
        ({"datasets": ("IRIS",)}, "datasets must be of VOWEL"),
        ({"runs": 0}, "runs must be at least 1, got 0"),
        ({"rounds": -1}, "rounds must be at least 1"),
    ],
)
def test_bad_plans_are_refused(plan, change, message):
    with pytest.raises(ValueError, match=message):
        Plan(**{**vars_of(plan), **change})


def test_mo_runs_only_where_the_paper_ran_it(tmp_path):
    plan = Plan(figures=("uci", "traffic"), out=tmp_path)
    assert "Ada.MO" in plan.methods_of(PROTOCOLS["VOWEL"])
    assert "Ada.MO" not in plan.methods_of(PROTOCOLS["GTSRB"])


# ---------------------------------------------------------------- the file of results


def test_records_come_back_in_order(tmp_path):
    file = RecordFile(tmp_path / "new" / "results.jsonl")
    assert file.read() == []
    for n in range(3):
        file.append({"key": {"run": n % 2}, "value": n})
    assert [r["value"] for r in file.read()] == [0, 1, 2]
    assert file.find({"run": 0})["value"] == 2
    assert file.find({"run": 5}) is None


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


# ---------------------------------------------------------------- ratios


def curve(*errors, objective=None, seconds=1.0):
    return Curve(
        tuple(
            {
                "rounds": len(e),
                "stopped": False,
                "test_error": e,
                "objective": objective or e,
                "pricing_seconds": [0.25] * len(e),
                "solver_seconds": [0.75] * len(e),
                "cpu_seconds": [seconds * (n + 1) for n in range(len(e))],
            }
            for e in errors
        )
    )


def test_rounds_to_reach_uses_mean_curves():
    fast = curve([0.5, 0.2, 0.1], [0.5, 0.4, 0.1])
    slow = curve([0.9, 0.6, 0.3], [0.9, 0.6, 0.3])
    assert rounds_to_reach(fast, slow) == 2
    assert rounds_to_reach(slow, fast) is None


def test_a_run_that_ended_early_keeps_its_last_error():
    both = curve([0.5, 0.2, 0.1], [0.4])
    assert np.array_equal(both.test_error[1], [0.4, 0.4, 0.4])
    assert both.rounds_done == 1


def test_times_are_shared_by_pricing_and_solver():
    one = curve([0.5, 0.4], seconds=2.0)
    assert np.allclose(one.training_seconds, [[2.0, 4.0]])
    assert np.allclose(one.solver_seconds, [[1.5, 3.0]])
    assert time_ratio(one, curve([0.5, 0.4], seconds=8.0)) == pytest.approx(0.25)


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


# ---------------------------------------------------------------- the command


def command(out, *args):
    return [sys.executable, "-m", "cwboost", "reproduce", "--out", str(out), *args]


QUICK = ("--figure", "uci", "--quick")


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """The quick reproduction, killed after its first results and started again."""
    out = tmp_path_factory.mktemp("reproduce") / "new"
    results = out / "results.jsonl"
    process = subprocess.Popen(
        command(out, *QUICK), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and (
        not results.exists() or results.read_bytes().count(b"\n") < 3
    ):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = list(RecordFile(results).read())
    second = subprocess.run(command(out, *QUICK), capture_output=True, text=True)
    return out, kept, second


@pytest.mark.slow
def test_quick_reproduction_goes_on_after_a_kill(interrupted):
    out, kept, second = interrupted
    assert second.returncode == 0, second.stderr
    records = RecordFile(out / "results.jsonl").read()
    assert len(kept) >= 3
    assert records[: len(kept)] == kept
    runs = [r["key"]["method"] for r in records if r["key"]["kind"] == "run"]
    assert sorted(runs) == sorted(ALL_METHODS)
    # The progress bar of the second start knows what was left.
    n_left = len(ALL_METHODS) - sum(r["key"]["kind"] == "run" for r in kept)
    assert f"/{n_left} " in second.stderr


@pytest.mark.slow
def test_quick_reproduction_has_all_six_methods_in_table_and_figure(interrupted):
    out, _, second = interrupted
    rows = [line.split("|")[1:3] for line in second.stdout.splitlines() if "| VOWEL |" in line]
    assert [row[1].strip() for row in rows] == list(ALL_METHODS)
    assert "| ISOLET | not run: data absent |" in second.stdout
    assert (out / "uci.png").read_bytes().startswith(b"\x89PNG")
    svg = (out / "uci.svg").read_text("utf-8")
    assert svg.lstrip().startswith("<?xml")


@pytest.mark.slow
def test_solver_study_on_vowel(tmp_path):
    args = ("--figure", "solver", "--datasets", "VOWEL", "--runs", "1", "--rounds", "12", "--quiet")
    result = subprocess.run(command(tmp_path, *args), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    rows = {
        cells[2].strip(): cells
        for cells in (line.split("|") for line in result.stdout.splitlines())
        if len(cells) > 3 and cells[1].strip() == "VOWEL"
    }
    assert list(rows) == [*(f"FCD-{n}" for n in (1, 2, 3, 5, 10, 20)), "L-BFGS-B"]
    # Twenty working sets a round come as far down as the general solver.
    assert float(rows["FCD-20"][3]) == pytest.approx(float(rows["L-BFGS-B"][3]), rel=0.05)
    assert float(rows["FCD-1"][3]) > float(rows["FCD-2"][3])
    assert (tmp_path / "solver.png").read_bytes().startswith(b"\x89PNG")


def test_command_explains_unknown_methods(tmp_path):
    result = subprocess.run(
        command(tmp_path, "--methods", "SVM"), capture_output=True, text=True, env={**os.environ}
    )
    assert result.returncode == 1
    assert "methods must be of CW" in result.stderr
    assert "Traceback" not in result.stderr
