"""Fast coordinate descent: when it says that it has converged."""

import numpy as np

from cwboost import pack_outputs
from cwboost.master import RestrictedMaster
from cwboost.solvers.fcd import fcd


def test_weights_that_are_not_numbers_are_not_convergence():
    rng = np.random.default_rng(0)
    master = RestrictedMaster(np.array([5, 5]), 10.0)
    for c in range(2):
        master.add(np.full(3, c), pack_outputs(rng.choice([-1, 1], (10, 3))))
    master.weights[0, 0] = np.nan
    report = fcd(master, [], epsilon=1e6, rng=rng)
    assert not report.converged
    assert np.isnan(report.max_violation)
