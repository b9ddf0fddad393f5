"""Shares of the features in what thresholds on directions gain (cwboost/kernels/chance.py)."""

from cython cimport floating
from libc.math cimport fabs, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t

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


cdef bint read_direction(const double[:, :] directions, int64_t t, const double[::1] spread,
                         double *entries) noexcept nogil:
    """Write a direction in units of the features' deviations, its largest entry 1.

    Entries that overflow become 0. False if nothing is left.
    """
    cdef int64_t f
    cdef double size = 0.0, entry
    cdef bint known = True, is_left = False
    for f in range(spread.shape[0]):
        entries[f] = directions[f, t] * spread[f]
        known = known and entries[f] == entries[f]
        size = max(size, fabs(entries[f]))
    for f in range(spread.shape[0]):
        entry = entries[f] / size if size > 0.0 else 0.0
        entries[f] = entry if known and entry - entry == 0.0 else 0.0
        is_left = is_left or entries[f] != 0.0
    return is_left


cdef void read_weights(const double[:, :] weights, int64_t t, const int64_t[::1] rows,
                       double polarity, double *w) noexcept nogil:
    """Write the signed weights of the sample, the largest of size 1."""
    cdef int64_t i
    cdef double size = 1e-300
    for i in range(rows.shape[0]):
        w[i] = weights[t, rows[i]] * polarity
        size = max(size, fabs(w[i]))
    for i in range(rows.shape[0]):
        w[i] = w[i] / size


cdef class FeatureShares:
    """Shares of the features in what learners gain, from one sample of examples.

    Parameters
    ----------
    by_feature : ndarray of shape (n_features, n_padded), dtype float64
        The standardised sample; n_padded is the multiple of 8 from n_sampled on.
    spread : ndarray of shape (n_features,), dtype float64
        Standard deviation of each feature.
    width, harm : float
        See cwboost/kernels/chance.py.
    """

    cdef const double[:, ::1] by_feature
    cdef const double[::1] spread
    cdef double width
    cdef double harm

    def __init__(self, const double[:, ::1] by_feature, const double[::1] spread, double width,
                 double harm):
        if by_feature.shape[1] % 8 or by_feature.shape[0] != spread.shape[0]:
            raise ValueError("by_feature and spread do not fit together")
        self.by_feature, self.spread = by_feature, spread
        self.width, self.harm = width, harm

    def of_learners(
        self, const floating[:, :] projections, const double[:] thresholds,
        const int8_t[:] polarity, const double[:, :] weights, const int64_t[::1] rows,
        const double[:, :] directions, const double[:] gained
    ):
        """Return the share of each feature times what the learner gained.

        Parameters
        ----------
        projections : ndarray of shape (n_learners, n_sampled), dtype float32 or float64
            Of the sample; what is not finite counts as 0.
        thresholds : ndarray of shape (n_learners,), dtype float64
        polarity : ndarray of shape (n_learners,), dtype int8
        weights : ndarray of shape (n_learners, n_samples), dtype float64
        rows : ndarray of shape (n_sampled,), dtype int64
            The sample, indices in [0, n_samples).
        directions : ndarray of shape (n_features, n_learners), dtype float64
        gained : ndarray of shape (n_learners,), dtype float64
            A negative number counts as 0.

        Returns
        -------
        ndarray of shape (n_learners, n_features), dtype float32
            Zeros of a learner that gains nothing; an entry that is not finite is 0.
        """
        cdef int64_t n_learners = projections.shape[0], n = projections.shape[1]
        cdef int64_t n_features = self.spread.shape[0], padded = self.by_feature.shape[1], t, i, f
        if (n == 0 or n > padded or rows.shape[0] != n or directions.shape[0] != n_features
                or not (n_learners == directions.shape[1] == thresholds.shape[0]
                        == polarity.shape[0] == weights.shape[0] == gained.shape[0])):
            raise ValueError("projections, learners, weights and rows do not fit together")
        for i in range(n):
            if not 0 <= rows[i] < weights.shape[1]:
                raise ValueError(f"rows must be in [0, {weights.shape[1]}), got {rows[i]}")
        shares = np.zeros((n_learners, n_features), dtype=np.float32)
        cdef float[:, ::1] out = shares
        cdef double[:, ::1] of_rows = np.zeros((4, padded))  # z, w, along, weight
        cdef double[:, ::1] of_features = np.zeros((3, n_features))  # entries, slope, square
        cdef double *z = &of_rows[0, 0]
        cdef double *w = &of_rows[1, 0]
        cdef double *entries = &of_features[0, 0] if n_features else NULL
        cdef double *slope = &of_features[1, 0] if n_features else NULL
        cdef double *square = &of_features[2, 0] if n_features else NULL
        with nogil:
            for t in range(n_learners):
                if not (gained[t] > 0.0
                        and read_direction(directions, t, self.spread, entries)):
                    continue
                read_weights(weights, t, rows, polarity[t], w)
                for i in range(n):
                    z[i] = projections[t, i]
                    z[i] = z[i] if z[i] - z[i] == 0.0 else 0.0
                if not prepare(z, w, thresholds[t], n, self.width, &of_rows[2, 0], &of_rows[3, 0]):
                    continue
                for f in range(n_features):
                    slope[f] = square[f] = 0.0
                    if entries[f] != 0.0:
                        kernels.sums(&self.by_feature[f, 0], &of_rows[2, 0], &of_rows[3, 0],
                                     padded, &slope[f], &square[f])
                share(entries, n_features, self.harm, slope, square)
                for f in range(n_features):
                    slope[f] = slope[f] * gained[t]
                    out[t, f] = <float> (slope[f] if slope[f] - slope[f] == 0.0 else 0.0)
        return shares


def stored_entries(const float[:, ::1] dense):
    """Return the entries other than zero as the arrays of a CSR matrix.

    Returns
    -------
    start : ndarray of shape (n_rows + 1,), dtype int64
    feature : ndarray of shape (n_stored,), dtype int32
    value : ndarray of shape (n_stored,), dtype float32
    """
    cdef int64_t n = dense.shape[0], d = dense.shape[1], t, f, count = 0
    start, feature = np.zeros(n + 1, dtype=np.int64), np.empty(n * d, dtype=np.int32)
    value = np.empty(n * d, dtype=np.float32)
    cdef int64_t[::1] start_ = start
    cdef int32_t[::1] feature_ = feature
    cdef float[::1] value_ = value
    for t in range(n):
        for f in range(d):
            if dense[t, f] != 0.0:
                feature_[count], value_[count] = <int32_t> f, dense[t, f]
                count += 1
        start_[t + 1] = count
    # Copies, so that no unused memory is kept.
    return start, feature[:count].copy(), value[:count].copy()
