"""Training by turns with PyTorch, whose wheels bring an OpenMP library of their own."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

PROGRAM = """
import {first}
import torch
from sklearn.datasets import load_iris

from cwboost import CWBoostClassifier

X, y = load_iris(return_X_y=True)
A = torch.arange(250_000.0).reshape(500, 500).sin()


def turn(n_threads):
    torch.set_num_threads(n_threads)
    clf = CWBoostClassifier("tree", init=None, n_estimators=5, random_state=0, n_jobs=n_threads)
    clf.fit(X, y)
    return clf.decision_function(X).tobytes(), A.exp().numpy().tobytes()


assert turn(1) == turn(2) == turn(2)
"""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
@pytest.mark.parametrize("first", ["torch", "cwboost.kernels"])
def test_torch_and_cwboost_train_by_turns(first):
    program = PROGRAM.format(first=first)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
