"""Shares of the features in what thresholds on directions gain (cwboost/kernels/chance.py)."""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t

import numpy as np

from cwboost._kernels.common.cpu cimport instruction_set

cdef extern from "projections/shares.h" nogil:
    ctypedef struct cwb_share_kernels:
        void (*sums)(const double *z, const double *along, const double *weight, int64_t n,
                     double *slope, double *square) noexcept nogil
    const cwb_share_kernels *cwb_share_tables[]

cdef const cwb_share_kernels *kernels = cwb_share_tables[instruction_set()]


cdef bint prepare(
    const double *z, const double *w, double threshold, int64_t n, double width,
    double *along, double *weight
) noexcept nogil:
    """Compute what a learner's sums multiply; False if no example is near its threshold.

    The weights under the kernel k around the threshold, ``weight = k w``; and, per unit of a
    feature, its effect on the learner's sum of weights,
    ``along = k w - (sum of k w) k / (sum of k) - fall z / n``. The derivative of the mean under k
    counts in ``fall``.
    """
    cdef int64_t i
    cdef double mean = 0.0, spread = 0.0, u, k, slope, at
    cdef double of_k = 0.0, of_kw = 0.0, of_slope = 0.0, of_slope_w = 0.0, fall
    for i in range(n):
        mean += z[i]
    mean = mean / n
    for i in range(n):
        spread += (z[i] - mean) * (z[i] - mean)
    spread = sqrt(spread / n)
    if not spread > 0.0:
        return False
    at = (threshold - mean) / spread
    for i in range(n):
        u = ((z[i] - mean) / spread - at) / width
        k = max(0.0, 1.0 - u * u)
        slope = -2.0 / width * u if k > 0.0 else 0.0
        along[i] = k
        weight[i] = k * w[i]
        of_k += k
        of_kw += weight[i]
        of_slope += slope
        of_slope_w += slope * w[i]
    if not of_k > 0.0:
        return False
    fall = of_slope_w - of_kw * of_slope / of_k
    for i in range(n):
        along[i] = weight[i] - of_kw * (along[i] / of_k) - fall * ((z[i] - mean) / spread / n)
    return True


cdef void share(const double *d, int64_t n_features, double harm, double *slope,
                double *square) noexcept nogil:
    """Write the share of each feature to `slope`; see cwboost/kernels/chance.py for the terms."""
    cdef int64_t f
    cdef double gain = 0.0, slopes = 0.0, entries = 0.0, size = 0.0, by_chance, rest = 0.0
    for f in range(n_features):
        gain += d[f] * slope[f]
        size += fabs(d[f] * slope[f])
        slopes += slope[f] * slope[f]
        entries += d[f] * d[f]
    if not (size > 0.0 and slopes > 0.0):
        for f in range(n_features):
            slope[f] = 0.0
        return
    by_chance = fabs(gain) / slopes
    for f in range(n_features):
        slope[f] = d[f] * slope[f] - by_chance * square[f]
        rest += slope[f]
    for f in range(n_features):
        slope[f] = (slope[f] - harm * rest * d[f] * d[f] / entries) / size


def shares_of_features(
    const double[:, ::1] z, const double[::1] thresholds, const double[:, ::1] w,
    const double[:, ::1] entries, const double[:, ::1] by_feature, double width, double harm
):
    """Return the share of each feature in what a learner gains; zeros if it gains nothing.

    Parameters
    ----------
    z : ndarray of shape (n_learners, n), dtype float64
        Projections of the sample.
    thresholds : ndarray of shape (n_learners,), dtype float64
    w : ndarray of shape (n_learners, n), dtype float64
        Weights of the sample.
    entries : ndarray of shape (n_learners, n_features), dtype float64
        The directions, in units of the features' deviations.
    by_feature : ndarray of shape (n_features, n_padded), dtype float64
        The standardised sample; n_padded is the multiple of 8 from n on.
    width, harm : float
        See cwboost/kernels/chance.py.

    Returns
    -------
    ndarray of shape (n_learners, n_features), dtype float64
    """
    cdef int64_t n_learners = z.shape[0], n = z.shape[1], n_features = entries.shape[1]
    cdef int64_t padded = by_feature.shape[1], t, f
    if (n == 0 or padded % 8 or padded < n or by_feature.shape[0] != n_features
            or thresholds.shape[0] != n_learners or w.shape[0] != n_learners or w.shape[1] != n
            or entries.shape[0] != n_learners):
        raise ValueError("z, thresholds, w, entries and by_feature do not fit together")
    shares = np.zeros((n_learners, n_features))
    cdef double[:, ::1] out = shares
    cdef double[:, ::1] rows = np.zeros((2, padded))
    cdef double[::1] square = np.zeros(n_features)
    with nogil:
        for t in range(n_learners):
            if not prepare(&z[t, 0], &w[t, 0], thresholds[t], n, width, &rows[0, 0], &rows[1, 0]):
                continue
            for f in range(n_features):
                square[f] = 0.0
                if entries[t, f] != 0.0:
                    kernels.sums(&by_feature[f, 0], &rows[0, 0], &rows[1, 0], padded, &out[t, f],
                                 &square[f])
            share(&entries[t, 0], n_features, harm, &out[t, 0], &square[0])
    return shares
