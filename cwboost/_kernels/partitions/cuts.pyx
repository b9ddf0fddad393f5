"""Search of the best threshold between bins, from sums of weights per bin.

A cut of feature f after bin b puts the bins 0..b below a threshold. With S(b) the sum of the
weights of these bins, P the sum of all bins and L the sum of missing values, its edge is

    |P - 2 S(b)| + |L|;

the cut after the last bin sets present values apart from missing ones, with edge |P| + |L| if both
have different signs.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t


def best_cuts(const double[:, ::1] sums, const int64_t[::1] starts, const int32_t[::1] n_bins,
              const int64_t[::1] features, const double[::1] totals):
    """Return the cut of the largest edge for every target.

    Ties go to no cut, then to the lowest place in `features`, then to the lowest threshold.

    The sums, (n_codes, n_targets), of feature f begin at ``starts[f]``; the one after its bins is
    of missing values. Returns the feature, -1 if no cut beats the absolute total; the bin below
    the cut, ``n_bins[feature]`` for present against missing values; the edge; a number with the
    sign of the output above the cut; and the sum of missing values, the total without a cut.
    """
    cdef int64_t n_targets = sums.shape[1], j, f, t
    feature, place = np.full(n_targets, -1, np.int64), np.zeros(n_targets, np.int64)
    edges, above, lost = np.abs(totals), np.array(totals), np.array(totals)
    cdef int64_t[::1] feature_of = feature, place_of = place
    cdef double[::1] edge = edges, above_of = above, lost_of = lost
    cdef Found own
    for j in range(features.shape[0]):
        f = features[j]
        for t in range(n_targets):
            own = best_of_feature(sums, starts[f], n_bins[f], t)
            if own.edge > edge[t]:
                feature_of[t], place_of[t], edge[t] = f, own.place, own.edge
                above_of[t], lost_of[t] = own.above, own.lost
    return feature, place, edges, above, lost


cdef struct Found:
    double edge, above, lost
    int64_t place


cdef Found best_of_feature(const double[:, ::1] sums, int64_t start, int64_t width,
                           int64_t t) noexcept nogil:
    """Return the best cut of a feature for target t; of edge -inf if there is none."""
    cdef Found best
    cdef double present = 0.0, below = 0.0, above
    cdef int64_t b
    best.edge, best.place, best.above, best.lost = -INFINITY, 0, 0.0, sums[start + width, t]
    for b in range(width):
        present += sums[start + b, t]
    for b in range(width - 1):
        below += sums[start + b, t]
        above = present - 2.0 * below
        if fabs(above) > best.edge:
            best.edge, best.place, best.above = fabs(above), b, above
    best.edge += fabs(best.lost)
    if best.lost * present < 0.0 and fabs(best.lost) + fabs(present) > best.edge:
        best.edge, best.place, best.above = fabs(best.lost) + fabs(present), width, -present
    return best
