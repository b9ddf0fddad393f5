"""Growth of whole subtrees from the examples that one partition has in a node, depth first.

A node is split as in growth level by level: on the best of some features that vary in it, each with
one random cut. Weights are the integers of node_sums.pyx, so that sums of children are exact. Rows
of a small subtree, and their codes, stay in the caches until it is complete.
"""

import numpy as np

from cython.parallel cimport prange
from libc.math cimport fabs
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from cwboost._kernels.common.cpu cimport instruction_set
from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.partitions.node_sums cimport (
    cwb_divided, cwb_node_kernels, cwb_node_tables)
from cwboost._kernels.partitions.splits cimport gain_of, random_cut

cdef extern from "common/random_words.h" nogil:
    uint64_t cwb_random_word(uint64_t seed, uint64_t i)

cdef const cwb_node_kernels* kernels = cwb_node_tables[instruction_set()]

# Nodes with less than this fraction of their mass on the lighter sign are pure.
cdef double ROUNDING = 1e-12

cdef enum:
    BATCH = 8  # features whose codes are gathered at a time


cdef packed struct Grown:
    # A node of a subtree: its rows, and its split; `left` is -1 in a leaf.
    double sum, mass
    int32_t start, end, depth, feature, left
    int16_t cut
    uint8_t missing_right, unused


GROWN = np.dtype([
    ("sum", np.float64), ("mass", np.float64), ("start", np.int32), ("end", np.int32),
    ("depth", np.int32), ("feature", np.int32), ("left", np.int32), ("cut", np.int16),
    ("missing_right", np.uint8), ("unused", np.uint8),
])


cdef struct Rules:
    # What all subtrees share.
    const uint8_t* codes
    int64_t stride
    const int32_t* n_bins
    const int64_t* bin_start
    const double* lowest
    const double* highest
    const int32_t* usable
    int64_t n_usable, n_wanted
    int criterion
    double least
    int32_t levels
    uint64_t seed


cdef struct Work:
    # The memory of one subtree.
    int32_t* rows
    int32_t* other_rows
    double* w
    double* other_w
    uint8_t* gathered
    int32_t* features
    int32_t* waiting
    Grown* nodes
    uint64_t seed, n_words
    int32_t n_nodes


cdef struct Memory:
    # That of all subtrees: subtree k has the rows from starts[k] on.
    int32_t* rows
    double* w
    const int64_t* starts
    const double* sums
    const int32_t* depths
    int32_t* other_rows
    double* other_w
    uint8_t* gathered
    int32_t* features
    int32_t* waiting
    Grown* nodes


cdef struct Best:
    # The best split of a node so far; `codes` are those of its feature, NULL if not at hand.
    double gain
    double[3] left
    int32_t feature
    int16_t cut
    uint8_t missing_right
    const uint8_t* codes


cdef inline uint64_t random_word(Work* work) noexcept nogil:
    work.n_words += 1
    return cwb_random_word(work.seed, work.n_words)


cdef inline bint may_split(const Rules* rules, const Grown* node) noexcept nogil:
    cdef double n = node.end - node.start
    return (n >= 2 * rules.least and n >= 2 and node.depth < rules.levels
            and node.mass - fabs(node.sum) > ROUNDING * node.mass)


cdef void values_range(const uint8_t* codes, int64_t n, int32_t missing, int32_t* low,
                       int32_t* high, bint* lossy) noexcept nogil:
    """Find the smallest and the largest code of values; low > high if all are missing."""
    cdef int64_t i
    kernels.range(codes, n, low, high)
    lossy[0] = high[0] == missing
    if not lossy[0]:
        return
    low[0], high[0] = missing, -1
    for i in range(n):
        if codes[i] != missing:
            low[0], high[0] = min(low[0], <int32_t> codes[i]), max(high[0], <int32_t> codes[i])


cdef inline void consider(const Rules* rules, const double* total, const double* left,
                          int32_t feature, int32_t cut, bint missing_right, const uint8_t* codes,
                          Best* best) noexcept nogil:
    cdef double gain = gain_of(rules.criterion, rules.least, total, left[0], left[1], left[2])
    if gain > best.gain:
        best.gain, best.feature, best.cut = gain, feature, <int16_t> cut
        best.missing_right, best.codes = missing_right, codes
        best.left[0], best.left[1], best.left[2] = left[0], left[1], left[2]


cdef bint try_feature(const Rules* rules, int32_t feature, const uint8_t* codes, const double* w,
                      const double* total, double u, Best* best) noexcept nogil:
    """Consider one random cut of a feature, and missing values apart; False if it is constant."""
    cdef int64_t n = <int64_t> total[2], start
    cdef int32_t low, high, missing = rules.n_bins[feature], cut = 0, k
    cdef bint lossy
    cdef double[3] below, values
    values_range(codes, n, missing, &low, &high, &lossy)
    if low < high:
        start = rules.bin_start[feature]
        cut = random_cut(rules.lowest + start, rules.highest + start, low, high, u)
        kernels.below(codes, w, n, <uint8_t> cut, below)
        consider(rules, total, below, feature, cut,
                 lossy or below[1] < 0.5 * total[1], codes, best)
    if not lossy:
        return low < high
    if low > high:
        return False
    kernels.below(codes, w, n, <uint8_t> (missing - 1), values)
    if low < high:
        for k in range(3):
            below[k] += total[k] - values[k]
        consider(rules, total, below, feature, cut, False, codes, best)
    consider(rules, total, values, feature, missing - 1, True, codes, best)
    return True


cdef void find_split(const Rules* rules, Work* work, const Grown* node, Best* best) noexcept nogil:
    """Find the best split among features drawn until enough of them vary."""
    cdef int64_t n = node.end - node.start, drawn = 0, n_varying = 0, batch, i, j
    cdef int32_t swap
    cdef double[3] total
    cdef double u
    cdef bint draws = rules.n_wanted < rules.n_usable
    total[0], total[1], total[2] = node.sum, node.mass, <double> n
    memset(best, 0, sizeof(Best))
    best.gain = -1.0
    while n_varying < rules.n_wanted and drawn < rules.n_usable:
        batch = min(<int64_t> BATCH, min(rules.n_wanted - n_varying, rules.n_usable - drawn))
        for i in range(drawn, drawn + batch if draws else 0):
            j = i + <int64_t> (((random_word(work) >> 32) * <uint64_t> (rules.n_usable - i)) >> 32)
            swap = work.features[i]
            work.features[i] = work.features[j]
            work.features[j] = swap
        if best.gain > 0:
            best.codes = NULL  # the next codes take their place
        kernels.gather(rules.codes, rules.stride, work.rows + node.start, n,
                       work.features + drawn, batch, work.gathered)
        for i in range(batch):
            u = <double> (random_word(work) >> 11) * 1.1102230246251565e-16  # 2 ** -53
            n_varying += try_feature(rules, work.features[drawn + i], work.gathered + i * n,
                                     work.w + node.start, total, u, best)
        drawn += batch


cdef int64_t divide(const Rules* rules, Work* work, const Grown* node,
                    const Best* best) noexcept nogil:
    """Move the rows of a node that go right behind the others; return how many go left."""
    cdef int64_t n = node.end - node.start
    cdef int32_t first = best.cut + 1
    cdef int32_t end = min(rules.n_bins[best.feature] + best.missing_right, 256)
    cdef const uint8_t* codes = best.codes
    cdef cwb_divided own
    own.rows, own.other_rows = work.rows + node.start, work.other_rows
    own.w, own.other_w = work.w + node.start, work.other_w
    if codes == NULL:
        kernels.gather(rules.codes, rules.stride, own.rows, n, &best.feature, 1, work.gathered)
        codes = work.gathered
    return kernels.divide(codes, n, <uint8_t> first, <uint8_t> (end - first), &own)


cdef void grow_one(const Rules* rules, Work* work) noexcept nogil:
    """Grow the subtree whose root is the only node."""
    cdef Best best
    cdef Grown* node
    cdef Grown* child
    cdef int32_t k, n_waiting = 1
    memcpy(work.features, rules.usable, rules.n_usable * sizeof(int32_t))
    work.waiting[0] = 0
    while n_waiting > 0:
        n_waiting -= 1
        node = work.nodes + work.waiting[n_waiting]
        find_split(rules, work, node, &best)
        if not best.gain > 0:
            continue
        node.feature, node.cut, node.missing_right = best.feature, best.cut, best.missing_right
        node.left = work.n_nodes
        child = work.nodes + node.left
        work.n_nodes += 2
        for k in range(2):
            child[k].depth = node.depth + 1
            child[k].feature = child[k].left = -1
            child[k].cut = child[k].missing_right = child[k].unused = 0
        child[0].sum, child[0].mass = best.left[0], best.left[1]
        child[1].sum, child[1].mass = node.sum - best.left[0], node.mass - best.left[1]
        child[0].start, child[1].end = node.start, node.end
        child[0].end = child[1].start = node.start + <int32_t> best.left[2]
        if not may_split(rules, child) and not may_split(rules, child + 1):
            continue
        divide(rules, work, node, &best)
        for k in range(1, -1, -1):
            if may_split(rules, child + k):
                work.waiting[n_waiting] = node.left + k
                n_waiting += 1


cdef int32_t grow_at(const Rules* rules, const Memory* memory, int64_t k,
                     int64_t name) noexcept nogil:
    """Grow subtree k in its part of the memory; return its number of nodes."""
    cdef Work work
    cdef int64_t start = memory.starts[k]
    cdef Grown* root = memory.nodes + 2 * start + k
    work.rows, work.other_rows = memory.rows + start, memory.other_rows + start
    work.w, work.other_w = memory.w + start, memory.other_w + start
    work.gathered = memory.gathered + BATCH * start
    work.features = memory.features + omp_get_thread_num() * rules.n_usable
    work.waiting, work.nodes, work.n_nodes = memory.waiting + start + k, root, 1
    work.seed, work.n_words = cwb_random_word(rules.seed, <uint64_t> name), 0
    root.sum, root.mass = memory.sums[4 * k], memory.sums[4 * k + 1]
    root.start, root.end, root.depth = 0, <int32_t> (memory.starts[k + 1] - start), memory.depths[k]
    root.feature = root.left = -1
    root.cut = root.missing_right = root.unused = 0
    if may_split(rules, root):
        grow_one(rules, &work)
    return work.n_nodes


def grow_subtrees(const uint8_t[:, ::1] codes, bins, const int32_t[::1] usable, rows,
                  const int64_t[::1] names, const int32_t[::1] depths, settings, uint64_t seed,
                  int n_threads):
    """Grow the subtrees below some nodes from the rows that a partition has there.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_features), dtype uint8
    bins : SharedBins
    usable : ndarray of shape (n_usable,), dtype int32
        The features that may be drawn, none of categories.
    rows : tuple of ndarrays
        Rows, weights and starts, see `NodeRows.rows_of`, and totals, see `NodeRows.totals`, of
        the nodes. Rows and weights get another order.
    names : ndarray of shape (n_nodes,), dtype int64
        Numbers of the nodes, from which, with `seed`, their random words follow.
    depths : ndarray of shape (n_nodes,), dtype int32
        Levels above each node.
    settings : dict
        "criterion", "min_samples_leaf", "max_depth" and "max_features".
    seed : int
    n_threads : int

    Returns
    -------
    names : ndarray of shape (n_subtrees,), dtype int64
        Of the nodes that were split.
    sizes : ndarray of shape (n_subtrees,), dtype int32
        Number of nodes of each subtree.
    feature, left : ndarrays of shape (n_grown,), dtype int32
        Of the nodes, subtree after subtree, the root first: feature and the left child's place in
        the subtree, before that of the right one; -1 in a leaf.
    cut : ndarray of shape (n_grown,), dtype int16
        The last code that goes left.
    missing_right : ndarray of shape (n_grown,), dtype uint8
    """
    cdef int32_t[::1] own_rows = rows[0]
    cdef double[::1] w = rows[1]
    cdef const int64_t[::1] starts = rows[2]
    cdef const double[:, ::1] sums = rows[3]
    cdef const int32_t[::1] n_bins = bins.n_bins
    cdef const int64_t[::1] bin_start = bins.bin_start
    cdef const double[::1] lowest = bins.lowest, highest = bins.highest
    cdef int64_t n_nodes = names.shape[0], n_rows = starts[n_nodes], k
    cdef Rules rules
    cdef Memory memory
    if n_nodes == 0 or n_rows == 0 or usable.shape[0] == 0:
        return found_subtrees(np.zeros(0, dtype=GROWN), starts, names, np.zeros(n_nodes, np.int32))
    rules.codes, rules.stride = &codes[0, 0], codes.shape[1]
    rules.n_bins, rules.bin_start = &n_bins[0], &bin_start[0]
    rules.lowest, rules.highest = &lowest[0], &highest[0]
    rules.usable, rules.n_usable = &usable[0], usable.shape[0]
    rules.n_wanted = min(<int64_t> settings["max_features"], rules.n_usable)
    rules.criterion, rules.least = settings["criterion"], settings["min_samples_leaf"]
    rules.levels, rules.seed = min(settings["max_depth"], 2**31 - 1), seed
    # Of this memory only what is used is ever touched. A subtree has fewer nodes than twice its
    # rows, or one.
    grown = np.empty(2 * n_rows + n_nodes, dtype=GROWN)
    cdef Grown[::1] nodes = grown
    cdef int32_t[:, ::1] scratch = np.empty((2, n_rows + n_nodes), dtype=np.int32)
    cdef double[::1] other_w = np.empty(n_rows + n_nodes)
    cdef uint8_t[::1] gathered = np.empty(BATCH * n_rows + 8, dtype=np.uint8)
    cdef int32_t[:, ::1] features = np.empty((n_threads, rules.n_usable), dtype=np.int32)
    cdef int32_t[::1] n_grown = np.empty(n_nodes, dtype=np.int32)
    memory.rows, memory.w, memory.starts, memory.sums = &own_rows[0], &w[0], &starts[0], &sums[0, 0]
    memory.depths, memory.nodes, memory.features = &depths[0], &nodes[0], &features[0, 0]
    memory.other_rows, memory.waiting = &scratch[0, 0], &scratch[1, 0]
    memory.other_w, memory.gathered = &other_w[0], &gathered[0]
    for k in prange(n_nodes, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=4):
        n_grown[k] = grow_at(&rules, &memory, k, names[k])
    return found_subtrees(grown, starts, names, n_grown)


cdef found_subtrees(const Grown[::1] nodes, const int64_t[::1] starts, names,
                    const int32_t[::1] n_grown):
    """Return the subtrees that are more than a leaf."""
    cdef int64_t k, i, at, n = 0
    sizes = np.asarray(n_grown)
    split = sizes > 1
    total = int(sizes[split].sum())
    feature, left = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
    cut, missing_right = np.empty(total, dtype=np.int16), np.empty(total, dtype=np.uint8)
    cdef int32_t[::1] feature_ = feature, left_ = left
    cdef int16_t[::1] cut_ = cut
    cdef uint8_t[::1] missing_right_ = missing_right
    for k in range(n_grown.shape[0]):
        if n_grown[k] < 2:
            continue
        at = 2 * starts[k] + k
        for i in range(at, at + n_grown[k]):
            feature_[n], left_[n] = nodes[i].feature, nodes[i].left
            cut_[n], missing_right_[n] = nodes[i].cut, nodes[i].missing_right
            n += 1
    return np.asarray(names)[split], sizes[split], feature, left, cut, missing_right
