"""One random threshold per feature and node, without a search: random_splits.h."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from cwboost._kernels.trees.categories cimport best_of_categories, is_categorical
from cwboost._kernels.trees.histogram cimport (
    ROUNDING, list_histograms, mark, scan_codes, scan_histogram)
from cwboost._kernels.trees.kernels cimport cwb_part, kernels
from cwboost._kernels.trees.types cimport (
    CWB_DRAWN, Matrix, Node, Settings, Work, cwb_feature, cwb_node_rows, cwb_rules, cwb_scan,
    cwb_split, rules_of)

cdef extern from "trees/random_splits.h" nogil:
    bint cwb_random_by_scan(const cwb_scan *scan, const cwb_part *node,
                            const cwb_feature *feature, const cwb_rules *rules, double u,
                            cwb_split *split)


# Of the sequence of random words: 2**64 over the golden ratio.
cdef uint64_t STEP = 0x9E3779B97F4A7C15


cdef inline uint64_t splitmix(uint64_t z) noexcept nogil:
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint64_t next_random(Work *work) noexcept nogil:
    work.random += STEP
    return splitmix(work.random)


cdef inline double uniform(uint64_t seed, int64_t i) noexcept nogil:
    """Return number i of a sequence in [0, 1), independent of the order of calls."""
    cdef uint64_t z = splitmix(seed + <uint64_t> (i + 1) * STEP)
    return <double> (z >> 11) * 1.1102230246251565e-16  # 2 ** -53


cdef int64_t random_below(Work *work, int64_t bound) noexcept nogil:
    return <int64_t> (((next_random(work) >> 32) * <uint64_t> bound) >> 32)


cdef cwb_feature bins_of(const Matrix *X, int32_t feature) noexcept nogil:
    cdef cwb_feature bins
    bins.lowest = X.lowest + X.bin_start[feature]
    bins.highest = X.highest + X.bin_start[feature]
    bins.cells = X.cells + feature if X.cells != NULL else NULL
    bins.n_bins = X.n_bins[feature]
    return bins


cdef bint scanned_split(
    const Matrix *X, const Settings *settings, Work *work, const Node *node, int32_t feature,
    double u, cwb_split *split
) noexcept nogil:
    """Draw a random split of a feature from work.scan; False if it is constant in the node.

    Of categories, which have no order to draw a threshold from, it is the best split.
    """
    cdef cwb_rules rules = rules_of(settings, ROUNDING * node.mass)
    cdef cwb_feature bins = bins_of(X, feature)
    cdef cwb_part part
    split.feature = feature
    split.categorical = 0
    if is_categorical(X, feature):
        return best_of_categories(X, settings, work, ROUNDING * node.mass, feature, split)
    part.sum, part.mass, part.count = node.sum, node.mass, node.end - node.start
    return cwb_random_by_scan(&work.scan, &part, &bins, &rules, u, split)


cdef int64_t draw_by_codes(
    const Matrix *X, const Settings *settings, Work *work, const Node *node,
    const int32_t *features, int64_t n, const double *u, cwb_split *splits
) noexcept nogil:
    """Draw a random split of each of n <= CWB_DRAWN features; return how many vary in the node."""
    cdef cwb_rules rules = rules_of(settings, ROUNDING * node.mass)
    cdef cwb_feature[CWB_DRAWN] bins
    cdef const uint8_t *codes[CWB_DRAWN]
    cdef cwb_node_rows rows
    cdef int64_t k
    for k in range(n):
        splits[k].feature = features[k]
        splits[k].categorical = 0
        bins[k] = bins_of(X, features[k])
        codes[k] = X.codes + features[k] * X.n_rows
    rows.rows, rows.weights = work.rows + node.start, work.weights + node.start
    rows.n, rows.sum, rows.mass = node.end - node.start, node.sum, node.mass
    # Between partitions this scratch memory is free, eight bytes per row.
    rows.gathered = <uint8_t *> work.scratch_weights
    return kernels.random_by_codes(codes, &rows, bins, <int> n, &rules, u, splits)


cdef int64_t draw_of_dense(
    const Matrix *X, const Settings *settings, Work *work, const Node *node,
    const int32_t *features, int64_t n, uint64_t seed, int64_t step, cwb_split *splits
) noexcept nogil:
    """Draw a random split of each feature of a dense matrix; return how many vary in the node.

    The one of feature i depends on number `step` * i of the sequence of the seed.
    """
    cdef int64_t first = 0, last, n_varying = 0
    cdef double[CWB_DRAWN] u
    # More than these rows of eight features do not fit the first cache.
    cdef int64_t most = CWB_DRAWN if node.end - node.start <= 4096 else 1
    while first < n:
        last = first
        while last < min(n, first + most) and not is_categorical(X, features[last]):
            u[last - first] = uniform(seed, step * last)
            last += 1
        if last > first:
            n_varying += draw_by_codes(X, settings, work, node, features + first, last - first, u,
                                       splits + first)
            first = last
            continue
        scan_codes(X, settings, work, node, features[first])
        n_varying += scanned_split(X, settings, work, node, features[first], 0.0, splits + first)
        first += 1
    return n_varying


cdef int64_t draw_splits(
    const Matrix *X, const Settings *settings, Work *work, const Node *nodes, int64_t n_nodes,
    int64_t drawn, int64_t n_batch
) noexcept nogil:
    """Do as search_features, with one random threshold per feature and node."""
    cdef uint64_t seed = next_random(work)
    cdef int64_t i, k, n_varying = 0
    cdef const int32_t *features = work.features + drawn
    cdef cwb_split *splits = work.splits + drawn
    cdef bint varies
    if X.codes != NULL:
        for k in range(n_nodes):
            n_varying = draw_of_dense(X, settings, work, nodes + k, features, n_batch,
                                      seed + k * STEP, n_nodes, splits + k * X.n_usable)
        return n_varying
    for k in range(n_nodes):
        mark(work, nodes + k, <uint8_t> k)
    for i in range(n_batch):
        list_histograms(X, settings, work, nodes, n_nodes, features[i])
        for k in range(n_nodes):
            scan_histogram(X, settings, work, k, features[i])
            varies = scanned_split(X, settings, work, nodes + k, features[i],
                                   uniform(seed, n_nodes * i + k), splits + k * X.n_usable + i)
            n_varying += varies and k == n_nodes - 1
    for k in range(n_nodes):
        mark(work, nodes + k, 2)
    return n_varying
