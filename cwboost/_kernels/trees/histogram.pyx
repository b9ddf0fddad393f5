"""Histograms of one feature in a tree node, from its codes or from the list of its entries."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from cwboost._kernels.trees.types cimport (
    CWB_BINS, Matrix, Node, Work, cwb_pair, cwb_scan, cwb_sums)

cdef extern from "trees/histogram.h" nogil:
    void cwb_accumulate8(const uint8_t *const *codes, const int32_t *rows,
                         const double *weights, int64_t n, cwb_pair *hist)
    void cwb_accumulate4(const uint8_t *const *codes, const int32_t *rows,
                         const double *weights, int64_t n, cwb_pair *hist)
    void cwb_join4(cwb_pair *hist, int32_t n_bins)
    void cwb_accumulate1(const uint8_t *codes, const int32_t *rows, const double *weights,
                         int64_t n, int32_t n_bins, cwb_pair *hist)
    void cwb_accumulate_list(const int32_t *rows, const uint8_t *codes, int64_t n_entries,
                             const uint8_t *slot_of, const double *weight_of, cwb_pair *hist,
                             int64_t *counts)
    void cwb_add_default(uint8_t default_code, int32_t n_bins, cwb_sums node, int64_t n,
                         cwb_pair *hist, int64_t *counts)
    void cwb_count(const uint8_t *codes, const int32_t *rows, int64_t n, int64_t *counts)
    void cwb_collect(cwb_pair *hist, int64_t *counts, int32_t n_bins, cwb_scan *scan)
    void cwb_collect_small(const uint8_t *codes, const int32_t *rows, const double *weights,
                           int64_t n_rows, int32_t n_bins, cwb_pair *hist, cwb_scan *scan)


cdef void mark(Work *work, const Node *node, uint8_t slot) noexcept nogil:
    cdef int64_t i
    for i in range(node.start, node.end):
        work.slot_of[work.rows[i]] = slot


cdef void list_histograms(
    const Matrix *X, Work *work, const Node *nodes, int64_t n_nodes, int32_t feature
) noexcept nogil:
    """Make histograms, from a list, of nodes whose rows are marked by their place in `nodes`."""
    cdef int64_t first = X.indptr[feature], k
    cdef int64_t *counts = work.counts
    cdef cwb_sums sums
    cwb_accumulate_list(X.entry_rows + first, X.entry_codes + first,
                        X.indptr[feature + 1] - first, work.slot_of, work.weight_of, work.hist,
                        counts)
    for k in range(n_nodes):
        sums.sum, sums.mass = nodes[k].sum, nodes[k].mass
        cwb_add_default(X.default_code[feature], X.n_bins[feature], sums,
                        nodes[k].end - nodes[k].start, work.hist + k * CWB_BINS,
                        NULL if counts == NULL else counts + k * CWB_BINS)
    # The rows outside the nodes.
    memset(work.hist + 2 * CWB_BINS, 0, CWB_BINS * sizeof(cwb_pair))
    if counts != NULL:
        memset(counts + 2 * CWB_BINS, 0, CWB_BINS * sizeof(int64_t))


cdef void code_histogram(
    const Matrix *X, Work *work, const Node *node, int32_t feature
) noexcept nogil:
    """Make histogram 0 of a feature in a node, from its codes."""
    cdef int64_t n = node.end - node.start
    cdef const uint8_t *codes = X.codes + feature * X.n_rows
    cwb_accumulate1(codes, work.rows + node.start, work.weights + node.start, n,
                    X.n_bins[feature], work.hist)
    if work.counts != NULL:
        cwb_count(codes, work.rows + node.start, n, work.counts)


cdef void group_histograms(
    const Matrix *X, Work *work, const Node *node, const int32_t *features,
    const int32_t *places, int64_t size
) noexcept nogil:
    """Make histograms 0 to size - 1 of eight or four of the features, without counts."""
    cdef const uint8_t *codes[8]
    cdef int64_t k, n = node.end - node.start
    for k in range(size):
        codes[k] = X.codes + features[places[k]] * X.n_rows
    if size == 8:
        cwb_accumulate8(codes, work.rows + node.start, work.weights + node.start, n, work.hist)
        return
    cwb_accumulate4(codes, work.rows + node.start, work.weights + node.start, n, work.hist)
    for k in range(size):
        cwb_join4(work.hist + k * CWB_BINS, X.n_bins[features[places[k]]])


cdef void scan_histogram(const Matrix *X, Work *work, int64_t k, int32_t feature) noexcept nogil:
    """Fill work.scan with the running sums of histogram k, and clear the histogram."""
    cwb_collect(work.hist + k * CWB_BINS,
                NULL if work.counts == NULL else work.counts + k * CWB_BINS,
                X.n_bins[feature], &work.scan)


cdef void scan_codes(
    const Matrix *X, Work *work, const Node *node, int32_t feature
) noexcept nogil:
    """Fill work.scan with the running sums of one feature in a node, from its codes."""
    cdef int64_t n = node.end - node.start
    if work.counts == NULL and 2 * n < X.n_bins[feature]:
        cwb_collect_small(X.codes + feature * X.n_rows, work.rows + node.start,
                          work.weights + node.start, n, X.n_bins[feature], work.hist,
                          &work.scan)
        return
    code_histogram(X, work, node, feature)
    scan_histogram(X, work, 0, feature)
