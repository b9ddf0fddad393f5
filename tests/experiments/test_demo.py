"""The demonstration as run by a user: table, certificate, figure, model, what to type next."""

import re

import pytest

from cwboost import load_model
from cwboost.cli import main
from cwboost.datasets import load_annealing, load_pendigits
from cwboost.experiments import demo


def some_pendigits():
    """A tenth of the rows, which takes a tenth of the time."""
    bunch = load_pendigits()
    bunch.data, bunch.target = bunch.data[::10], bunch.target[::10]
    return bunch


@pytest.mark.slow
def test_the_demonstration(tmp_path, monkeypatch, capsys):
    """Three classifiers on three sets, a certificate, a figure, a model and commands that run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(demo.SETS, "PENDIGITS", (some_pendigits, demo.SETS["PENDIGITS"][1]))
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    names = "|".join(demo.SETS)
    lines = rf"^({names}) +([A-Za-z]+)((?: +[\d.]+){{4}})$"
    cells = re.findall(lines, out, re.M)
    found = {(dataset, name): [*map(float, row.split())] for dataset, name, row in cells}
    names = ("cwboost", "HistGradientBoosting", "RandomForest")
    assert list(found) == [(dataset, name) for dataset in demo.SETS for name in names]
    for error, loss, fit_seconds, predict_seconds in found.values():
        assert error < 10 and loss < 0.6 and fit_seconds > 0 and predict_seconds >= 0
    assert found["VOWEL", "cwboost"][0] < found["VOWEL", "RandomForest"][0]

    text = " ".join(out.split())
    shown = re.search(r"objective of ([\d.]+); .* below ([\d.]+), .* ([\d.]+)%\.", text).groups()
    objective, bound, gap = map(float, shown)
    assert bound < objective and gap == pytest.approx(100 * (1 - bound / objective), abs=0.1)
    assert (tmp_path / "demo_output" / "demo.png").read_bytes().startswith(b"\x89PNG")
    model = load_model(tmp_path / "demo_output" / "annealing.cwb")
    assert model.score(*load_annealing(return_X_y=True)) > 0.95

    following = out.partition("\nnext:\n")[2]
    found = re.findall(r"^  \S*cwboost (inspect|reproduce|--help)(.*?) *#", following, re.M)
    assert [name for name, _ in found] == ["inspect", "reproduce", "--help"]
    assert main(["inspect", *found[0][1].split()]) == 0
    assert "CWBoostClassifier" in capsys.readouterr().out
