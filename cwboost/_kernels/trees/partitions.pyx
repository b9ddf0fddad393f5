"""Growth of trees on partitions, level by level: the rows of one partition, and the nodes.

The partitions send exact sums of their rows (`NodeRows`); from the sums over all partitions,
`GrowingTrees` chooses splits as local growth does (search.pyx, nodes.pyx). The trees are the same.
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, ceil
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

import numpy as np

from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.trees.build cimport (
    combine, divide_rows, sum_node, take_rows, write_outputs)
from cwboost._kernels.trees.draws cimport draw_features, undo_draws
from cwboost._kernels.trees.histogram cimport node_histograms
from cwboost._kernels.trees.nodes cimport (
    TreeBatch, merge_equal_leaves, sort_by_level, split_node, start_tree)
from cwboost._kernels.trees.search cimport may_split, split_of_histogram
from cwboost._kernels.trees.types cimport Matrix, Node, Settings, Tree, TreeNode, Work, cwb_split
from cwboost._kernels.trees.workspace cimport Workspace

from cwboost._kernels.trees.nodes import NODE

# Features asked for per feature wanted, beyond what varied in the parent, to spare exchanges.
cdef double SPARE = 1.25

cdef struct Open:
    # A node that waits for its split; `share` of the features varied in its parent.
    Node node
    int64_t tree, n_asked, n_goal, n_seen, n_varying
    double share


cdef void *resized(void *memory, int64_t n, size_t size) except NULL:
    cdef void *grown = realloc(memory, max(1, n) * size)
    if grown == NULL:
        raise MemoryError("nodes of growing trees")
    return grown


cdef class NodeRows:
    """The rows of one partition, by the nodes of growing trees, one tree per target.

    Parameters
    ----------
    binned : cwboost.kernels.BinnedMatrix
    n_threads : int
    """

    cdef Workspace space
    cdef Work *lent  # the scratch memory, with the rows of all nodes
    cdef Node *nodes
    cdef int64_t n_nodes
    cdef object rows, weights

    def __cinit__(self, binned, int n_threads):
        self.space = Workspace(binned.bins, binned, n_threads)
        self.lent = <Work *> resized(NULL, n_threads, sizeof(Work))
        memcpy(self.lent, self.space.work, n_threads * sizeof(Work))

    def __dealloc__(self):
        free(self.lent)
        free(self.nodes)

    def start(self, const double[:, :] weights, const double[::1] scales):
        """Start one tree per row of weights, from the rows whose rounded weight is not zero.

        The scales are those of all partitions.
        """
        cdef int64_t t, n = 0
        cdef Work *work = self.space.work
        cdef const Matrix *X = &self.space.X
        self.n_nodes = scales.shape[0]
        self.nodes = <Node *> resized(self.nodes, self.n_nodes, sizeof(Node))
        rows, taken = [], []
        for t in range(self.n_nodes):
            self.nodes[t].start = n
            n += take_rows(X, work, &weights[t, 0], scales[t])
            self.nodes[t].end = n
            rows.append(np.array((<int32_t[:X.n_rows]> work.rows)[:n - self.nodes[t].start]))
            taken.append(np.array((<double[:X.n_rows]> work.weights)[:n - self.nodes[t].start]))
        # With one entry more, so that the end of the last node has an address.
        self.rows = np.concatenate([*rows, np.zeros(1, np.int32)])
        self.weights = np.concatenate([*taken, np.zeros(1)])
        cdef int32_t[::1] all_rows = self.rows
        cdef double[::1] all_weights = self.weights
        for t in range(self.space.n_threads):
            self.lent[t].rows, self.lent[t].weights = &all_rows[0], &all_weights[0]
        for t in range(self.n_nodes):
            sum_node(self.lent, self.nodes + t)

    def combine(self, const double[:, :] weights, const double[::1] code):
        """Return ``code @ weights``, summed as `TreeGrower.divide` does."""
        cdef int64_t n = weights.shape[1]
        sums = np.empty(n)
        cdef double[::1] combined = sums
        with nogil:
            combine(<const char *> &weights[0, 0], weights.strides[0], &code[0], code.shape[0], n,
                    self.space.n_threads, &combined[0])
        return sums

    def split(self, const int64_t[::1] places, const TreeNode[::1] splits):
        """Split the nodes at some places; their children get the next two places each."""
        cdef int64_t k, n = splits.shape[0], first = self.n_nodes
        cdef int n_threads = self.space.n_threads
        self.nodes = <Node *> resized(self.nodes, first + 2 * n, sizeof(Node))
        for k in prange(n, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=16):
            divide_rows(&self.space.X, self.lent + omp_get_thread_num(), &splits[k],
                        self.nodes + places[k], self.nodes + first + 2 * k)
        self.n_nodes += 2 * n

    def totals(self, int64_t first):
        """Return sum and mass of the weights of the nodes from `first` on."""
        cdef int64_t k
        found = np.empty((self.n_nodes - first, 2))
        cdef double[:, ::1] out = found
        for k in range(found.shape[0]):
            out[k, 0], out[k, 1] = self.nodes[first + k].sum, self.nodes[first + k].mass
        return found

    def histograms(self, const int64_t[::1] nodes, const int32_t[::1] features):
        """Return the sums of the codes of pairs of a node and a feature.

        Parameters
        ----------
        nodes : ndarray of shape (n_pairs,), dtype int64
            Ascending.
        features : ndarray of shape (n_pairs,), dtype int32

        Returns
        -------
        ndarray of shape (n_pairs, n_codes, 2), dtype float64
            Sum and mass; ``n_codes`` is the largest number of codes of one of the features.
        """
        cdef int64_t run, n_codes = 1, n_runs, n_pairs = nodes.shape[0]
        cdef int n_threads = self.space.n_threads
        for run in range(n_pairs):
            n_codes = max(n_codes, min(256, self.space.X.n_bins[features[run]] + 1))
        sums = np.empty((n_pairs, n_codes, 2))
        cdef double[:, :, ::1] out = sums
        cdef int64_t[::1] starts = np.flatnonzero(np.diff(nodes, prepend=-1, append=-1))
        n_runs = starts.shape[0] - 1
        for run in prange(n_runs, nogil=True, num_threads=n_threads, schedule="dynamic"):
            node_histograms(
                &self.space.X, self.lent + omp_get_thread_num(),
                self.nodes + nodes[starts[run]], &features[starts[run]],
                starts[run + 1] - starts[run], &out[starts[run], 0, 0], n_codes)
        return sums

    def outputs(self, const int64_t[::1] offsets, **fields):
        """Return outputs of trees on all rows, packed, and their cells.

        The fields are arrays, see `TreeLearners` and `TreeNode`; for the cells see
        `TreeGrower.grow`.
        """
        cdef int64_t t, n_trees = offsets.shape[0] - 1
        cdef int n_threads = self.space.n_threads
        cdef bint failed = False
        cdef TreeBatch batch = TreeBatch(n_trees)
        cdef Tree *tree
        packed = np.empty((n_trees, (self.space.X.n_rows + 7) // 8), dtype=np.uint8)
        cells = np.empty((n_trees, self.space.X.n_rows), dtype=np.int32)
        nodes = np.zeros(offsets[n_trees], NODE)
        for name, values in fields.items():
            nodes[name] = values
        cdef uint8_t[:, ::1] out = packed
        cdef int32_t[:, ::1] cell = cells
        cdef const TreeNode[::1] own = nodes
        for t in range(n_trees):
            tree = batch.trees + t
            tree.n = offsets[t + 1] - offsets[t]
            tree.nodes = <TreeNode *> resized(tree.nodes, tree.n, sizeof(TreeNode))
            memcpy(tree.nodes, &own[offsets[t]], tree.n * sizeof(TreeNode))
        for t in prange(n_trees, nogil=True, num_threads=n_threads, schedule="dynamic"):
            if not write_outputs(&self.space.X, self.space.work + omp_get_thread_num(),
                                 batch.trees + t, 0, self.space.X.n_rows, &out[t, 0],
                                 &cell[t, 0]):
                failed |= 1
        if failed:
            raise MemoryError("scratch memory of the trees")
        return packed, cells


cdef class GrowingTrees:
    """The nodes of growing trees, level by level, from sums over all partitions.

    While a node is open, `ask` names the histograms it needs, `search` takes them, and when all
    have enough, `split` carries out the level.

    Parameters
    ----------
    bins : cwboost.kernels.Bins
    seeds : ndarray of shape (n_trees,), dtype uint64
        Seed of the feature draws of each tree.
    **settings
        Those of `TreeGrower`; max_leaves must be 0.
    """

    cdef Workspace space
    cdef Settings settings
    cdef TreeBatch batch
    cdef Open *open
    cdef int64_t n_open, first, n_nodes  # the open nodes are first ... first + n_open - 1
    cdef bint is_new

    def __cinit__(self, bins, const uint64_t[::1] seeds, **settings):
        cdef int64_t t
        self.settings = settings
        self.space = Workspace(bins, None, 1)
        self.batch = TreeBatch(seeds.shape[0])
        self.n_open, self.first, self.is_new = seeds.shape[0], 0, True
        self.open = <Open *> resized(NULL, self.n_open, sizeof(Open))
        for t in range(self.n_open):
            memset(self.open + t, 0, sizeof(Open))
            self.open[t].tree, self.open[t].share = t, 1.0
            self.open[t].node.seed = seeds[t]
            self.begin(self.open + t, True)

    def __dealloc__(self):
        free(self.open)

    cdef void begin(self, Open *own, bint searched) noexcept:
        """Say how many features a new node asks for."""
        cdef int64_t n_usable = self.space.X.n_usable
        cdef double wanted = self.settings.max_features / own.share
        own.node.split.gain = -INFINITY
        own.n_asked = own.n_seen = own.n_varying = own.n_goal = 0
        if searched:
            wanted = ceil(wanted * (SPARE if own.share < 1 else 1.0))
            own.n_goal = min(n_usable, <int64_t> min(wanted, 1e9))

    @property
    def is_open(self):
        """True while nodes may be split."""
        return self.n_open > 0

    def ask(self):
        """Return the first new node, and the pairs of a node and a feature to be summed.

        The number of all nodes for the first new one if none is new; no pairs if all nodes have
        been searched.
        """
        cdef int64_t k, i, n = 0
        for k in range(self.n_open):
            n += self.open[k].n_goal - self.open[k].n_asked
        pairs = np.empty(n, np.int64), np.empty(n, np.int32)
        cdef int64_t[::1] nodes = pairs[0]
        cdef int32_t[::1] features = pairs[1]
        cdef Open *own
        cdef Work *work = self.space.work
        cdef const Matrix *X = &self.space.X
        n = 0
        for k in range(self.n_open):
            own = self.open + k
            draw_features(X, &self.settings, work, own.node.seed, 0, own.n_goal)
            for i in range(own.n_asked, own.n_goal):
                nodes[n], features[n] = self.first + k, work.features[i]
                n += 1
            undo_draws(X, &self.settings, work, own.n_goal)
        return (self.first if self.is_new else self.first + self.n_open), *pairs

    def search(self, const double[:, ::1] totals, const double[:, :, ::1] sums):
        """Take the results of `NodeRows.totals` and `NodeRows.histograms` over all partitions."""
        cdef int64_t k, i, n = 0
        cdef Open *own
        cdef Work *work = self.space.work
        cdef const Matrix *X = &self.space.X
        # Those of children follow from the split.
        for k in range(totals.shape[0] if self.first == 0 else 0):
            own = self.open + k
            own.node.sum, own.node.mass = totals[k, 0], totals[k, 1]
            own.node.least_mass = self.settings.leaf_mass * own.node.mass
            start_tree(self.batch.trees + own.tree, &own.node)
        self.is_new = False
        for k in range(self.n_open):
            own = self.open + k
            draw_features(X, &self.settings, work, own.node.seed, 0, own.n_goal)
            for i in range(own.n_asked, own.n_goal):
                if own.n_varying < self.settings.max_features:
                    self.take(own, work.features[i], &sums[n, 0, 0], sums.shape[1])
                n += 1
            undo_draws(X, &self.settings, work, own.n_goal)
            own.n_asked = own.n_goal
            if own.n_varying < self.settings.max_features and own.n_asked > 0:
                own.n_goal = min(self.space.X.n_usable, 2 * own.n_asked)

    cdef void take(self, Open *own, int32_t feature, const double *sums,
                   int64_t n_codes) noexcept:
        """Search one feature of a node; of equal gains the first counts."""
        cdef cwb_split found
        own.n_seen += 1
        own.n_varying += split_of_histogram(&self.space.X, &self.settings, self.space.work,
                                            &own.node, feature, sums, n_codes, &found)
        if found.gain > own.node.split.gain:
            own.node.split = found

    def split(self):
        """Split the open nodes that gain; return their places and splits for `NodeRows.split`."""
        cdef int64_t k, n = 0
        cdef Open *own
        cdef Tree *tree
        cdef Node[2] children
        cdef Open *opened = <Open *> resized(NULL, 2 * self.n_open, sizeof(Open))
        found = np.empty(self.n_open, np.int64), np.empty(self.n_open, NODE)
        cdef int64_t[::1] places = found[0]
        cdef TreeNode[::1] splits = found[1]
        for k in range(self.n_open):
            own = self.open + k
            tree = self.batch.trees + own.tree
            if own.node.split.gain < 0 or not may_split(&self.settings, &own.node):
                continue
            if not split_node(&self.space.X, &self.settings, tree, &own.node, children):
                free(opened)
                raise MemoryError("nodes of growing trees")
            places[n], splits[n] = self.first + k, tree.nodes[own.node.index]
            self.open_children(own, children, opened + 2 * n)
            n += 1
        free(self.open)
        self.open = opened
        self.first, self.n_open, self.is_new = self.first + self.n_open, 2 * n, True
        for k in range(self.n_open):
            if self.open[k].n_goal > 0:
                return found[0][:n], found[1][:n]
        self.n_open = 0  # no child is searched

    cdef void open_children(self, const Open *parent, const Node *children,
                            Open *opened) noexcept:
        cdef int64_t side
        for side in range(2):
            opened[side].node, opened[side].tree = children[side], parent.tree
            opened[side].share = max(1, parent.n_varying) / <double> max(1, parent.n_seen)
            self.begin(opened + side, may_split(&self.settings, children + side))

    def finish(self, bint merge):
        """Return the nodes of all trees as `TreeGrower.grow` does, and their edges.

        The edges are in units of 1 / scale. With `merge`, neighbouring leaves of one sign are one.
        """
        cdef int64_t t
        edges = np.empty(self.batch.n)
        for t in range(self.batch.n):
            edges[t] = self.batch.trees[t].total
            if merge:
                merge_equal_leaves(self.batch.trees + t)
            if not sort_by_level(self.batch.trees + t):
                raise MemoryError("nodes of growing trees")
        return self.batch.arrays(&self.space.X, self.space.bins.n_categories), edges
