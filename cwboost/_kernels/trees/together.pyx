"""Growth of a few trees by all threads: fewer trees than threads would leave some idle.

All threads divide the nodes of one level of all trees; when there are a few nodes per thread, each
grows the subtrees of some, and they are joined. Nodes draw from seeds of their own and all sums are
exact, so the trees are those that `grow_tree` grows.
"""

from cython.parallel cimport prange
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc

from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.trees.build cimport (
    divide_rows, grow_below, settle, start_growth, write_edge, write_outputs)
from cwboost._kernels.trees.nodes cimport join_subtree, split_node, start_subtree
from cwboost._kernels.trees.round cimport Round, cells_of, packed_of, weights_of, work_on
from cwboost._kernels.trees.saved cimport start_saving
from cwboost._kernels.trees.search cimport find_splits
from cwboost._kernels.trees.types cimport Node, Tree, Work

cdef enum:
    NODES_PER_THREAD = 4  # enough subtrees to even out
    PARTS_PER_THREAD = 2  # of the rows, when outputs are written


cdef struct Level:
    # Open nodes, of one level but for those that stay leaves, and the trees that they belong to.
    Node *nodes
    Py_ssize_t *trees
    Py_ssize_t n


cdef bint start_all(const Round *own, Py_ssize_t first, Level *level) noexcept nogil:
    """Write the roots of the trees from `first` on to a level; False if memory ran out."""
    cdef Py_ssize_t t
    cdef bint failed = False
    level.n = own.n_trees - first
    for t in prange(level.n, num_threads=own.n_threads, schedule="dynamic"):
        level.trees[t] = first + t
        if not start_growth(own.X, own.settings, work_on(own, t), weights_of(own, first + t),
                            own.seeds[first + t], own.trees + first + t, level.nodes + t):
            failed |= 1
    return not failed


cdef bint split_level(
    const Round *own, Py_ssize_t first, Level *level, Level *below
) noexcept nogil:
    """Split the nodes of a level and find the splits of their children; False if memory ran out.

    The latter are the level below.
    """
    cdef Py_ssize_t i, n = 0
    cdef Tree *tree
    cdef Node *node
    for i in range(level.n):
        node, tree = level.nodes + i, own.trees + level.trees[i]
        if node.split.gain < 0:
            continue
        if not split_node(own.X, own.settings, tree, node, below.nodes + 2 * n):
            return False
        if below.nodes[2 * n].depth == own.settings.max_depth:
            continue
        below.trees[2 * n] = below.trees[2 * n + 1] = level.trees[i]
        level.nodes[n], level.trees[n] = node[0], level.trees[i]
        n += 1
    below.n = 2 * n
    for i in prange(n, num_threads=own.n_threads, schedule="dynamic"):
        divide_rows(own.X, work_on(own, level.trees[i] - first),
                    own.trees[level.trees[i]].nodes + level.nodes[i].index, level.nodes + i,
                    below.nodes + 2 * i)
    for i in prange(below.n, num_threads=own.n_threads, schedule="dynamic"):
        find_splits(own.X, own.settings, work_on(own, below.trees[i] - first),
                    own.trees + below.trees[i], NULL, below.nodes + i, 1)
    return True


cdef bint grow_subtrees(const Round *own, Py_ssize_t first, Level *level) noexcept nogil:
    """Grow what is below the nodes of a level into their trees; False if memory ran out."""
    cdef Py_ssize_t i
    cdef bint failed = False
    cdef Tree *subtrees = <Tree *> calloc(max(1, level.n), sizeof(Tree))
    if subtrees == NULL:
        return False
    for i in prange(level.n, num_threads=own.n_threads, schedule="dynamic"):
        failed |= not grow_subtree(own, first, level.trees[i], level.nodes + i, subtrees + i)
    for i in range(level.n):
        failed = failed or not join_subtree(
            own.trees + level.trees[i], level.nodes[i].index, subtrees + i)
        free(subtrees[i].nodes)
    free(subtrees)
    return not failed


cdef bint grow_subtree(
    const Round *own, Py_ssize_t first, Py_ssize_t tree, const Node *top, Tree *subtree
) noexcept nogil:
    cdef Node root = top[0]
    cdef Work *work = work_on(own, tree - first)
    root.index, root.saved = 0, -1
    start_saving(work)
    return (start_subtree(own.trees + tree, top, subtree)
            and grow_below(own.X, own.settings, work, subtree, &root))


cdef bint write_part(
    const Round *own, Py_ssize_t tree, Py_ssize_t part, Py_ssize_t n_parts
) noexcept nogil:
    """Write the outputs and cells of a tree on a part of the rows; False if memory ran out."""
    cdef int64_t n = own.X.n_rows, step = 8 * ((n + 8 * n_parts - 1) // (8 * n_parts))
    return write_outputs(
        own.X, work_on(own, omp_get_thread_num()), own.trees + tree, min(n, step * part),
        min(n, step * (part + 1)), packed_of(own, tree), cells_of(own, tree))


cdef bint finish_all(const Round *own, Py_ssize_t first) noexcept nogil:
    """Write outputs, cells and edges of the trees from `first` on; False if memory ran out."""
    cdef Py_ssize_t t, i, n = own.n_trees - first
    # A part of a sparse matrix costs as much as the whole.
    cdef Py_ssize_t n_parts = 1 if own.X.codes == NULL else PARTS_PER_THREAD * own.n_threads
    cdef bint failed = False
    for t in range(first, own.n_trees):
        if not settle(own.trees + t, own.cells == NULL):
            return False
    for i in prange(n * n_parts, num_threads=own.n_threads, schedule="dynamic"):
        failed |= not write_part(own, first + i // n_parts, i % n_parts, n_parts)
    if failed:
        return False
    for t in prange(first, own.n_trees, num_threads=own.n_threads, schedule="dynamic"):
        write_edge(own.X, work_on(own, t - first), weights_of(own, t), own.trees + t,
                   packed_of(own, t), cells_of(own, t), own.edges + t)
    return True


cdef bint grow_together(const Round *own, Py_ssize_t first) noexcept nogil:
    """Grow the trees from `first` on, at most one per thread; False if memory ran out."""
    cdef Py_ssize_t most = 2 * NODES_PER_THREAD * own.n_threads, k = 0
    cdef Level[2] level
    cdef bint done
    level[0].nodes = <Node *> malloc(2 * most * sizeof(Node))
    level[0].trees = <Py_ssize_t *> malloc(2 * most * sizeof(Py_ssize_t))
    done = level[0].nodes != NULL and level[0].trees != NULL
    if done:
        level[1].nodes, level[1].trees = level[0].nodes + most, level[0].trees + most
        done = start_all(own, first, &level[0])
    while done and 0 < level[k].n < NODES_PER_THREAD * own.n_threads:
        done = split_level(own, first, &level[k], &level[1 - k])
        k = 1 - k
    done = done and grow_subtrees(own, first, &level[k]) and finish_all(own, first)
    free(level[0].nodes)
    free(level[0].trees)
    return done
