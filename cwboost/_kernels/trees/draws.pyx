"""The features that are drawn at a node, and the histograms that its children take from it.

A node draws the first features of an order, which its seed decides. Nodes of a few levels share a
seed, hence an order, so that the histograms of the larger child are those of its parent less those
of the other child. All sums are exact: a difference has the bits of a sum.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from cwboost._kernels.trees.histogram cimport node_histograms
from cwboost._kernels.trees.types cimport CWB_BINS, Matrix, Node, Work

cdef extern from "common/random_words.h" nogil:
    uint64_t cwb_random_word(uint64_t seed, uint64_t i)

cdef enum:
    LEVELS_PER_DRAW = 3  # a draw for the whole tree made larger errors on large data
    FEWEST_ROWS = 512  # of fewer, a histogram costs as little as a difference


cdef bint draws(const Work *work) noexcept nogil:
    """Return True if nodes do not search all features."""
    return work.settings.max_features < work.X.n_usable


cdef void draw_features(Work *work, uint64_t seed, int64_t drawn, int64_t n) noexcept nogil:
    """Put n more random features, without replacement, after the first `drawn`."""
    cdef int64_t i, j, n_usable = work.X.n_usable
    for i in range(drawn, drawn + n if draws(work) else 0):
        j = i + <int64_t> (((cwb_random_word(seed, i) >> 32) * <uint64_t> (n_usable - i)) >> 32)
        work.swaps[i] = <int32_t> j
        work.features[i], work.features[j] = work.features[j], work.features[i]


cdef void undo_draws(Work *work, int64_t drawn) noexcept nogil:
    """Put the features back in their order, so that the draws of a node depend on it alone."""
    cdef int64_t i
    for i in range(drawn - 1 if draws(work) else -1, -1, -1):
        work.features[i], work.features[work.swaps[i]] = (
            work.features[work.swaps[i]], work.features[i])


cdef bint draws_anew(int64_t depth) noexcept nogil:
    """Return True if the nodes of a level have seeds of their own."""
    return depth % LEVELS_PER_DRAW == 0


cdef uint64_t child_seed(const Matrix *X, const Node *parent, int64_t side) noexcept nogil:
    if draws_anew(parent.depth + 1):
        return cwb_random_word(parent.seed, X.n_usable + side)
    return parent.seed


cdef void start_saving(Work *work) noexcept nogil:
    """Let the nodes of one tree, which only this thread splits, save histograms."""
    cdef int32_t i
    for i in range(work.n_places):
        work.free_places[i] = i
    work.n_free = work.n_places


cdef void stop_saving(Work *work) noexcept nogil:
    work.n_free = 0


cdef inline int64_t n_rows(const Node *node) noexcept nogil:
    return node.end - node.start


cdef bint is_worth_saving(const Work *work, const Node *node) noexcept nogil:
    """Return True if a node is large and its children draw the same features."""
    return n_rows(node) >= FEWEST_ROWS and not (draws(work) and draws_anew(node.depth + 1))


cdef double *sums_of(Work *work, const Node *node) noexcept nogil:
    return work.saved_sums + 2 * CWB_BINS * work.n_saved * node.saved


cdef void release(Work *work, Node *node) noexcept nogil:
    """Forget the histograms of a node, if it has any."""
    if node.saved >= 0:
        work.free_places[work.n_free] = node.saved
        work.n_free += 1
        node.saved = -1


cdef int64_t save(Work *work, Node *node) noexcept nogil:
    """Make the histograms of the features that a node draws first; return their number of sums."""
    cdef int64_t n
    work.n_free -= 1
    node.saved = work.free_places[work.n_free]
    draw_features(work, node.seed, 0, work.n_saved)
    n = node_histograms(work, node, work.features, work.n_saved, sums_of(work, node))
    undo_draws(work, work.n_saved)
    return n


cdef void take_rest(Work *work, Node *parent, Node *small, Node *large) noexcept nogil:
    """Make histograms of a child; let the other have its parent's less these."""
    cdef int64_t i, n = save(work, small)
    large.saved, parent.saved = parent.saved, -1
    cdef double *sums = sums_of(work, large)
    cdef const double *less = sums_of(work, small)
    for i in range(n):
        sums[i] -= less[i]


cdef void save_histograms(
    Work *work, Node *parent, Node *nodes, int64_t n_nodes, const bint *waiting
) noexcept nogil:
    """Make the histograms that one or two nodes, children of a parent or a root, are searched by.

    Only of large nodes that wait for a split, and while there is room.
    """
    cdef int64_t k, large = n_nodes == 2 and n_rows(nodes + 1) > n_rows(nodes)
    if parent != NULL and parent.saved >= 0:
        if waiting[large] and n_rows(nodes + large) >= FEWEST_ROWS and work.n_free > 0:
            take_rest(work, parent, nodes + 1 - large, nodes + large)
            return
        release(work, parent)
    for k in range(n_nodes):
        if waiting[k] and work.n_free > 0 and is_worth_saving(work, nodes + k):
            save(work, nodes + k)
