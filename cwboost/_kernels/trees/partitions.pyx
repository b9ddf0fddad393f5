"""Growth of trees on partitions, level by level: the rows of one partition, and the nodes.

The partitions send exact sums of their rows (`NodeRows`); from the sums over all partitions,
`GrowingTrees` chooses splits as local growth does (search.pyx, nodes.pyx). What is below a node
whose rows take few bytes grows in one place, from these rows: the partitions send them once, in
place of sums for each of the levels. The trees are the same.
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

import numpy as np

from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.trees.build cimport (
    combine, divide_rows, mass_of, push, settle, sum_node, take_rows, write_outputs)
from cwboost._kernels.trees.draws cimport draw_features, draws, draws_anew, undo_draws
from cwboost._kernels.trees.histogram cimport n_codes, node_histograms
from cwboost._kernels.trees.nodes cimport TreeBatch, join_subtree, split_node, start_tree
from cwboost._kernels.trees.round cimport Round
from cwboost._kernels.trees.search cimport may_split, split_of_histogram
from cwboost._kernels.trees.together cimport grow_subtrees
from cwboost._kernels.trees.types cimport (
    CWB_BINS, Frontier, Matrix, Node, Rows, Settings, Tree, TreeNode, Work, cwb_split)
from cwboost._kernels.trees.workspace cimport Workspace

from cwboost._kernels.trees.nodes import NODE

cdef enum:
    ROWS_AT_ONCE = 1 << 14  # whose codes a cache holds while they go down a tree; whole bytes


cdef struct Open:
    # A node that waits for its split, with the bytes that its rows take.
    Node node
    int64_t n_asked, n_goal, n_varying
    int64_t heir_of  # the node whose sums less its sibling's are its own; -1: none
    double n_bytes


cdef void *resized(void *memory, int64_t n, size_t size) except NULL:
    cdef void *grown = realloc(memory, max(1, n) * size)
    if grown == NULL:
        raise MemoryError("nodes of growing trees")
    return grown


cdef features_of(Work *work, const uint64_t[:, ::1] asked):
    """Return the features asked for, and where those of each node start.

    A row of `asked`: the seed of a node's draws, and the range of features in their order.
    """
    cdef int64_t k, i, n = asked.shape[0]
    starts = np.zeros(n + 1, dtype=np.int64)
    cdef int64_t[::1] start = starts
    for k in range(n):
        start[k + 1] = start[k] + <int64_t> (asked[k, 2] - asked[k, 1])
    features = np.empty(start[n], dtype=np.int32)
    cdef int32_t[::1] feature = features
    for k in range(n):
        draw_features(work, asked[k, 0], 0, asked[k, 2])
        for i in range(start[k], start[k + 1]):
            feature[i] = work.features[<int64_t> asked[k, 1] + i - start[k]]
        undo_draws(work, asked[k, 2])
    return features, starts


cdef places_of(const Matrix *X, const int32_t[::1] features, const int64_t[::1] starts):
    """Return where the sums of each node start, given its features; at the end their number."""
    cdef int64_t k, i
    places = np.zeros(starts.shape[0], dtype=np.int64)
    cdef int64_t[::1] place = places
    for k in range(starts.shape[0] - 1):
        place[k + 1] = place[k]
        for i in range(starts[k], starts[k + 1]):
            place[k + 1] += n_codes(X, features[i])
    return places


cdef class NodeRows:
    """The rows of one partition, a `BinnedMatrix`, by the nodes of growing trees, one per target.

    `max_features` is that of the trees' settings.
    """

    cdef Workspace space
    cdef Settings settings
    cdef Work *lent  # the scratch memory, with the rows of all nodes
    cdef Node *nodes
    cdef int64_t n_nodes, first  # of the nodes that were made last
    cdef double bytes_per_row
    cdef object binned, rows, weights
    cdef object combined  # weights of the tree that starts next, or None

    def __cinit__(self, binned, int64_t max_features):
        cdef int n_threads = binned.n_threads
        self.settings.max_features = max_features
        self.binned, self.space = binned, Workspace(binned.bins, binned, n_threads)
        self.space.use(&self.settings)
        codes, _, _, listed, _, _ = self.space.arrays
        self.bytes_per_row = sizeof(double) + (len(codes) or 5 * len(listed)) / binned.n_rows
        self.lent = <Work *> resized(NULL, n_threads, sizeof(Work))
        memcpy(self.lent, self.space.work, n_threads * sizeof(Work))

    def __dealloc__(self):
        free(self.lent)
        free(self.nodes)

    def combine(self, const double[:, :] weights, const double[::1] code):
        """Let one tree start from ``code @ weights``; return the sum of their magnitudes."""
        cdef int64_t n_rows = self.space.X.n_rows
        self.combined = np.empty(n_rows)
        cdef double[::1] sums = self.combined
        with nogil:
            combine(<const char *> &weights[0, 0], weights.strides[0], &code[0], code.shape[0],
                    n_rows, self.space.n_threads, &sums[0])
        return mass_of(&sums[0], n_rows)

    def start(self, const double[:, :] weights, const double[::1] scales):
        """Start one tree per row of weights, or on what was combined before, if anything was.

        Rows whose rounded weight is zero take no part. The scales are those of all partitions.
        """
        cdef int64_t t, n = 0
        cdef const Matrix *X = &self.space.X
        if self.combined is not None:
            weights, self.combined = self.combined[None], None
        self.n_nodes, self.first = scales.shape[0], 0
        self.nodes = <Node *> resized(self.nodes, self.n_nodes, sizeof(Node))
        # Of these, memory that is not written to takes no room.
        self.rows = np.empty(self.n_nodes * X.n_rows, dtype=np.int32)
        self.weights = np.empty(self.n_nodes * X.n_rows)
        cdef int32_t[::1] all_rows = self.rows
        cdef double[::1] all_weights = self.weights
        for t in range(self.n_nodes):
            self.lent.rows, self.lent.weights = &all_rows[n], &all_weights[n]
            self.nodes[t].start = n
            n += take_rows(self.lent, &weights[t, 0], scales[t])
            self.nodes[t].end = n
        for t in range(self.space.n_threads):
            self.lent[t].rows, self.lent[t].weights = &all_rows[0], &all_weights[0]
        for t in range(self.n_nodes):
            sum_node(self.lent, self.nodes + t)

    def split(self, const int64_t[::1] places, const TreeNode[::1] splits):
        """Split the nodes at some places; their children get the next two places each."""
        cdef int64_t k, n = splits.shape[0], first = self.n_nodes
        cdef int n_threads = self.space.n_threads
        if n == 0:
            return
        self.first = first
        self.nodes = <Node *> resized(self.nodes, first + 2 * n, sizeof(Node))
        for k in prange(n, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=16):
            divide_rows(self.lent + omp_get_thread_num(), &splits[k], self.nodes + places[k],
                        self.nodes + first + 2 * k)
        self.n_nodes += 2 * n

    def totals(self):
        """Return sum and mass of the weights, and bytes of the rows, of the nodes made last."""
        cdef int64_t k
        cdef const Node *node
        found = np.empty((self.n_nodes - self.first, 3))
        cdef double[:, ::1] out = found
        for k in range(found.shape[0]):
            node = self.nodes + self.first + k
            out[k, 0], out[k, 1] = node.sum, node.mass
            out[k, 2] = self.bytes_per_row * (node.end - node.start)
        return found

    def histograms(self, asked):
        """Return sum and mass of each code of each feature of the nodes made last, (n_sums, 2).

        The features are those `asked` for by `GrowingTrees.ask`.
        """
        cdef int64_t k, n_nodes = len(asked)
        cdef int n_threads = self.space.n_threads
        features, starts = features_of(self.space.work, asked)
        cdef const int32_t[::1] feature = features
        cdef const int64_t[::1] start = starts, place = places_of(&self.space.X, features, starts)
        sums = np.empty((place[n_nodes], 2))
        cdef double[:, ::1] out = sums
        for k in prange(n_nodes, nogil=True, num_threads=n_threads, schedule="dynamic"):
            if start[k] < start[k + 1]:
                node_histograms(self.lent + omp_get_thread_num(), self.nodes + self.first + k,
                                &feature[start[k]], start[k + 1] - start[k], &out[place[k], 0])
        return sums

    def rows_of(self, places):
        """Return the weights and codes of the rows of each of some nodes."""
        cdef int64_t place
        own = [slice(self.nodes[place].start, self.nodes[place].end) for place in places]
        return [(self.weights[rows], self.binned.codes_of(self.rows[rows])) for rows in own]

    def outputs(self, const int64_t[::1] offsets, bint as_cells, **fields):
        """Return outputs of trees on all rows, packed, or their cells.

        The fields are arrays, see `TreeLearners` and `TreeNode`; for the cells see
        `TreeGrower.divide`.
        """
        cdef int64_t t, i, n_trees = offsets.shape[0] - 1, n_rows = self.space.X.n_rows
        # Of a sparse matrix, a part of the rows costs as much as all.
        cdef int64_t step = n_rows if self.space.X.codes == NULL else ROWS_AT_ONCE
        cdef int64_t n_parts = (n_rows + step - 1) // step
        cdef int n_threads = self.space.n_threads
        cdef bint failed = False
        cdef TreeBatch batch = TreeBatch(n_trees)
        cdef Tree *tree
        packed = np.empty((n_trees, (n_rows + 7) // 8 if not as_cells else 0), dtype=np.uint8)
        cells = np.full((n_trees, n_rows if as_cells else 0), -1, dtype=np.int32)
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
        for i in prange(n_trees * n_parts, nogil=True, num_threads=n_threads, schedule="dynamic"):
            failed |= not write_outputs(
                self.space.work + omp_get_thread_num(), batch.trees + i // n_parts,
                step * (i % n_parts), min(n_rows, step * (i % n_parts + 1)),
                NULL if as_cells else &out[i // n_parts, 0],
                &cell[i // n_parts, 0] if as_cells else NULL)
        if failed:
            raise MemoryError("scratch memory of the trees")
        return cells if as_cells else packed


cdef class GrowingTrees:
    """The nodes of growing trees, level by level, from sums over all partitions.

    While it `is_open`, `ask` names what it needs, which `search` and `join` take. `seeds` are
    those of the feature draws of each tree. Of two nodes that draw what their parent drew, sums of
    the lighter are asked for: its parent's less these are those of the other. The rows of a node,
    with weights, are asked for if they take up to `fewest_bytes` and, sent here and back, no more
    than the sums that `n_workers` would send for the nodes below; up to `most_bytes` at once,
    unless those of one node take more. The settings are those of `TreeGrower`, with max_leaves 0.
    """

    cdef Workspace space
    cdef Settings settings
    cdef double fewest_bytes, most_bytes, bytes_of_sums
    cdef TreeBatch batch
    cdef Open *open  # the nodes of a level, at the places from `first` on
    cdef int64_t n_open, first
    cdef Frontier closed  # nodes that are split where their rows come to
    cdef list places, n_bytes  # of the closed nodes
    cdef list first_sums, parent_sums  # by node: of the features drawn first; on the level above
    cdef object searched  # seed of the draws, and the range of features in their order

    def __cinit__(self, bins, const uint64_t[::1] seeds, *, double fewest_bytes,
                  double most_bytes, int64_t n_workers, **settings):
        cdef int64_t t
        self.settings = settings
        self.fewest_bytes, self.most_bytes = fewest_bytes, most_bytes
        self.space = Workspace(bins, None, 1)
        self.space.use(&self.settings)
        self.bytes_of_sums = n_workers * 2 * sizeof(double) * CWB_BINS * min(
            self.settings.max_features, self.space.X.n_usable)  # of a node
        self.batch = TreeBatch(seeds.shape[0])
        self.places, self.n_bytes, self.parent_sums = [], [], []
        self.n_open, self.first = seeds.shape[0], 0
        self.open = <Open *> resized(NULL, self.n_open, sizeof(Open))
        for t in range(self.n_open):
            memset(self.open + t, 0, sizeof(Open))
            self.open[t].node.tree, self.open[t].node.seed = t, seeds[t]
            self.begin(self.open + t, True)

    def __dealloc__(self):
        free(self.open)
        free(self.closed.nodes)

    cdef void begin(self, Open *own, bint searched) noexcept:
        """Let a new node ask for features."""
        own.node.split.gain, own.node.saved = -INFINITY, -1
        own.n_asked, own.n_varying, own.heir_of = 0, 0, -1
        own.n_goal = min(self.settings.max_features, self.space.X.n_usable) if searched else 0

    @property
    def is_open(self):
        """True while nodes may be split."""
        return self.n_open > 0 or self.closed.n > 0

    def ask(self):
        """Return the arguments of `NodeRows.histograms`, (n_nodes, 3), and `NodeRows.rows_of`."""
        cdef int64_t k
        cdef const Open *own
        self.searched = np.empty((self.n_open, 3), dtype=np.uint64)
        cdef uint64_t[:, ::1] searched = self.searched
        for k in range(self.n_open):
            own = self.open + k
            searched[k, 0], searched[k, 1], searched[k, 2] = own.node.seed, own.n_asked, own.n_goal
        asked = self.searched.copy()
        for k in range(self.n_open):
            if self.open[k].heir_of >= 0:
                asked[k, 1] = asked[k, 2]
        n_closed = max(1, np.count_nonzero(np.cumsum(self.n_bytes[::-1]) <= self.most_bytes))
        return asked, self.places[-n_closed:]

    def search(self, const double[:, ::1] totals, sums):
        """Take the results of `NodeRows.totals` and `NodeRows.histograms` over all partitions.

        Return the arguments of `NodeRows.split`, empty while nodes need further features.
        """
        cdef int64_t k, i, n
        cdef bint waits = False
        cdef Open *own
        cdef const Matrix *X = &self.space.X
        cdef const double[:, ::1] found
        features, starts = features_of(self.space.work, self.searched)
        cdef const int32_t[::1] feature = features
        cdef const int64_t[::1] start = starts
        by_node = self.by_node(sums, features, starts)
        for k in range(self.n_open):
            own, found, n = self.open + k, by_node[k], 0
            own.n_bytes = totals[k, 2]
            if self.first == 0:  # the sums of children follow from the split
                own.node.sum, own.node.mass = totals[k, 0], totals[k, 1]
                own.node.least_mass = self.settings.leaf_mass * own.node.mass
                start_tree(self.batch.trees + own.node.tree, &own.node)
            for i in range(start[k], start[k + 1]):
                if own.n_varying < self.settings.max_features:
                    self.take(own, feature[i], &found[n, 0])
                n += n_codes(X, feature[i])
            own.n_asked, own.heir_of = own.n_goal, -1
            if own.n_varying < self.settings.max_features and own.n_asked > 0:
                own.n_goal = min(X.n_usable, 2 * own.n_asked)
                waits |= own.n_goal > own.n_asked
        return self.split(waits)

    cdef list by_node(self, sums, features, starts):
        """Return the sums of each open node, of an heir those of its parent less its sibling's."""
        cdef int64_t k
        sizes = np.diff(places_of(&self.space.X, features, starts))
        heir_of = [self.open[k].heir_of for k in range(self.n_open)]
        sizes[np.array(heir_of) >= 0] = 0
        found = np.split(sums, np.cumsum(sizes))
        for k in range(self.n_open):
            if heir_of[k] >= 0:
                found[k] = self.parent_sums[heir_of[k]] - found[k ^ 1]
        if self.first_sums is None:
            self.first_sums = found
        return found

    cdef void take(self, Open *own, int32_t feature, const double *sums) noexcept:
        """Search one feature of a node; of equal gains the first counts."""
        cdef cwb_split found
        own.n_varying += split_of_histogram(
            self.space.work, &own.node, feature, sums, &found)
        if found.gain > own.node.split.gain:
            own.node.split = found

    cdef split(self, bint waits):
        """Split or close the open nodes that gain, unless some wait for features."""
        cdef int64_t k, n = 0, n_searched = 0, n_levels
        cdef double most
        cdef Open *own
        cdef Tree *tree
        cdef Node[2] children
        found = np.empty(self.n_open, np.int64), np.empty(self.n_open, NODE)
        if waits:
            return found[0][:0], found[1][:0]
        cdef Open *opened = <Open *> resized(NULL, 2 * self.n_open, sizeof(Open))
        cdef int64_t[::1] places = found[0]
        cdef TreeNode[::1] splits = found[1]
        for k in range(self.n_open):
            own = self.open + k
            tree = self.batch.trees + own.node.tree
            if own.node.split.gain < 0 or not may_split(&self.settings, &own.node):
                continue
            n_levels = self.settings.max_depth - own.node.depth
            most = min(self.fewest_bytes, (2.0 ** (n_levels - 1) - 1) * self.bytes_of_sums)
            if own.n_bytes <= most and n_levels > 1:
                self.close(own, self.first + k)
                continue
            if not split_node(&self.space.X, tree, &own.node, children):
                free(opened)
                raise MemoryError("nodes of growing trees")
            places[n], splits[n] = self.first + k, tree.nodes[own.node.index]
            n_searched += self.open_children(k, children, opened + 2 * n)
            n += 1
        free(self.open)
        self.open = opened
        self.parent_sums, self.first_sums = self.first_sums, None
        self.first += self.n_open
        self.n_open = 2 * n if n_searched > 0 else 0
        return found[0][:self.n_open // 2], found[1][:self.n_open // 2]

    cdef close(self, const Open *own, int64_t place):
        if not push(&self.closed, &own.node):
            raise MemoryError("nodes of growing trees")
        self.places.append(place)
        self.n_bytes.append(own.n_bytes)

    cdef int64_t open_children(self, int64_t k, const Node *children, Open *opened) noexcept:
        """Return how many of the children of an open node are searched.

        If both are, and draw the features of their parent, the heavier is its heir.
        """
        cdef int64_t side, n = 0
        cdef const Open *parent = self.open + k
        for side in range(2):
            opened[side].node = children[side]
            opened[side].node.tree = parent.node.tree
            self.begin(opened + side, may_split(&self.settings, children + side))
            n += opened[side].n_goal > 0
        if n == 2 and not (draws(self.space.work) and draws_anew(children[0].depth)):
            opened[children[1].mass > children[0].mass].heir_of = k
        return n

    def tops(self, int64_t n):
        """Return the closed nodes whose rows `ask` asked for, each as bytes for `grow_below`."""
        cdef int64_t k
        cdef uint8_t[:, ::1] out
        found = np.empty((n, sizeof(Node)), dtype=np.uint8)
        out = found
        for k in range(n):
            memcpy(&out[k, 0], self.closed.nodes + self.closed.n - n + k, sizeof(Node))
        return list(found)

    def join(self, subtrees):
        """Put what `grow_below` returned for each of these nodes into their trees."""
        cdef const TreeNode[::1] nodes
        cdef const Node *top
        cdef Tree subtree
        self.closed.n -= len(subtrees)
        del self.places[-len(subtrees):], self.n_bytes[-len(subtrees):]
        top = self.closed.nodes + self.closed.n
        for nodes, total in subtrees:
            subtree.nodes, subtree.n, subtree.total = <TreeNode *> &nodes[0], len(nodes), total
            if not join_subtree(self.batch.trees + top.tree, top.index, &subtree):
                raise MemoryError("nodes of growing trees")
            top += 1

    def finish(self, bint merge):
        """Return the nodes of all trees as `TreeGrower.grow` does, and their edges.

        The edges are in units of 1 / scale. With `merge`, neighbouring leaves of one sign are one.
        """
        cdef int64_t t
        edges = np.empty(self.batch.n)
        for t in range(self.batch.n):
            edges[t] = self.batch.trees[t].total
            if not settle(self.batch.trees + t, merge):
                raise MemoryError("nodes of growing trees")
        return self.batch.arrays(), edges


def grow_below(binned, double[::1] weights, const uint8_t[::1] top, **settings):
    """Grow what is below a closed node from its rows, a `BinnedMatrix`, and their rounded weights.

    The node is one of `GrowingTrees.tops`, whose `join` takes the result: nodes, and what the edge
    of the tree gains.
    """
    cdef Settings own = settings
    cdef Workspace space = Workspace(binned.bins, binned, 1, own.max_features)
    cdef TreeBatch batch = TreeBatch(1)
    cdef int32_t[::1] rows = np.arange(len(weights), dtype=np.int32)
    cdef Node node
    cdef Rows lent
    cdef Round grown
    cdef Frontier tops
    cdef int64_t k
    cdef bint done
    space.use(&own)
    lent.rows, lent.weights, lent.weight_of = &rows[0], &weights[0], space.rows[0].weight_of
    for k in range(rows.shape[0] if space.X.indptr != NULL else 0):
        lent.weight_of[k] = weights[k]
    memcpy(&node, &top[0], sizeof(Node))
    node.tree = node.index = 0
    node.start, node.end = 0, rows.shape[0]
    start_tree(batch.trees, &node)
    batch.trees[0].total = 0
    tops.nodes, tops.n = &node, 1
    memset(&grown, 0, sizeof(Round))
    grown.trees, grown.works, grown.rows, grown.n_threads = batch.trees, space.work, &lent, 1
    with nogil:
        done = grow_subtrees(&grown, 0, &tops)
    if not done:
        raise MemoryError("nodes of growing trees")
    nodes = np.empty(batch.trees[0].n, NODE)
    cdef TreeNode[::1] out = nodes
    memcpy(&out[0], batch.trees[0].nodes, batch.trees[0].n * sizeof(TreeNode))
    return nodes, batch.trees[0].total
