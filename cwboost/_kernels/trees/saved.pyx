"""Histograms that nodes keep for their children: the larger child's are what the other one leaves.

All sums are exact, so a difference has the bits of a sum.
"""

from libc.stdint cimport int32_t, int64_t

from cwboost._kernels.trees.draws cimport draw_features, draws, draws_anew, undo_draws
from cwboost._kernels.trees.histogram cimport node_histograms
from cwboost._kernels.trees.types cimport CWB_BINS, Node, Work

cdef enum:
    FEWEST_ROWS = 512  # of fewer, a histogram costs as little as a difference


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


cdef void save(Work *work, Node *node) noexcept nogil:
    """Make the histograms of the features that a node draws first."""
    work.n_free -= 1
    node.saved = work.free_places[work.n_free]
    draw_features(work, node.seed, 0, work.n_saved)
    node_histograms(work, node, work.features, work.n_saved, sums_of(work, node), CWB_BINS)
    undo_draws(work, work.n_saved)


cdef void take_rest(Work *work, Node *parent, const Node *small, Node *large) noexcept nogil:
    """Let a child have its parent's histograms less those of the other child."""
    cdef int64_t i
    large.saved, parent.saved = parent.saved, -1
    cdef double *sums = sums_of(work, large)
    cdef const double *less = sums_of(work, small)
    for i in range(2 * CWB_BINS * work.n_saved):
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
            save(work, nodes + 1 - large)
            take_rest(work, parent, nodes + 1 - large, nodes + large)
            return
        release(work, parent)
    for k in range(n_nodes):
        if waiting[k] and work.n_free > 0 and is_worth_saving(work, nodes + k):
            save(work, nodes + k)
