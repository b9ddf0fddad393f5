"""Histograms of one feature in a tree node, from its codes or from the list of its entries."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from cwboost._kernels.trees.types cimport (
    CWB_BINS, Matrix, Node, Work, cwb_pair, cwb_scan, cwb_sums)

cdef extern from "trees/histogram.h" nogil:
    void cwb_accumulate(int64_t size, const uint8_t *const *codes, const int32_t *n_bins,
                        const int32_t *rows, const double *weights, int64_t n, cwb_pair *hist,
                        int32_t *counts)
    void cwb_accumulate_list(const int32_t *rows, const uint8_t *codes, int64_t n_entries,
                             const uint8_t *slot_of, const double *weight_of, cwb_pair *hist,
                             int32_t *counts)
    void cwb_add_default(uint8_t default_code, int32_t n_bins, cwb_sums node, int64_t n,
                         cwb_pair *hist, int32_t *counts)
    void cwb_collect(cwb_pair *hist, int32_t *counts, int32_t n_bins, cwb_scan *scan)
    void cwb_collect_small(const uint8_t *codes, const int32_t *rows, const double *weights,
                           int64_t n_rows, int32_t n_bins, cwb_pair *hist, int32_t *counts,
                           cwb_scan *scan)


cdef void mark(Work *work, const Node *node, uint8_t slot) noexcept nogil:
    cdef int64_t i
    for i in range(node.start, node.end):
        work.slot_of[work.rows[i]] = slot


cdef void list_histograms(
    const Matrix *X, Work *work, const Node *nodes, int64_t n_nodes, int32_t feature
) noexcept nogil:
    """Make histograms, from a list, of nodes whose rows are marked by their place in `nodes`."""
    cdef int64_t first = X.indptr[feature], k
    cdef int32_t *counts = work.counts
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
        memset(counts + 2 * CWB_BINS, 0, CWB_BINS * sizeof(int32_t))


cdef void group_histograms(
    const Matrix *X, Work *work, const Node *node, const int32_t *features,
    const int32_t *places, int64_t size
) noexcept nogil:
    """Make histograms 0 to size - 1 of features[places[k]], size 8, 4, 2 or 1, from their codes."""
    cdef const uint8_t *codes[8]
    cdef int32_t n_bins[8]
    cdef int64_t k
    for k in range(size):
        codes[k] = X.codes + features[places[k]] * X.n_rows
        n_bins[k] = X.n_bins[features[places[k]]]
    cwb_accumulate(size, codes, n_bins, work.rows + node.start, work.weights + node.start,
                   node.end - node.start, work.hist, work.counts)


cdef void scan_histogram(const Matrix *X, Work *work, int64_t k, int32_t feature) noexcept nogil:
    """Fill work.scan with the running sums of histogram k, and clear the histogram."""
    cwb_collect(work.hist + k * CWB_BINS,
                NULL if work.counts == NULL else work.counts + k * CWB_BINS,
                X.n_bins[feature], &work.scan)


cdef void scan_few(const Matrix *X, Work *work, const Node *node, int32_t feature) noexcept nogil:
    """Fill work.scan with the running sums of one feature in a node of few rows."""
    cwb_collect_small(X.codes + feature * X.n_rows, work.rows + node.start,
                      work.weights + node.start, node.end - node.start, X.n_bins[feature],
                      work.hist, work.counts, &work.scan)
