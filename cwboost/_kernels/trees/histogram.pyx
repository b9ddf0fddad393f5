"""Histograms of features in a tree node, from their codes or from the lists of their entries."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from cwboost._kernels.trees.types cimport (
    CWB_BINS, Matrix, Node, Work, cwb_pair, cwb_scan, cwb_sums)

cdef extern from "trees/histogram.h" nogil:
    void cwb_accumulate(int64_t size, const uint8_t *const *codes, const int32_t *n_bins,
                        const int32_t *rows, const double *weights, int64_t n, cwb_pair *hist)
    void cwb_join(int64_t size, const int32_t *n_bins, cwb_pair *part, cwb_pair *hist)
    void cwb_accumulate_list(const int32_t *rows, const uint8_t *codes, int64_t n_entries,
                             const uint8_t *slot_of, const double *weight_of, cwb_pair *hist)
    void cwb_add_default(uint8_t default_code, int32_t n_bins, cwb_sums node, cwb_pair *hist)
    void cwb_collect(const void *hist, int32_t n_bins, cwb_scan *scan)
    void cwb_collect_small(const uint8_t *codes, const int32_t *rows, const double *weights,
                           int64_t n_rows, int32_t n_bins, cwb_pair *hist, cwb_scan *scan)

cdef enum:
    ROWS_OF_PART = 2048  # that a thread takes at least, if some share a node


cdef void mark(Work *work, const Node *node, uint8_t slot) noexcept nogil:
    cdef int64_t i
    for i in range(node.start, node.end):
        work.slot_of[work.rows[i]] = slot


cdef void list_histograms(
    Work *work, const Node *nodes, int64_t n_nodes, int32_t feature
) noexcept nogil:
    """Make histograms, from a list, of nodes whose rows are marked by their place in `nodes`."""
    cdef const Matrix *X = work.X
    cdef int64_t first = X.indptr[feature], k
    cdef cwb_sums sums
    cwb_accumulate_list(X.entry_rows + first, X.entry_codes + first,
                        X.indptr[feature + 1] - first, work.slot_of, work.weight_of, work.hist)
    for k in range(n_nodes):
        sums.sum, sums.mass = nodes[k].sum, nodes[k].mass
        cwb_add_default(X.default_code[feature], X.n_bins[feature], sums,
                        work.hist + k * CWB_BINS)
    # The rows outside the nodes.
    memset(work.hist + 2 * CWB_BINS, 0, CWB_BINS * sizeof(cwb_pair))


cdef int64_t group_of(int64_t n_features) noexcept nogil:
    """Return for how many of some features histograms are made at once."""
    return 8 if n_features >= 8 else 4 if n_features >= 4 else 2 if n_features >= 2 else 1


cdef bint by_list(const Matrix *X, int32_t feature, int64_t n_rows) noexcept nogil:
    """Return True if a histogram of n_rows rows is made from the list of a feature's entries."""
    if X.codes == NULL:
        return True
    return X.listed[feature] and X.indptr[feature + 1] - X.indptr[feature] < n_rows


cdef bint is_shared(const Work *work, const Node *node) noexcept nogil:
    """Return True if a team shares the rows of a node."""
    return work.n_team > 0 and node.end - node.start >= work.n_team * ROWS_OF_PART


cdef void group_histograms(
    Work *work, const Node *node, const int32_t *features, int64_t size
) noexcept nogil:
    """Make the histograms of 8, 4, 2 or 1 features from their codes."""
    cdef const Matrix *X = work.X
    cdef const uint8_t *codes[8]
    cdef int32_t n_bins[8]
    cdef int64_t k
    for k in range(size):
        codes[k] = X.codes + features[k] * X.n_rows
        n_bins[k] = X.n_bins[features[k]]
    if not is_shared(work, node):
        add_part(work, work, node, codes, n_bins, size, 0, 1)
        return
    for k in prange(work.n_team, num_threads=work.n_team, schedule="static"):
        add_part(work.team + k, work, node, codes, n_bins, size, k, work.n_team)
    for k in range(1, work.n_team):
        cwb_join(size, n_bins, work.team[k].hist, work.hist)


cdef inline void add_part(
    Work *own, const Work *work, const Node *node, const uint8_t *const *codes,
    const int32_t *n_bins, int64_t size, int64_t k, int64_t n_parts
) noexcept nogil:
    """Add part k of a node's rows to the histograms of own."""
    cdef int64_t n = node.end - node.start
    cdef int64_t start = n * k // n_parts, end = n * (k + 1) // n_parts
    cwb_accumulate(size, codes, n_bins, work.rows + node.start + start,
                   work.weights + node.start + start, end - start, own.hist)


cdef void scan_histogram(Work *work, int64_t k, int32_t feature) noexcept nogil:
    """Fill work.scan with the running sums of histogram k, and clear the histogram."""
    cdef cwb_pair *hist = work.hist + k * CWB_BINS
    scan_sums(work, hist, feature)
    memset(hist, 0, n_codes(work.X, feature) * sizeof(cwb_pair))


cdef void scan_sums(Work *work, const void *sums, int32_t feature) noexcept nogil:
    """Fill work.scan with the running sums of a histogram."""
    cwb_collect(sums, work.X.n_bins[feature], &work.scan)


cdef void scan_few(Work *work, const Node *node, int32_t feature) noexcept nogil:
    """Fill work.scan with the running sums of one feature in a node of few rows."""
    cdef const Matrix *X = work.X
    cwb_collect_small(X.codes + feature * X.n_rows, work.rows + node.start,
                      work.weights + node.start, node.end - node.start, X.n_bins[feature],
                      work.hist, &work.scan)


cdef int64_t node_histograms(
    Work *work, const Node *node, const int32_t *features, int64_t n_features, double *sums
) noexcept nogil:
    """Write sum and mass of each code of each of the features; return how many sums these are."""
    cdef const Matrix *X = work.X
    cdef int64_t f = 0, k, i, size, n, n_sums = 0, n_rows = node.end - node.start
    cdef cwb_pair *hist
    cdef bint lists = n_rows > X.fewest_entries
    if lists:
        mark(work, node, 0)
        for i in range(node.start, node.end):
            work.weight_of[work.rows[i]] = work.weights[i]
    while f < n_features:
        size = group_of(n_features - f)
        for k in range(size if lists else 0):
            if by_list(X, features[f + k], n_rows):
                size = group_of(k)
                break
        if lists and by_list(X, features[f], n_rows):
            list_histograms(work, node, 1, features[f])
        else:
            group_histograms(work, node, features + f, size)
        for k in range(size):
            # Moved: histograms are zero between uses.
            hist = work.hist + k * CWB_BINS
            n = n_codes(X, features[f + k])
            memcpy(sums + n_sums, hist, n * sizeof(cwb_pair))
            memset(hist, 0, n * sizeof(cwb_pair))
            n_sums += 2 * n
        f += size
    if lists:
        mark(work, node, 2)
    return n_sums
