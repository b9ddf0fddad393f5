"""Choice of the splits of growing trees from sums over all partitions."""

import numpy as np

from libc.math cimport fabs, fmax, fmin, log
from libc.stdint cimport int32_t, int64_t, uint8_t

from cwboost._kernels.trees.types cimport CWB_EDGE, CWB_GINI

# Gains below this fraction of a node's mass are none.
cdef double ROUNDING = 1e-12


def smallest_places(const float[:, ::1] keys, int n_places):
    """Return the places of the smallest keys of every row, in ascending order of the keys.

    Parameters
    ----------
    keys : ndarray of shape (n_rows, n_keys), dtype float32
    n_places : int
        At most n_keys.

    Returns
    -------
    ndarray of shape (n_rows, n_places), dtype int32
        Equal keys stay in their order.
    """
    cdef Py_ssize_t i, k, at, n_keys = keys.shape[1]
    cdef float key
    found = np.empty((keys.shape[0], n_places), dtype=np.int32)
    cdef int32_t[:, ::1] out = found
    if n_places == 0:
        return found
    for i in range(keys.shape[0]):
        for k in range(n_keys):
            key, at = keys[i, k], min(k, n_places)
            if at == n_places and not key < keys[i, out[i, at - 1]]:
                continue
            at = min(at, n_places - 1)
            while at > 0 and key < keys[i, out[i, at - 1]]:
                out[i, at] = out[i, at - 1]
                at -= 1
            out[i, at] = <int32_t> k
    return found


cdef inline double side(int criterion, double total, double mass) noexcept nogil:
    """Return the criterion of one side: see _kernels/trees/criteria.h."""
    if criterion == CWB_EDGE:
        return fabs(total)
    if criterion == CWB_GINI:
        return total * (total / fmax(mass, 1.0))
    return xlogx((mass + total) / 2) + xlogx((mass - total) / 2) - xlogx(mass)


cdef inline double xlogx(double x) noexcept nogil:
    return x * log(fmax(x, 1.0)) if x > 0 else 0.0


cdef double gain_of(int criterion, double least, const double* total, double sum, double mass,
                    double number) noexcept nogil:
    """Return the gain of a split with these sums on its left, -1 if it is none."""
    cdef double gain
    if fmin(number, total[2] - number) < least:
        return -1.0
    gain = (side(criterion, sum, mass) + side(criterion, total[0] - sum, total[1] - mass)
            - side(criterion, total[0], total[1]))
    return gain if gain > ROUNDING * total[1] else -1.0


def best_splits(const int64_t[::1] nodes, const double[:, :, ::1] below,
                const double[:, ::1] totals, int criterion, double min_samples_leaf):
    """Return the best candidate of every node that has one, the first of equal ones.

    Parameters
    ----------
    nodes : ndarray of shape (n_candidates,), dtype int64
    below : ndarray of shape (n_candidates, 2, 3), dtype float64
        Sum, mass and number of the examples on the left, without missing values, and of those.
    totals : ndarray of shape (n_nodes, 4), dtype float64
        Sum, mass and number of every node.
    criterion : int
        A value of `TREE_CRITERIA`.
    min_samples_leaf : float
        Least number of examples on either side.

    Returns
    -------
    best : ndarray of shape (n_split,), dtype int64
        Places of the candidates, in the order of their nodes.
    missing_right : ndarray of shape (n_split,), dtype bool
        True if missing values go right: where they gain more or, without any, to the heavier side.
    """
    cdef int64_t k, node
    cdef double left, right, most
    best, sides = np.full(totals.shape[0], -1), np.empty(totals.shape[0], dtype=bool)
    cdef int64_t[::1] best_ = best
    cdef uint8_t[::1] sides_ = sides.view(np.uint8)
    cdef double[::1] gains = np.zeros(totals.shape[0])
    cdef const double* total
    cdef const double* own
    for k in range(nodes.shape[0]):
        node = nodes[k]
        total, own = &totals[node, 0], &below[k, 0, 0]
        right = gain_of(criterion, min_samples_leaf, total, own[0], own[1], own[2])
        left = right
        if own[5] > 0:
            left = gain_of(criterion, min_samples_leaf, total, own[0] + own[3], own[1] + own[4],
                           own[2] + own[5])
        most = fmax(left, right)
        if most > gains[node]:
            gains[node], best_[node] = most, k
            sides_[node] = right > left if own[5] > 0 else own[1] < 0.5 * total[1]
    found = np.flatnonzero(best >= 0)
    return best[found], sides[found]


def join_leaves(int64_t n_trees, int64_t[::1] left, int64_t[::1] sign):
    """Replace splits into leaves of one sign by leaves; return which nodes are left.

    Parameters
    ----------
    n_trees : int
        The first nodes are roots.
    left, sign : ndarrays of shape (n_nodes,), dtype int64
        Left child, before the right one and after the node, or -1; and sign of its sum. Changed.
    """
    cdef int64_t i, child
    kept = np.zeros(left.shape[0], dtype=bool)
    cdef uint8_t[::1] kept_ = kept.view(np.uint8)
    for i in range(left.shape[0] - 1, -1, -1):
        child = left[i]
        if (child >= 0 and left[child] < 0 and left[child + 1] < 0
                and sign[child] == sign[child + 1]):
            left[i], sign[i] = -1, sign[child]
    for i in range(left.shape[0]):
        kept_[i] |= i < n_trees
        if kept_[i] and left[i] >= 0:
            kept_[left[i]] = kept_[left[i] + 1] = 1
    return kept
