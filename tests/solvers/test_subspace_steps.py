"""Subspace steps between the passes of coordinate descent."""

import numpy as np
import pytest
import slow_master

from cwboost import solve_master
from cwboost.solvers.subspace_steps import SubspaceSteps


def test_steps_save_passes_and_never_raise_the_objective(monkeypatch):
    rng = np.random.default_rng(1)
    H, y, weight = slow_master.random_problem(rng, 5, 300, 60, True)
    options = {"epsilon": 1e-6, "max_working_sets": 20_000, "random_state": 0}
    objectives = []
    after_pass = SubspaceSteps.after_pass

    def watched(self, master):
        objectives.append(master.objective)
        after_pass(self, master)
        objectives.append(master.objective)

    monkeypatch.setattr(SubspaceSteps, "after_pass", watched)
    found = solve_master(H, y, 1e5, sample_weight=weight, **options)
    assert (np.diff(objectives) <= 1e-12 * found.objective).all()
    monkeypatch.setattr(SubspaceSteps, "after_pass", lambda self, master: None)
    plain = solve_master(H, y, 1e5, sample_weight=weight, **options)
    assert found.converged and plain.converged
    assert found.objective == pytest.approx(plain.objective, rel=1e-8)
    assert 2 * found.n_working_sets < plain.n_working_sets
