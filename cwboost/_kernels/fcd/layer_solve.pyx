"""Exact updates of one layer from joint-sign tables that were summed elsewhere."""

import numpy as np

from libc.stdint cimport int64_t, uint8_t

from cwboost._kernels.common.cpu cimport instruction_set
from cwboost._kernels.common.elementary cimport cwb_elementary_kernels, cwb_elementary_tables

cdef extern from "fcd/steps.h" nogil:
    void cwb_layer_solve(
        const cwb_elementary_kernels*, double*, int64_t, double, double, const uint8_t*,
        const double*, double*) noexcept

cdef const cwb_elementary_kernels* elementary = cwb_elementary_tables[instruction_set()]


def solve_layer(double[:, :, :, ::1] tables, double q, double step, const uint8_t[::1] active,
                const double[::1] coef):
    """Return the exact coordinate steps of one layer, one per class, taken class after class.

    `tables` are as `PairWeights.layer_tables` returns them, of one set of examples or summed over
    several, and change in place to those after the steps. `step` is the fraction of the way to each
    coordinate's minimiser (shrinkage), `active` is 0 for classes left out, and no entry of `coef`,
    the present coefficients, would fall below zero.
    """
    cdef int64_t K = tables.shape[0]
    moved = np.zeros(K)
    cdef double[::1] d = moved
    with nogil:
        cwb_layer_solve(elementary, &tables[0, 0, 0, 0], K, q, step, &active[0], &coef[0],
                        &d[0])
    return moved
