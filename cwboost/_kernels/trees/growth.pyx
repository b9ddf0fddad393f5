"""Growth of trees on a binned matrix: one per target, or one for all."""

from cython.parallel cimport prange
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

import numpy as np

from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.trees.build cimport clear_others, combine, grow_tree
from cwboost._kernels.trees.nodes cimport TreeBatch
from cwboost._kernels.trees.round cimport Round, cells_of, packed_of, weights_of, work_on
from cwboost._kernels.trees.together cimport grow_together
from cwboost._kernels.trees.types cimport CWB_EDGE, CWB_GINI, Matrix, Settings, Work
from cwboost._kernels.trees.workspace cimport Workspace

TREE_CRITERIA = {"edge": CWB_EDGE, "gini": CWB_GINI}

cdef enum:
    # Rows times features searched at the root from which threads share a tree; with fewer, what
    # they save is lost by waiting for one another.
    FEWEST_SHARED = 65_536


cdef bint grow_all(const Round *own) noexcept nogil:
    """Grow every tree; False if memory ran out.

    One thread grows a tree. If half of the threads or more had no tree at the end, all threads grow
    those that are left over.
    """
    cdef Py_ssize_t t, n_alone = own.n_trees, n_left = own.n_trees % own.n_threads
    cdef const Work *work = own.works
    cdef int64_t n = work.X.n_rows if work.kept == NULL else work.n_kept
    cdef bint failed = False
    # Best first, which node comes next depends on the whole tree.
    if (2 * n_left <= own.n_threads and work.settings.max_leaves == 0
            and n * min(work.settings.max_features, work.X.n_usable) >= FEWEST_SHARED):
        n_alone -= n_left
    for t in prange(n_alone, num_threads=own.n_threads, schedule="dynamic"):
        failed |= not grow_tree(
            work_on(own, omp_get_thread_num()), weights_of(own, t), own.seeds[t], own.trees + t,
            packed_of(own, t), cells_of(own, t), own.edges + t)
    return not failed and (n_alone == own.n_trees or grow_together(own, n_alone))


cdef class TreeGrower:
    """Grows trees on one binned matrix; keeps the scratch memory of its threads between calls.

    Parameters
    ----------
    binned : cwboost.kernels.BinnedMatrix
    n_threads : int
    sets : ndarray of shape (n_sets, n_features), dtype bool, default=None
        The features on a path from the root to a leaf are in one of these sets, at most 256; None
        for one set of all.
    **settings
        criterion : int
            A value of `TREE_CRITERIA`.
        max_depth, max_leaves, max_features : int
            max_leaves 0: no limit, nodes are split depth first; else the node of largest gain
            first. max_features counts features that vary in the node.
        leaf_mass : float
            Least fraction of the mass of a tree, the sum of its absolute weights, in a leaf.
    """

    cdef Settings settings
    cdef Workspace space
    cdef object kept

    def __cinit__(self, binned, *, int n_threads, sets=None, **settings):
        self.settings = settings
        self.space = Workspace(binned.bins, binned, n_threads, self.settings.max_features, sets)
        self.space.use(&self.settings)

    @property
    def max_depth(self):
        """Largest depth of the trees to come."""
        return self.settings.max_depth

    @max_depth.setter
    def max_depth(self, int64_t depth):
        self.settings.max_depth = depth

    def grow(self, weights, seeds, rows=None, monotonic=None):
        """Grow one tree per row of weights.

        Parameters
        ----------
        weights : ndarray of shape (n_trees, n_rows), dtype float64, last axis contiguous
        seeds : ndarray of shape (n_trees,), dtype uint64
            Seed of the feature draws of each tree.
        rows : ndarray of shape (n_kept,), dtype int64, default=None
            Ascending indices of the only rows whose weights are not zero; None if all may count.
            The result is the same.
        monotonic : ndarray of shape (n_trees, n_features), dtype int8, default=None
            +1 where a tree's output must not fall with the feature, -1 where it must not rise,
            else 0; values only, not missing ones.

        Returns
        -------
        nodes : dict of ndarray
            The trees as flat arrays: `offsets` (n_trees + 1, int64), and one entry per node of
            `feature`, `left` (int32, -1 in leaves), `threshold` (float64), `missing`, `output`
            (int8).
        packed : ndarray of shape (n_trees, ceil(n_rows / 8)), dtype uint8
        edges : ndarray of shape (n_trees,), dtype float64
        """
        cdef const uint64_t[::1] seed = seeds
        cdef Py_ssize_t n_trees = seed.shape[0], t
        cdef TreeBatch batch = TreeBatch(n_trees)
        cdef Round own = self._round(weights, n_trees, rows)
        cdef const int8_t[:, ::1] constraints
        if monotonic is not None:
            constraints = monotonic
            shape = n_trees, self.space.bins.n_features
            if monotonic.shape != shape:
                raise ValueError(f"monotonic must have shape {shape}, got {monotonic.shape}")
            for t in range(n_trees):
                batch.trees[t].monotonic = &constraints[t, 0]
        packed = np.empty((n_trees, (self.space.X.n_rows + 7) // 8), dtype=np.uint8)
        cdef uint8_t[:, ::1] bits = packed
        edges = np.zeros(n_trees)
        cdef double[::1] edge = edges
        if n_trees > 0 and self.space.X.n_rows > 0:
            own.seeds, own.packed, own.edges = &seed[0], &bits[0, 0], &edge[0]
            self._grow(&own, batch)
        return batch.arrays(), packed, edges

    def divide(self, weights, const double[::1] code, uint64_t seed, rows=None):
        """Grow one tree on a combination of all weights: ``code @ weights``.

        Parameters
        ----------
        weights, rows
            As for `grow`; with `rows`, weights of other rows do not count, whatever they are.
        code : ndarray of shape (n_classes,), dtype float64
        seed : int
            Seed of the feature draws.

        Returns
        -------
        nodes : dict of ndarray
            As from `grow`, for one tree.
        cells : ndarray of shape (n_rows,), dtype int32
            The place of each row's leaf among the nodes of the tree.
        """
        cdef TreeBatch batch = TreeBatch(1)
        cdef Round own = self._round(weights, code.shape[0], rows)
        cdef int64_t n = self.space.X.n_rows
        cells = np.full(n, -1, dtype=np.int32)
        cdef int32_t[::1] cell = cells
        # Where they are rounded, in place.
        cdef double *sum = own.rows.weights
        cdef int64_t n_kept = n if rows is None else len(rows)
        with nogil:
            combine(own.weights, own.stride, &code[0], code.shape[0], n, own.n_threads, sum)
            if n_kept < n:
                clear_others(own.works.kept, n_kept, n, sum)
        own.weights, own.n_trees = <const char *> sum, 1
        own.seeds, own.cells = &seed, &cell[0]
        batch.trees[0].keeps_rows = True
        self._grow(&own, batch)
        return batch.arrays(), cells

    cdef Round _round(self, weights, Py_ssize_t n_weights, rows) except *:
        """Return a round over weights, one row for each of `n_weights`, of which nothing is wanted.

        The round keeps their address.
        """
        cdef const double[:, :] r = weights
        cdef const Matrix *X = &self.space.X
        cdef Round own
        if (r.shape[0] != n_weights or r.shape[1] != X.n_rows
                or r.strides[1] != sizeof(double) and X.n_rows > 1):
            raise ValueError(
                f"weights must have shape {(n_weights, X.n_rows)} and contiguous rows, got shape "
                f"{weights.shape} and strides {weights.strides}")
        self._keep(rows)
        memset(&own, 0, sizeof(Round))
        own.works, own.rows = self.space.work, self.space.rows
        own.n_threads = self.space.n_threads
        own.n_trees, own.stride = n_weights, r.strides[0]
        if n_weights > 0 and X.n_rows > 0:
            own.weights = <const char *> &r[0, 0]
        return own

    cdef _grow(self, Round *own, TreeBatch batch):
        cdef bint done
        own.trees = batch.trees
        with nogil:
            done = grow_all(own)
        if not done:
            raise MemoryError("nodes of the grown trees")

    cdef _keep(self, rows):
        """Tell every thread which rows have a weight; self.kept keeps the array alive."""
        cdef const int64_t[::1] kept
        cdef const int64_t *first = NULL
        cdef int64_t n = self.space.X.n_rows
        cdef int t
        self.kept = rows if rows is not None and len(rows) else None
        if self.kept is not None:
            kept = self.kept
            first, n = &kept[0], kept.shape[0]
            if kept[0] < 0 or kept[n - 1] >= self.space.X.n_rows:
                raise ValueError(f"rows must be below {self.space.X.n_rows}")
        for t in range(self.space.n_threads):
            self.space.work[t].kept, self.space.work[t].n_kept = first, n
