"""The best interval of a sorted feature is its subarray of greatest or least sum of weights.

Let S be the sum of all weights and I that of the examples inside. The edge of an interval is
2 I - S, so the best interval has the greatest I, or the least with the signs swapped. Kadane's
scan finds both in one pass over the sorted values.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cwboost_acme.cwboost_kernels cimport assign_bit, bits_t, packed_edge, packed_size


cdef struct Found:
    double edge
    int64_t feature, first, last, polarity


cdef void scan_feature(
    const double* values,
    const int32_t* order,
    const double* weights,
    Py_ssize_t n,
    double total,
    int64_t feature,
    Found* best,
) noexcept nogil:
    """Improve `best` by the intervals of one feature; equal values stay together."""
    cdef Py_ssize_t start = 0, end, first_of_most = 0, first_of_least = 0
    cdef double block, most = 0.0, least = 0.0
    while start < n:
        end, block = start, weights[order[start]]
        while end + 1 < n and values[end + 1] == values[start]:
            end += 1
            block += weights[order[end]]
        # An interval that ends here extends the best one that ended before, if that helps.
        if start == 0 or most < 0.0:
            most, first_of_most = 0.0, start
        if start == 0 or least > 0.0:
            least, first_of_least = 0.0, start
        most += block
        least += block
        if 2.0 * most - total > best.edge:
            best.edge, best.polarity = 2.0 * most - total, 1
            best.feature, best.first, best.last = feature, first_of_most, end
        if total - 2.0 * least > best.edge:
            best.edge, best.polarity = total - 2.0 * least, -1
            best.feature, best.first, best.last = feature, first_of_least, end
        start = end + 1


def best_intervals(
    const double[:, ::1] values, const int32_t[:, ::1] order, const double[:, :] weights
):
    """Return the best interval for each target.

    Parameters
    ----------
    values : float64 (n_features, n_samples), ascending in each row
    order : int32 (n_features, n_samples), the examples in that order
    weights : float64 (n_targets, n_samples), last axis contiguous

    Returns
    -------
    found : int64 (n_targets, 4)
        Feature, first and last place in its order that the interval holds, polarity.
    outputs : uint8 (n_targets, packed size)
    edges : float64 (n_targets,)
    """
    cdef Py_ssize_t n_features = values.shape[0], n = values.shape[1]
    cdef Py_ssize_t n_targets = weights.shape[0], t, i, f, k
    found_array = np.empty((n_targets, 4), dtype=np.int64)
    outputs_array = np.zeros((n_targets, packed_size(n)), dtype=np.uint8)
    edges_array = np.empty(n_targets)
    cdef int64_t[:, ::1] found = found_array
    cdef bits_t[:, ::1] outputs = outputs_array
    cdef double[::1] edges = edges_array
    cdef const double* row
    cdef double total
    cdef Found best
    with nogil:
        for t in range(n_targets):
            row = &weights[t, 0]
            total = 0.0
            for i in range(n):
                total += row[i]
            # All examples: a constant, which every other interval must beat.
            best = Found(total if total >= 0.0 else -total, 0, 0, n - 1, 1 if total >= 0.0 else -1)
            for f in range(n_features):
                scan_feature(&values[f, 0], &order[f, 0], row, n, total, f, &best)
            for i in range(n):
                assign_bit(&outputs[t, 0], i, best.polarity < 0)
            for k in range(best.first, best.last + 1):
                assign_bit(&outputs[t, 0], order[best.feature, k], best.polarity > 0)
            edges[t] = packed_edge(&outputs[t, 0], row, n)
            found[t, 0], found[t, 1] = best.feature, best.first
            found[t, 2], found[t, 3] = best.last, best.polarity
    return found_array, outputs_array, edges_array
