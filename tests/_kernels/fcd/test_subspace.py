"""The Newton step in a few directions."""

import numpy as np
from cwboost._kernels.fcd.subspace import newton_step


def test_newton_step_is_the_minimiser_and_ignores_empty_directions():
    a = np.random.default_rng(0).normal(size=(3, 3))
    curvature, slope = a @ a.T, np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(curvature @ newton_step(slope, curvature), -slope, rtol=1e-6)
    curvature[1] = curvature[:, 1] = 0.0
    step = newton_step(slope, curvature)
    assert step[1] == 0.0
    np.testing.assert_allclose((curvature @ step)[[0, 2]], -slope[[0, 2]], rtol=1e-6)
    np.testing.assert_array_equal(newton_step(slope, np.zeros((3, 3))), 0.0)
