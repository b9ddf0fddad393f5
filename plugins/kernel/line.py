"""Aumann-Shapley values of the kernel model: its slopes along the line to an example.

On the line from an origin o to the codes z of an example, feature f adds to a score s

    (z_f - o_f) int_0^1 ds/dz_f (o + t (z - o)) dt

(Aumann and Shapley 1974; as integrated gradients, Sundararajan et al. 2017). With the landmarks l
and their coefficients a_l, the slope is the sum of ``a_l k'(d_l) 2 (z - l)_f``, where the squared
distance d_l is a parabola in t. So only ``k'`` and ``t k'`` are integrated, by `POINTS` points of
Gauss and Legendre: n rows, m landmarks, d features and K scores cost ``n m d K``.
"""

import numpy as np
from cwboost.plugins.kernel.kernel_values import TAIL

from cwboost.kernels import exp, log, matrix_product

POINTS = 12
"""Of the quadrature: its error is below 1e-3 of the deviation of the scores on real tables."""


def along_line(codes, origin, landmarks, width: float, coefficients):
    """Return what each feature adds between an origin and rows of codes, and the origin's scores.

    Codes and landmarks, one row each, are float64, and `coefficients` has one row per landmark. The
    values, (n_samples, n_features, n_scores), and the scores at the origin add up to those of each
    row, up to the error of the quadrature.
    """
    steps, gaps = codes - origin, origin - landmarks
    apart = 1.0 + np.square(gaps).sum(axis=1) / (TAIL * width)
    slope = matrix_product(steps, gaps.T) * (2.0 / (TAIL * width))
    bend = np.square(steps).sum(axis=1)[:, None] / (TAIL * width)
    falls, later = np.zeros(slope.shape), np.zeros(slope.shape)
    for point, weight in zip(*np.polynomial.legendre.leggauss(POINTS)):
        t = 0.5 + 0.5 * point
        fall = (0.5 * weight) * exp(-(TAIL + 1.0) * log(apart + t * (slope + t * bend)))
        falls += fall
        later += t * fall
    values = np.empty((*codes.shape, coefficients.shape[1]))
    for k, column in enumerate(coefficients.T):
        moved = matrix_product(later, column[:, None])
        values[:, :, k] = matrix_product(falls * column, gaps) + moved * steps
    values *= (-2.0 / width) * steps[:, :, None]
    return values, matrix_product(exp(-TAIL * log(apart))[None], coefficients)[0]
