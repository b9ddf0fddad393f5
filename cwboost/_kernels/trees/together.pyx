"""Growth of a few trees by all threads: fewer trees than threads would leave some idle.

All threads share the histograms of large nodes, one tree after the other. Then each grows what is
below some of the other nodes, and these subtrees are joined. All sums are exact and nodes draw from
seeds of their own, so the trees are those that `grow_tree` grows.
"""

from cython.parallel cimport prange
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, qsort

from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.trees.build cimport (
    grow_below, settle, start_growth, write_edge, write_leaves, write_outputs)
from cwboost._kernels.trees.nodes cimport join_subtree, start_subtree
from cwboost._kernels.trees.round cimport Round, cells_of, packed_of, weights_of, work_on
from cwboost._kernels.trees.draws cimport start_saving
from cwboost._kernels.trees.types cimport Frontier, Node, Tree, Work

cdef enum:
    SUBTREES_PER_THREAD = 3  # if all were as large as may be: enough to even out
    FEWEST_ROWS = 2048  # of fewer, one thread grows the subtree in any case
    PARTS_PER_THREAD = 2  # of the rows, when outputs are written


cdef bint grow_top(
    const Round *own, Py_ssize_t first, Py_ssize_t t, Frontier *small
) noexcept nogil:
    """Split the large nodes of a tree, and add the others to `small`; False if memory ran out."""
    cdef Node root
    cdef Tree *tree = own.trees + t
    cdef Work *work = work_on(own, t - first)
    cdef int64_t i, n = small.n
    cdef bint done
    start_saving(work)
    work.team, work.n_team = own.works, own.n_threads
    done = start_growth(work, weights_of(own, t), own.seeds[t], tree, &root)
    done = done and grow_below(
        work, tree, &root,
        max(FEWEST_ROWS, root.end // (SUBTREES_PER_THREAD * own.n_threads)), small)
    work.n_team = 0
    for i in range(n, small.n):
        small.nodes[i].tree = t
    return done


cdef int by_size(const void *a, const void *b) noexcept nogil:
    """Order nodes by their numbers of rows, the largest first."""
    cdef const Node *one = <const Node *> a
    cdef const Node *other = <const Node *> b
    cdef int64_t more = (other.end - other.start) - (one.end - one.start)
    return (more > 0) - (more < 0)


cdef bint grow_subtrees(const Round *own, Py_ssize_t first, Frontier *tops) noexcept nogil:
    """Grow what is below some nodes into their trees; False if memory ran out."""
    cdef Py_ssize_t i
    cdef const Node *top
    cdef bint failed = False
    cdef Tree *subtrees = <Tree *> calloc(max(1, tops.n), sizeof(Tree))
    if subtrees == NULL:
        return False
    if tops.n > 0:  # else there is no array
        qsort(tops.nodes, tops.n, sizeof(Node), by_size)
    for i in prange(tops.n, num_threads=own.n_threads, schedule="dynamic"):
        failed |= not grow_subtree(own, first, tops.nodes + i, subtrees + i)
    for i in range(tops.n):
        top = tops.nodes + i
        failed = failed or not join_subtree(own.trees + top.tree, top.index, subtrees + i)
        free(subtrees[i].nodes)
    free(subtrees)
    return not failed


cdef bint grow_subtree(
    const Round *own, Py_ssize_t first, const Node *top, Tree *subtree
) noexcept nogil:
    cdef Node root = top[0]
    cdef Work *work = work_on(own, top.tree - first)
    root.index = 0
    start_saving(work)
    return (start_subtree(own.trees + top.tree, top, subtree)
            and grow_below(work, subtree, &root, 0, NULL))


cdef bint write_part(
    const Round *own, Py_ssize_t t, Py_ssize_t part, Py_ssize_t n_parts
) noexcept nogil:
    """Write the outputs or cells of a tree on a part of the rows; False if memory ran out."""
    cdef int64_t n = own.works.X.n_rows, step = 8 * ((n + 8 * n_parts - 1) // (8 * n_parts))
    return write_outputs(
        work_on(own, omp_get_thread_num()), own.trees + t, min(n, step * part),
        min(n, step * (part + 1)), packed_of(own, t), cells_of(own, t))


cdef bint finish_all(const Round *own, Py_ssize_t first) noexcept nogil:
    """Write outputs and edges, or cells, of the trees from `first` on; False if memory ran out."""
    cdef Py_ssize_t t, i, n = own.n_trees - first
    # A part of a sparse matrix costs as much as the whole.
    cdef Py_ssize_t n_parts = 1 if own.works.X.codes == NULL else PARTS_PER_THREAD * own.n_threads
    cdef bint failed = False
    for t in range(first, own.n_trees):
        if not settle(own.trees + t, own.cells == NULL):
            return False
    for i in prange(n * n_parts if own.cells != NULL else 0, num_threads=own.n_threads,
                    schedule="dynamic"):
        write_leaves(own.rows[i // n_parts].rows, own.trees + first + i // n_parts, i % n_parts,
                     n_parts, cells_of(own, first + i // n_parts))
    # Only now: `work_on` gives rows of a tree to a thread.
    for i in prange(n * n_parts, num_threads=own.n_threads, schedule="dynamic"):
        failed |= not write_part(own, first + i // n_parts, i % n_parts, n_parts)
    if failed:
        return False
    if own.packed != NULL:
        for t in prange(first, own.n_trees, num_threads=own.n_threads, schedule="dynamic"):
            write_edge(work_on(own, t - first), weights_of(own, t), own.trees + t,
                       packed_of(own, t), own.edges + t)
    return True


cdef bint grow_together(const Round *own, Py_ssize_t first) noexcept nogil:
    """Grow the trees from `first` on, at most one per thread; False if memory ran out."""
    cdef Frontier small
    cdef Py_ssize_t t
    cdef bint done = True
    small.nodes, small.n, small.capacity = NULL, 0, 0
    for t in range(first, own.n_trees):
        done = done and grow_top(own, first, t, &small)
    done = done and grow_subtrees(own, first, &small) and finish_all(own, first)
    free(small.nodes)
    return done
