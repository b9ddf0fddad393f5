"""Sums of weights per category of features, all targets in one pass; see categories.h."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t

import numpy as np

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set

cdef extern from "stumps/categories.h" nogil:
    enum:
        CWB_CATEGORY_LANES
    void cwb_add_to_categories "CWB_BEST(add_to_categories)"(
        const double *rows, const int32_t *codes, int64_t n, double *sums)
    void cwb_rows_side_by_side(const double *weights, int64_t stride, int64_t n_targets,
                               int64_t start, int64_t stop, double *rows)

cwb_set = instruction_set()
cdef int64_t ROWS_OF_A_TASK = 1024


def category_sums(const double[:, :] weights, const int32_t[:, ::1] codes,
                  const int64_t[::1] columns, const int64_t[::1] starts, int n_threads):
    """Return the sum of the weights of each category, for each target: (starts[-1], n_targets).

    `weights` are (n_targets, n_samples), the last axis contiguous; `codes`, (n_features,
    n_samples), are those of categories, from 0, and `columns` the rows of them to sum. `starts`,
    (n_columns + 1,), has the place of the first category of each of these columns among the sums;
    the codes of the column are below the difference to the next.
    """
    cdef int64_t n_targets = weights.shape[0], n = weights.shape[1], n_columns = columns.shape[0]
    cdef int64_t stride = weights.strides[0] // <int64_t> sizeof(double)
    cdef int64_t n_tasks = (n + ROWS_OF_A_TASK - 1) // ROWS_OF_A_TASK
    cdef int64_t first, lanes, task, c, k
    sums = np.zeros((starts[n_columns], n_targets))
    if n == 0 or n_columns == 0 or n_targets == 0:
        return sums
    cdef double[:, ::1] rows = np.empty((n, CWB_CATEGORY_LANES))
    cdef double[:, ::1] part
    for first in range(0, n_targets, CWB_CATEGORY_LANES):
        lanes = min(CWB_CATEGORY_LANES, n_targets - first)
        for task in prange(n_tasks, nogil=True, schedule="static", num_threads=n_threads):
            cwb_rows_side_by_side(
                &weights[first, 0], stride, lanes, task * ROWS_OF_A_TASK,
                min(n, (task + 1) * ROWS_OF_A_TASK), &rows[0, 0])
        # One slot after the sums, so that the address of an empty column is valid.
        part = np.zeros((starts[n_columns] + 1, CWB_CATEGORY_LANES))
        for c in prange(n_columns, nogil=True, schedule="dynamic", num_threads=n_threads):
            cwb_add_to_categories(&rows[0, 0], &codes[columns[c], 0], n, &part[starts[c], 0])
        k = starts[n_columns]
        sums[:, first:first + lanes] = np.asarray(part)[:k, :lanes]
    return sums
