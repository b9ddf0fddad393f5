"""The demonstration as run by a user: table, certificate, figure, model, what to type next."""

import re
import subprocess
import sys

import pytest

from cwboost import load_model
from cwboost.cli import main
from cwboost.datasets import load_annealing
from cwboost.experiments import demo


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "cwboost", "demo"]
    return folder, subprocess.run(command, cwd=folder, capture_output=True, text=True)


def rows(stdout):
    """Return the cells of the table's rows by data set and classifier."""
    names = "|".join(demo.SETS)
    lines = re.findall(rf"^({names}) +([A-Za-z]+)((?: +[\d.]+){{4}})$", stdout, re.M)
    return {(dataset, name): [float(x) for x in cells.split()] for dataset, name, cells in lines}


@pytest.mark.slow
def test_demo_measures_three_classifiers_on_three_sets(finished):
    _, result = finished
    assert (result.returncode, result.stderr) == (0, "")
    found = rows(result.stdout)
    names = ("cwboost", "HistGradientBoosting", "RandomForest")
    assert list(found) == [(dataset, name) for dataset in demo.SETS for name in names]
    for error, loss, fit_seconds, predict_seconds in found.values():
        assert error < 10 and loss < 0.6 and fit_seconds > 0 and predict_seconds >= 0
    assert found["VOWEL", "cwboost"][0] < found["VOWEL", "RandomForest"][0]


@pytest.mark.slow
def test_demo_states_a_certificate(finished):
    text = " ".join(finished[1].stdout.split())
    objective, bound, gap = map(
        float, re.search(r"objective of ([\d.]+); .* below ([\d.]+), .* ([\d.]+)%\.", text).groups()
    )
    assert bound < objective
    assert gap == pytest.approx(100 * (1 - bound / objective), abs=0.1)


@pytest.mark.slow
def test_demo_writes_a_figure_and_a_model(finished):
    folder, _ = finished
    assert (folder / "demo_output" / "demo.png").read_bytes().startswith(b"\x89PNG")
    model = load_model(folder / "demo_output" / "annealing.cwb")
    assert model.score(*load_annealing(return_X_y=True)) > 0.95


@pytest.mark.slow
def test_commands_that_the_demo_names_run(finished):
    folder, result = finished
    following = result.stdout.partition("\nnext:\n")[2]
    found = re.findall(r"^  \S*cwboost (inspect|demo|--help)(.*?) *#", following, re.M)
    assert [name for name, _ in found] == ["inspect", "demo", "--help"]
    command = [sys.executable, "-m", "cwboost", "inspect", *found[0][1].split()]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "CWBoostClassifier" in done.stdout


def test_rounds_are_for_the_paper(capsys):
    assert main(["demo", "--rounds", "5"]) == 1
    assert "--rounds needs --paper" in capsys.readouterr().err
