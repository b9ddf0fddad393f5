"""Check of the edges that a pricer reports, by the outputs that it reports."""

from cython.parallel cimport prange
from libc.float cimport DBL_EPSILON
from libc.math cimport fabs
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set

FALSE_EDGE, WEAK_EDGE = "false", "weak"

cdef extern from "common/packed_edges.h" nogil:
    ctypedef struct cwb_packed_edge:
        double edge, total, magnitude
    void cwb_edge "CWB_BEST(packed_edge)"(
        const double *r, const uint8_t *bits, int64_t n, cwb_packed_edge *found)

cwb_set = instruction_set()

# Below this number of weights a second thread costs more than it saves.
cdef int64_t PARALLEL_WEIGHTS = 60_000


def find_false_edge(const double[:, :] weights, const uint8_t[:, ::1] outputs,
                    const double[::1] edges, bint exact, int n_threads=1):
    """Compute the edges of learners from their outputs, and compare them with those given.

    Learner t is that of row t of the weights; if `exact`, it is no weaker than the better
    constant. None if all is right, up to a bound on the rounding of such sums. Else what is
    wrong, the index of the first such learner, and a number: `FALSE_EDGE` and the edge by the
    outputs, or `WEAK_EDGE` and the edge of the better constant. Costs one pass over the weights of
    each learner. The last axis of `weights` is contiguous; the others are checked, see
    `cwboost.families.sealing.pricer.check_priced`.
    """
    cdef int64_t j, n = outputs.shape[0], n_samples = weights.shape[1]
    cdef double slack = 4.0 * n_samples * DBL_EPSILON
    if n == 0 or n_samples == 0:
        return None
    cdef cwb_packed_edge *found = edges_of(weights, outputs, 1, n_threads)
    try:
        for j in range(n):
            # A comparison with NaN is false.
            if not fabs(edges[j] - found[j].edge) <= slack * found[j].magnitude:
                return FALSE_EDGE, j, found[j].edge
        for j in range(n if exact else 0):
            if edges[j] < fabs(found[j].total) - slack * found[j].magnitude:
                return WEAK_EDGE, j, fabs(found[j].total)
    finally:
        free(found)
    return None


def find_false_shared_edge(const double[:, :] weights, const uint8_t[:, ::1] outputs,
                           const double[::1] edges, int n_threads=1):
    """Do the same for a learner of all targets; see `Pricer.price_shared`."""
    cdef int64_t t, n_samples = weights.shape[1], n_targets = weights.shape[0]
    cdef double edge = 0.0, magnitude = 0.0
    if n_samples == 0:
        return None
    cdef cwb_packed_edge *found = edges_of(weights, outputs, 0, n_threads)
    for t in range(n_targets):
        edge += fabs(found[t].edge)
        magnitude += found[t].magnitude
    free(found)
    if not fabs(edges[0] - edge) <= 4.0 * n_samples * DBL_EPSILON * magnitude:
        return FALSE_EDGE, 0, edge
    return None


cdef cwb_packed_edge *edges_of(const double[:, :] weights, const uint8_t[:, ::1] outputs,
                               int64_t step, int n_threads) except NULL:
    """Return new edges, one per target: of learner ``step * t`` for target t."""
    cdef int64_t t, n = weights.shape[0], n_samples = weights.shape[1]
    cdef cwb_packed_edge *found = <cwb_packed_edge *> malloc(n * sizeof(cwb_packed_edge))
    if found == NULL:
        raise MemoryError("no memory to check edges")
    if n_threads == 1 or n * n_samples < PARALLEL_WEIGHTS:
        with nogil:
            for t in range(n):
                cwb_edge(&weights[t, 0], &outputs[step * t, 0], n_samples, &found[t])
    else:
        for t in prange(n, nogil=True, num_threads=n_threads, schedule="static"):
            cwb_edge(&weights[t, 0], &outputs[step * t, 0], n_samples, &found[t])
    return found
