"""The demonstration of the paper as run by a user: table, figure, models."""

import re
import subprocess
import sys

import numpy as np
import pytest

from cwboost import load_model
from cwboost.datasets import load_vowel


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "new"
    command = [sys.executable, "-m", "cwboost", "demo", "--paper", "--rounds", "50"]
    command += ["--out", str(out)]
    return out, subprocess.run(command, capture_output=True, text=True)


def rows(stdout):
    """Return the lines of the table as lists of cells."""
    return [line.split() for line in stdout.splitlines() if re.match(r" *(VOWEL|PENDIGITS) ", line)]


@pytest.mark.slow
def test_demo_prints_one_row_per_checkpoint(finished):
    _, result = finished
    assert result.returncode == 0, result.stderr
    table = [row for row in rows(result.stdout) if len(row) == 10]
    assert [row[:2] + row[3:4] for row in table] == [
        [dataset, method, n]
        for dataset in ("VOWEL", "PENDIGITS")
        for method in ("CW", "CW-1")
        for n in ("10", "20", "50")
    ]
    assert "round" in result.stderr  # the progress bar


@pytest.mark.slow
def test_demo_trains_models_to_low_errors(finished):
    _, result = finished
    last = {(r[0], r[1]): r for r in rows(result.stdout) if len(r) == 10 and r[3] == "50"}
    assert float(last["VOWEL", "CW"][4]) == 0.0  # training error
    assert float(last["VOWEL", "CW"][5]) < 25.0  # test error
    assert float(last["PENDIGITS", "CW"][5]) < 4.0
    assert float(last["PENDIGITS", "CW-1"][5]) < 5.0


@pytest.mark.slow
def test_demo_writes_a_figure_and_models(finished):
    out, _ = finished
    assert (out / "demo_paper.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(out.glob("*.cwb"))) == 4
    model = load_model(out / "vowel-cw.cwb")
    objective, bound = model.history_["objective"], model.history_["dual_bound"]
    assert len(objective) == 50 and np.all(np.diff(objective) <= 1e-9 * objective[:-1])
    assert np.all(bound <= objective)
    X, y = load_vowel(return_X_y=True)
    assert model.score(X, y) > 0.9
