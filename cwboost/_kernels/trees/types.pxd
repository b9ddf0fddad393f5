# Structures that the search for splits and the growth of trees share.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

cdef extern from "trees/types.h" nogil:
    const int CWB_BINS
    const int CWB_EDGE
    const int CWB_GINI
    ctypedef struct cwb_pair:
        pass
    ctypedef struct cwb_sums:
        double sum, mass
    ctypedef struct cwb_rules:
        int criterion
        double least, least_mass
    ctypedef struct cwb_split:
        double gain, left_sum, left_mass
        int32_t feature, lower, upper, missing_right
    ctypedef struct cwb_scan:
        double missing_mass
        int32_t n

cdef enum:
    SET_WORDS = 4  # of 64 bits: sets of features that may interact

cdef struct Matrix:
    # Binned features. Dense: the code of (row, feature) is codes[feature * n_rows + row]. A
    # feature that is `listed` also has its entries indptr[feature]:indptr[feature + 1], the rows
    # whose code is not default_code[feature]; of a sparse matrix all are, and codes is NULL.
    int64_t n_rows, n_features, n_usable, fewest_entries
    const uint8_t *codes
    const uint8_t *listed
    const int64_t *indptr
    const int32_t *entry_rows
    const uint8_t *entry_codes
    const uint8_t *default_code
    const int32_t *usable  # features with more than one bin
    const int32_t *n_bins  # bins of values; code n_bins[feature] is "missing"
    const int64_t *bin_start
    const double *lowest
    const double *highest  # of the values in bin bin_start[feature] + code
    const uint64_t *sets  # bits of each feature: the sets that hold it; NULL without constraints

cdef struct Settings:
    int64_t max_depth, max_leaves, max_features
    double leaf_mass  # least fraction of the mass of a tree in a leaf
    int criterion

cdef struct Node:
    # Its rows are work.rows[start:end], with work.weights. Sums are of rounded weights, exact.
    int64_t start, end, depth
    double sum, mass, least_mass
    uint64_t seed  # of its draws of features
    uint64_t[SET_WORDS] sets  # bits of the sets that hold all features on its path
    bint fixed  # a monotonic constraint sets its output: it is not split
    int32_t index
    int32_t saved  # place of its histograms among those that are saved, -1 for none
    Py_ssize_t tree  # that it belongs to, if several grow together
    cwb_split split

cdef struct Rows:
    # The rows of one growing tree that take part, node by node, with their rounded weights.
    int32_t *rows
    double *weights
    double *weight_of    # listed features: weight of a row

cdef struct Frontier:
    # Nodes that may be split: a stack, or a heap by gain.
    Node *nodes
    int64_t n, capacity

cdef struct Work:
    # Scratch of one thread, and the rows of the tree that it works on.
    const Matrix *X
    const Settings *settings
    const int64_t *kept  # the only rows that have a weight, ascending; NULL: all may
    int64_t n_kept
    int32_t *rows
    double *weights
    double *weight_of
    int32_t *scratch_rows
    double *scratch_weights
    uint8_t *slot_of     # listed features: place of a row's node in the search, else 2
    uint8_t *column      # sparse: one feature's codes
    uint8_t *positive    # output of each row is +1
    uint8_t *near_codes  # room for copies of nodes' codes; NULL: there are none
    int32_t *near_rows   # and for their rows
    cwb_pair *hist       # all zero between uses
    double *saved_sums   # histograms of n_saved features of a node, at each place
    int32_t *free_places
    int64_t n_saved, n_places, n_free
    int32_t *features    # the usable features; the drawn ones come first
    int32_t *swaps       # places that the draws took them from
    int32_t *pending     # features of a batch that are searched by their codes
    cwb_split *splits    # best split of each drawn feature, for two nodes
    void *reach          # sets of rows while a tree is evaluated
    cwb_scan scan
    Frontier frontier
    Work *team           # scratch of the threads that share large histograms, its own first
    int n_team           # how many these are; 0: nobody shares
    int64_t n_left, left, right  # rows of a shared partition, and where they belong

cdef struct TreeNode:
    # Leaf: feature -1, left -1, sign +-1. Else children left and left + 1, sign 0; missing is
    # +1 where missing values go right, -1 where they go left.
    double threshold
    int32_t feature, left
    int8_t missing, sign
    uint8_t first, width  # codes [first, first + width) go right
    int32_t start, end    # of the rows that took part, if the tree keeps them

cdef struct Tree:
    TreeNode *nodes
    int64_t n, capacity
    double total  # edge on the weights that took part
    double scale  # by which weights are multiplied before they are rounded
    const int8_t *monotonic  # +1, -1 or 0 per feature; NULL without constraints
    bint keeps_rows  # also of leaves that nothing but their rows is asked of
