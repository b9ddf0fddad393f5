"""Growth of one tree per target on a binned matrix, in parallel over the trees."""

cimport cython
from cython.parallel cimport prange
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

import numpy as np

from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.trees.build cimport LEAF_PLACES, MAX_INNER_BY_CODES, grow_tree
from cwboost._kernels.trees.types cimport (
    CWB_BINS, CWB_EDGE, CWB_ENTROPY, CWB_GINI, Matrix, Node, Settings, Tree, TreeNode, Work,
    cwb_pair, cwb_split)

cdef extern from "<stdlib.h>" nogil:
    int posix_memalign(void **memory, size_t alignment, size_t size)

cdef double SMALLEST_TOTAL = 1e-300

TREE_CRITERIA = {"edge": CWB_EDGE, "gini": CWB_GINI, "entropy": CWB_ENTROPY}


cdef bint grow_all(
    const Matrix *X, const Settings *settings, Work *works, int n_threads, const char *weights,
    Py_ssize_t stride, const uint64_t *seeds, Tree *trees, Py_ssize_t n_trees, uint8_t *packed
) noexcept:
    """Grow every tree; True if memory ran out. Rows of weights are `stride` bytes apart."""
    cdef Py_ssize_t t
    cdef int64_t n_bytes = (X.n_rows + 7) // 8
    cdef bint failed = False
    for t in prange(n_trees, nogil=True, schedule="dynamic", num_threads=n_threads):
        if not grow_tree(X, settings, works + omp_get_thread_num(),
                         <const double *> (weights + t * stride), seeds[t], trees + t,
                         packed + t * n_bytes):
            failed |= 1
    return failed


# Not cleared by the garbage collector: `__dealloc__` needs the list of blocks.
@cython.no_gc_clear
cdef class TreeGrower:
    """Grows trees on one binned matrix; keeps the scratch memory of its threads between calls.

    Parameters
    ----------
    binned : cwboost.kernels.BinnedMatrix
    criterion : int
        A value of `TREE_CRITERIA`.
    trim : float
        Rows of the smallest weights, up to this fraction of a target's mass, only follow a tree.
    max_depth, max_leaves, min_samples_leaf, max_features : int
        max_leaves 0: no limit, nodes are split depth first; else the node of largest gain first.
        max_features counts features that vary in the node.
    min_weight, min_gain : float
        Least mass of a node that is split, and least gain of a split, as fractions of the mass of
        the root.
    chance : memoryview of shape (5,), dtype float64
        Deviations of the best comparison without association (`cwboost.kernels.chance`).
    n_threads : int
    """

    cdef Matrix X
    cdef Settings settings
    cdef Work *work
    cdef int n_threads
    cdef object binned, categorical, kept
    cdef list blocks

    def __cinit__(self, binned, *, int criterion, double trim, int64_t max_depth,
                  int64_t max_leaves, int64_t min_samples_leaf, int64_t max_features,
                  const double[::1] chance, int n_threads, double min_weight=0,
                  double min_gain=0):
        cdef int k
        self.work = NULL
        self.blocks = []
        self.n_threads = n_threads
        self.binned = binned
        self.categorical = np.append(binned.n_categories > 0, False).astype(np.uint8)
        self.settings.criterion = criterion
        self.settings.trim = trim
        self.settings.min_weight = min_weight
        self.settings.min_gain = min_gain
        self.settings.max_depth = max_depth
        self.settings.max_leaves = max_leaves
        self.settings.min_samples_leaf = min_samples_leaf
        self.settings.max_features = max_features
        for k in range(5):
            self.settings.chance[k] = chance[k]
        self._read(binned)
        self._allocate()

    cdef _read(self, binned):
        """Take the addresses of the arrays of `binned`, which self.binned keeps alive."""
        cdef const uint8_t[::1] codes = binned.codes
        cdef const int32_t[::1] usable = binned.usable
        cdef const int32_t[::1] n_bins = binned.n_bins
        cdef const int64_t[::1] bin_start = binned.bin_start
        cdef const double[::1] lowest = binned.lowest
        cdef const double[::1] highest = binned.highest
        cdef const uint8_t[::1] listed = binned.listed
        cdef const uint8_t[::1] categorical = self.categorical
        cdef const int64_t[::1] indptr
        cdef const int32_t[::1] entry_rows
        cdef const uint8_t[::1] entry_codes
        cdef const uint8_t[::1] default_code
        cdef Py_ssize_t f
        self.X.n_rows = binned.n_rows
        self.X.n_usable = usable.shape[0]
        self.X.codes = &codes[0] if codes.shape[0] else NULL
        self.X.usable = &usable[0] if usable.shape[0] else NULL
        self.X.n_bins = &n_bins[0]
        self.X.bin_start = &bin_start[0]
        self.X.lowest = &lowest[0]
        self.X.highest = &highest[0]
        self.X.listed = &listed[0]
        self.X.categorical = &categorical[0] if binned.n_categories.any() else NULL
        self.X.indptr = NULL
        self.X.fewest_entries = self.X.n_rows
        if binned.indptr is None:
            return
        indptr = binned.indptr
        entry_rows = binned.entry_rows
        entry_codes = binned.entry_codes
        default_code = binned.default_code
        self.X.indptr = &indptr[0]
        self.X.entry_rows = &entry_rows[0] if entry_rows.shape[0] else NULL
        self.X.entry_codes = &entry_codes[0] if entry_codes.shape[0] else NULL
        self.X.default_code = &default_code[0]
        for f in range(indptr.shape[0] - 1):
            if listed[f]:
                self.X.fewest_entries = min(self.X.fewest_entries, indptr[f + 1] - indptr[f])
        if self.X.codes == NULL:
            self.X.fewest_entries = -1

    cdef _allocate(self):
        cdef int t
        cdef size_t n = self.X.n_rows, n_features = max(1, self.X.n_usable)
        cdef size_t n_listed = n if self.X.indptr != NULL else 1
        cdef Work *work
        self.work = <Work *> calloc(self.n_threads, sizeof(Work))
        if self.work == NULL:
            raise MemoryError("scratch memory of the tree grower")
        for t in range(self.n_threads):
            work = self.work + t
            work.rows = <int32_t *> self._scratch(n * sizeof(int32_t))
            work.idle_rows = <int32_t *> self._scratch(n * sizeof(int32_t))
            work.scratch_rows = <int32_t *> self._scratch(2 * n * sizeof(int32_t))
            work.weights = <double *> self._scratch(n * sizeof(double))
            work.scratch_weights = <double *> self._scratch(n * sizeof(double))
            work.positive = <uint8_t *> self._scratch(n)
            work.hist = <cwb_pair *> self._scratch(8 * CWB_BINS * 16)
            work.counts = <int64_t *> self._scratch(3 * CWB_BINS * sizeof(int64_t))
            work.features = <int32_t *> self._scratch(n_features * sizeof(int32_t))
            work.pending = <int32_t *> self._scratch(n_features * sizeof(int32_t))
            work.splits = <cwb_split *> self._scratch(2 * n_features * sizeof(cwb_split))
            work.weight_of = <double *> self._scratch(n_listed * sizeof(double))
            work.slot_of = <uint8_t *> self._scratch(n_listed)
            work.column = <uint8_t *> self._scratch(n_listed)
            work.sides = <uint8_t *> self._scratch(n if self.X.categorical != NULL else 1)
            work.reach = self._scratch((MAX_INNER_BY_CODES + LEAF_PLACES) * 32)
            work.frontier_capacity = 64
            work.frontier = <Node *> malloc(work.frontier_capacity * sizeof(Node))
            if work.frontier == NULL:
                raise MemoryError("scratch memory of the tree grower")

    cdef void *_scratch(self, size_t size) except NULL:
        """Return zeros, aligned to a vector, with room for one more; freed with the grower."""
        cdef void *memory = NULL
        size = (size + 127) // 64 * 64
        if posix_memalign(&memory, 64, size):
            raise MemoryError(f"scratch memory of the tree grower, {size} bytes")
        memset(memory, 0, size)
        self.blocks.append(<uintptr_t> memory)
        return memory

    def __dealloc__(self):
        cdef int t
        cdef uintptr_t block
        if self.work != NULL:
            for t in range(self.n_threads):
                free(self.work[t].frontier)
            free(self.work)
        for block in self.blocks or ():
            free(<void *> block)

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
            `feature`, `left` (int32, -1 in leaves), `threshold` (float64), `missing`, `sign`
            (int8), `gain` (float32; what a comparison gained in edge, less what chance gives,
            as a fraction of the edge; 0 in leaves). If there are features of categories, also
            `set_start` and `set_bits`, see `cwboost.kernels.CategorySets`.
        packed : ndarray of shape (n_trees, ceil(n_rows / 8)), dtype uint8
        edges : ndarray of shape (n_trees,), dtype float64
        """
        cdef const double[:, :] r = weights
        cdef const uint64_t[::1] seed = seeds
        cdef Py_ssize_t n_trees = r.shape[0], t
        if r.shape[1] != self.X.n_rows or r.strides[1] != sizeof(double) and self.X.n_rows > 1:
            raise ValueError(
                f"weights: expected (n_trees, {self.X.n_rows}) with contiguous rows, got shape "
                f"{weights.shape} and strides {weights.strides}")
        if seed.shape[0] != n_trees:
            raise ValueError(f"seeds: expected {n_trees} seeds, got {seed.shape[0]}")
        cdef const int8_t[:, ::1] constraints
        if monotonic is not None:
            constraints = monotonic
            if constraints.shape[0] != n_trees or constraints.shape[1] != self.binned.n_features:
                raise ValueError(
                    f"monotonic: expected shape ({n_trees}, {self.binned.n_features}), got "
                    f"{monotonic.shape}")
        self._keep(rows)
        packed = np.empty((n_trees, (self.X.n_rows + 7) // 8), dtype=np.uint8)
        cdef uint8_t[:, ::1] bits = packed
        cdef bint failed = False
        cdef Tree *trees = <Tree *> calloc(max(1, n_trees), sizeof(Tree))
        if trees == NULL:
            raise MemoryError("nodes of the grown trees")
        try:
            for t in range(n_trees):
                trees[t].capacity = 64
                trees[t].monotonic = &constraints[t, 0] if monotonic is not None else NULL
                trees[t].nodes = <TreeNode *> malloc(64 * sizeof(TreeNode))
                failed |= trees[t].nodes == NULL
            if not failed and n_trees > 0 and self.X.n_rows > 0:
                failed = grow_all(
                    &self.X, &self.settings, self.work, self.n_threads, <const char *> &r[0, 0],
                    r.strides[0], &seed[0], trees, n_trees, &bits[0, 0])
            if failed:
                raise MemoryError("nodes of the grown trees")
            nodes, packed, edges = as_arrays(trees, n_trees, packed)
            if self.X.categorical != NULL:
                nodes |= as_sets(&self.X, trees, n_trees, nodes["offsets"],
                                 self.binned.n_categories)
            return nodes, packed, edges
        finally:
            for t in range(n_trees):
                free(trees[t].nodes)
            free(trees)

    cdef _keep(self, rows):
        """Tell every thread which rows have a weight; self.kept keeps the array alive."""
        cdef const int64_t[::1] kept
        cdef const int64_t *first = NULL
        cdef int64_t n = self.X.n_rows
        cdef int t
        self.kept = rows if rows is not None and len(rows) else None
        if self.kept is not None:
            kept = self.kept
            first, n = &kept[0], kept.shape[0]
            if kept[0] < 0 or kept[n - 1] >= self.X.n_rows:
                raise ValueError(f"rows: expected indices below {self.X.n_rows}")
        for t in range(self.n_threads):
            self.work[t].kept, self.work[t].n_kept = first, n


cdef as_arrays(const Tree *trees, Py_ssize_t n_trees, packed):
    """Return nodes of all trees as flat NumPy arrays, with the packed outputs and the edges."""
    cdef int64_t[::1] offsets = np.zeros(n_trees + 1, dtype=np.int64)
    cdef double[::1] edges = np.empty(n_trees)
    cdef Py_ssize_t t
    cdef int64_t i, k
    for t in range(n_trees):
        offsets[t + 1] = offsets[t] + trees[t].n
        edges[t] = trees[t].edge
    cdef int64_t n = offsets[n_trees]
    cdef int32_t[::1] feature = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] left = np.empty(n, dtype=np.int32)
    cdef double[::1] threshold = np.empty(n)
    cdef int8_t[::1] missing = np.empty(n, dtype=np.int8)
    cdef int8_t[::1] sign = np.empty(n, dtype=np.int8)
    cdef float[::1] gain = np.empty(n, dtype=np.float32)
    for t in range(n_trees):
        for i in range(trees[t].n):
            k = offsets[t] + i
            feature[k] = trees[t].nodes[i].feature
            left[k] = trees[t].nodes[i].left
            threshold[k] = trees[t].nodes[i].threshold
            missing[k] = trees[t].nodes[i].missing
            sign[k] = trees[t].nodes[i].sign
            gain[k] = <float> (trees[t].nodes[i].gain / max(trees[t].total, SMALLEST_TOTAL))
    nodes = {"offsets": np.asarray(offsets), "feature": np.asarray(feature),
             "threshold": np.asarray(threshold), "left": np.asarray(left),
             "missing": np.asarray(missing), "sign": np.asarray(sign), "gain": np.asarray(gain)}
    return nodes, packed, np.asarray(edges)


cdef as_sets(const Matrix *X, const Tree *trees, Py_ssize_t n_trees, const int64_t[::1] offsets,
             const int64_t[::1] n_categories):
    """Return the category sets of all nodes as flat arrays.

    Categories without an example in training go where missing values go.
    """
    cdef int64_t[::1] start = np.zeros(offsets[n_trees] + 1, dtype=np.int64)
    cdef Py_ssize_t t
    cdef int64_t i, k, b, code
    cdef const TreeNode *node
    for t in range(n_trees):
        for i in range(trees[t].n):
            k = offsets[t] + i
            node = trees[t].nodes + i
            start[k + 1] = start[k]
            if node.categorical:
                start[k + 1] += (n_categories[node.feature] + 7) // 8
    # With one more byte, so that it has an address.
    cdef uint8_t[::1] bits = np.zeros(start[offsets[n_trees]] + 1, dtype=np.uint8)
    for t in range(n_trees):
        for i in range(trees[t].n):
            node = trees[t].nodes + i
            if not node.categorical:
                continue
            k = start[offsets[t] + i]
            for code in range(n_categories[node.feature] if node.missing > 0 else 0):
                bits[k + (code >> 3)] |= 1 << (code & 7)
            for b in range(X.n_bins[node.feature]):
                code = <int64_t> X.lowest[X.bin_start[node.feature] + b]
                if node.right[b >> 6] >> (b & 63) & 1:
                    bits[k + (code >> 3)] |= 1 << (code & 7)
                else:
                    bits[k + (code >> 3)] &= ~(<uint8_t> (1 << (code & 7)))
    return {"set_start": np.asarray(start), "set_bits": np.asarray(bits)[:start[offsets[n_trees]]]}
