"""Scores that follow changed coefficients, from outputs kept at one bit per example."""

from libc.stdint cimport int64_t, uint8_t

import numpy as np

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set

cdef extern from "prediction/votes.h" nogil:
    ctypedef struct cwb_vote_entries:
        const int64_t* row
        const int64_t* target
        const double* step
        int64_t n
    void cwb_votes(const uint8_t*, int64_t, const cwb_vote_entries*, double*)

cwb_set = instruction_set()


def add_votes(const uint8_t[:, ::1] packed, rows, targets, steps, double[:, ::1] scores):
    """Add ``steps[e]`` times the outputs ``packed[rows[e]]`` to ``scores[targets[e]]``, in order.

    A row of `packed` is packed by `cwboost.families.contract.pack_outputs`, and one of `scores` has
    eight entries per byte, of which those after the last example have no meaning.
    """
    cdef const int64_t[::1] row = np.ascontiguousarray(rows, dtype=np.int64)
    cdef const int64_t[::1] target = np.ascontiguousarray(targets, dtype=np.int64)
    cdef const double[::1] step = np.ascontiguousarray(steps, dtype=np.float64)
    cdef int64_t n_entries = row.shape[0], e
    for e in range(n_entries):
        if not (0 <= row[e] < packed.shape[0] and 0 <= target[e] < scores.shape[0]):
            raise ValueError("rows and targets must lie inside packed and scores")
    cdef cwb_vote_entries entries
    if n_entries and packed.shape[1]:
        entries.row, entries.target, entries.step = &row[0], &target[0], &step[0]
        entries.n = n_entries
        with nogil:
            cwb_votes(&packed[0, 0], packed.shape[1], &entries, &scores[0, 0])
