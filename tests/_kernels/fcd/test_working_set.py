"""Which columns a pass updates, and in which order."""

import numpy as np
import pytest
from cwboost._kernels.fcd.working_set import in_turns, violated


def test_violated_as_the_paper_defines_it():
    edges = np.array([[1.5, 0.5, 0.5, 0.0], [1.05, 0.95, 1.0, 0.8]])
    coef = np.array([[0.0, 0.0, 2.0, 0.0], [1.0, 1.0, 1.0, 0.0]])
    worst, classes, rows = violated(edges, coef, 0.1)
    assert worst == 0.5
    assert (classes.tolist(), rows.tolist()) == ([0, 0], [0, 2])
    worst, classes, rows = violated(edges, coef, 0.01)
    assert (classes.tolist(), rows.tolist()) == ([0, 0, 1, 1], [0, 2, 0, 1])


@pytest.mark.parametrize("entry", [(0, 0), (0, 3), (1, 1), (1, 3)])
def test_a_violation_that_is_not_a_number_is_the_worst_and_in_the_working_set(entry):
    edges = np.array([[1.5, 0.5, 0.5, 0.0], [1.05, 0.95, 1.0, 0.8]])
    edges[entry] = np.nan
    worst, classes, rows = violated(edges, np.ones((2, 4)), 0.1)
    assert np.isnan(worst)
    assert entry in zip(classes.tolist(), rows.tolist())


def test_order_of_a_pass():
    rng = np.random.default_rng(7)
    classes = np.repeat(np.arange(4), [50, 3, 20, 37])
    rows = np.arange(110)
    picks, turn = rng.permutation(110), rng.permutation(4)
    for n_turns in (1, 3, 4):
        to_classes, to_rows = in_turns(classes, rows, picks, turn, n_turns)
        turns = np.arange(110) * n_turns // 110
        order = picks[np.argsort(turns * 4 + turn[classes[picks]], kind="stable")]
        np.testing.assert_array_equal(to_rows, order)
        np.testing.assert_array_equal(to_classes, classes[order])
