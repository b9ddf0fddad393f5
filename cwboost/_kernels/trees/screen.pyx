"""Upper bounds of the gain of every feature in a node, so that few are searched: screen.h."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from cwboost._kernels.trees.histogram cimport ROUNDING
from cwboost._kernels.trees.kernels cimport kernels
from cwboost._kernels.trees.types cimport CWB_ENTROPY, Matrix, Node, Settings, Work

cdef extern from "trees/screen.h" nogil:
    const double CWB_SCREEN_UNITS
    int64_t cwb_screen_rows(const int32_t *rows, const double *weights, int64_t n, double bound,
                            double scale, int32_t *kept, uint64_t *packed, uint64_t *total)
    void cwb_screen_histograms(const uint8_t *codes, int64_t stride, const int32_t *rows,
                               const uint64_t *packed, int64_t n, uint64_t *hist)

cdef extern from "trees/criteria.h" nogil:
    double cwb_side(int criterion, double sum, double mass)

cdef extern from "trees/trim.h" nogil:
    double cwb_trim_bound(const double *weights, int64_t n, int64_t step, double largest,
                          double fraction)

cdef enum:
    # Smaller nodes, or fewer features, are searched as they are.
    FEWEST_ROWS = 256
    FEWEST_FEATURES = 8
    # In codes: cost of an entry of a list, and of the search that is saved per feature.
    ENTRY_COST = 3
    FEATURE_COST = 1000
    # One in this number of weights is sampled to guess which to leave out.
    SAMPLED = 4
    MANY = 4

# Mass of the examples that are left out, as a fraction of the most that a split can gain: with less
# there are more examples to add, with more there are more features to search. The second is for
# nodes that would otherwise keep more than 1 / MANY.
cdef double LEFT_OUT = 0.004
cdef double LEFT_OUT_OF_MANY = 0.01
# Below this the scale of the integers may not be a number.
cdef double SMALLEST_MASS = 1e-200


cdef bint may_screen(const Matrix *X, const Settings *settings) noexcept nogil:
    """Return True if some nodes would be screened if the matrix had its codes by row."""
    return (X.codes != NULL and X.categorical == NULL and not settings.random_splits
            and settings.criterion != CWB_ENTROPY and settings.max_features >= X.n_usable
            and X.n_usable >= FEWEST_FEATURES
            and X.n_rows >= FEWEST_ROWS)


cdef bint is_cheaper(
    const Matrix *X, int64_t n_kept, int64_t n_rows, int64_t n_nodes
) noexcept nogil:
    """Return True if bounds from n_kept rows cost less than histograms of all n_rows rows.

    The lists of entries serve n_nodes nodes at once.
    """
    cdef int64_t by_codes = (X.n_usable - X.n_listed) * n_rows
    cdef int64_t by_list = ENTRY_COST * X.n_entries // n_nodes
    return n_kept * X.n_usable < (
        by_codes + min(by_list, X.n_listed * n_rows) + FEATURE_COST * X.n_usable)


cdef int64_t keep_heavy(
    Work *work, const Node *node, double left_out, uint64_t *total
) noexcept nogil:
    """Write a node's heavy rows to work.scratch_rows, their integers to work.scratch_weights.

    The other rows have a mass of about `left_out`. A sample gives a guess of the bound; if the
    sample missed a large weight, all weights replace it. Returns the number of kept rows, and in
    `total` the sum of their integers.
    """
    cdef const double *weights = work.weights + node.start
    cdef double bound, scale = CWB_SCREEN_UNITS / node.mass
    cdef int64_t n = node.end - node.start, n_kept = 0, step = SAMPLED
    while step > 0:
        bound = cwb_trim_bound(weights, n, step, 1.0, left_out / node.mass)
        n_kept = cwb_screen_rows(work.rows + node.start, weights, n, bound, scale,
                                 work.scratch_rows, <uint64_t *> work.scratch_weights, total)
        if node.mass - <double> (total[0] >> 32) / scale <= 2 * left_out:
            break
        step = 1 if step > 1 else 0
    return n_kept


cdef bint screen_features(
    const Matrix *X, const Settings *settings, Work *work, const Node *node, int64_t n_nodes
) noexcept nogil:
    """Write bounds of the gains of all usable features in a node to work.bounds.

    Returns False, without bounds, if searching every feature is as cheap. The node would be one of
    `n_nodes` that are searched at once.
    """
    cdef int64_t n = node.end - node.start, n_kept, group, i, k
    cdef uint64_t total = 0
    cdef const uint8_t *codes
    cdef int32_t n_bins[8]
    cdef double unit, mass, sum, rest, most
    if X.by_row == NULL or n < FEWEST_ROWS or node.mass < SMALLEST_MASS:
        return False
    most = node.mass - cwb_side(settings.criterion, node.sum, node.mass)
    n_kept = keep_heavy(work, node, LEFT_OUT * most, &total)
    if MANY * n_kept > n:
        n_kept = keep_heavy(work, node, LEFT_OUT_OF_MANY * most, &total)
    if not is_cheaper(X, n_kept, n, n_nodes):
        return False
    unit = node.mass / CWB_SCREEN_UNITS
    mass = <double> (total >> 32)
    sum = 2.0 * <double> (total & <uint64_t> 0xFFFFFFFF) - mass
    # The mass that the integers leave out, less the node's own criterion.
    rest = node.mass - unit * mass + ROUNDING * node.mass
    rest += unit * cwb_side(settings.criterion, sum, mass)
    rest -= cwb_side(settings.criterion, node.sum, node.mass)
    for group in range((X.n_usable + CWB_SCREENED - 1) // CWB_SCREENED):
        i = group * CWB_SCREENED
        for k in range(CWB_SCREENED):
            n_bins[k] = X.n_bins[X.usable[X.by_row_places[min(i + k, X.n_usable - 1)]]]
        codes = X.by_row + i // X.n_together * X.n_together * X.n_rows + i % X.n_together
        cwb_screen_histograms(codes, X.n_together, work.scratch_rows,
                              <const uint64_t *> work.scratch_weights, n_kept,
                              <uint64_t *> work.hist)
        kernels.screen_gains(settings.criterion, <uint64_t *> work.hist, n_bins, total,
                             work.bounds + i)
    for i in range(X.n_usable):
        work.bounds[i] = unit * work.bounds[i] + rest
    return True


cdef int64_t most_promising(
    const Matrix *X, Work *work, double least, int64_t most
) noexcept nogil:
    """Write the places of the features of largest bound, at least `least`, to work.pending.

    Takes up to `most` features; their bounds become -inf. Returns their number.
    """
    cdef int64_t n = 0, i, best
    while n < most:
        best = -1
        for i in range(X.n_usable):
            if work.bounds[i] >= least and (best < 0 or work.bounds[i] > work.bounds[best]):
                best = i
        if best < 0 or work.bounds[best] == -INFINITY:
            break
        work.bounds[best] = -INFINITY
        work.pending[n] = X.by_row_places[best]
        n += 1
    return n
