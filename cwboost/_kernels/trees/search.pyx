"""Search for the best split of a tree node over binned features.

A feature's histogram in a node is made from its codes, eight features at a time; or, if most rows
share one code (the zeros of an image or of a sparse matrix), from the list of the other entries,
and the common bin is the remainder of the node's sums. One pass over a list serves both children
of a node. Of equal gains the feature drawn first wins, then the lowest threshold.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
from cwboost._kernels.trees.draws cimport (
    draw_features, draws, is_worth_saving, release, save_histograms, sums_of, undo_draws)
from cwboost._kernels.trees.histogram cimport (
    by_list, group_histograms, group_of, list_histograms, mark, n_codes, scan_few,
    scan_histogram, scan_sums)
from cwboost._kernels.trees.types cimport (
    CWB_BINS, SET_WORDS, Matrix, Node, Settings, Tree, Work, cwb_rules, cwb_scan, cwb_split)

cdef extern from "trees/split.h" nogil:
    void cwb_best_split "CWB_BEST(best_split)"(
        cwb_scan *scan, const cwb_rules *rules, int32_t n_bins, cwb_split *split)

cdef extern from "common/threshold.h" nogil:
    double cwb_threshold_between(double a, double b)

cwb_set = instruction_set()

cdef double ROUNDING = 1e-12  # gains up to this fraction of a node's mass are none


cdef bint may_interact(const Matrix *X, const Node *node, int32_t feature) noexcept nogil:
    """Return True if a set holds the feature and all features on the path to the node."""
    cdef int k
    cdef bint found = X.sets == NULL
    for k in range(0 if found else SET_WORDS):
        found = found or node.sets[k] & X.sets[SET_WORDS * feature + k] != 0
    return found


cdef bint best_of_scan(
    Work *work, const Node *node, int32_t feature, cwb_split *split
) noexcept nogil:
    """Find the best split from work.scan; False if there can be none on this feature."""
    cdef const Matrix *X = work.X
    cdef cwb_rules rules
    rules.criterion = work.settings.criterion
    rules.least, rules.least_mass = ROUNDING * node.mass, node.least_mass
    split.feature = feature
    if not may_interact(X, node, feature):
        split.gain = -INFINITY
        return False
    cwb_best_split(&work.scan, &rules, X.n_bins[feature], split)
    return work.scan.n + (work.scan.missing_mass > 0) > 1


cdef int64_t search_codes(
    Work *work, const Node *node, const int32_t *features, const int32_t *places,
    int64_t n_places, cwb_split *splits
) noexcept nogil:
    """Write the best split of a node on features[places[i]] to splits[places[i]].

    Returns the number of features that the node may be split on: not constant, in a set with
    those above.
    """
    cdef int64_t i = 0, k, size, n_varying = 0
    cdef int32_t[8] own
    cdef bint few = 2 * (node.end - node.start) < CWB_BINS
    while i < n_places:
        size = 1 if few else group_of(n_places - i)
        for k in range(size):
            own[k] = features[places[i + k]]
        if not few:
            group_histograms(work, node, own, size)
        for k in range(size):
            if few:
                scan_few(work, node, own[k])
            else:
                scan_histogram(work, k, own[k])
            n_varying += best_of_scan(work, node, own[k], splits + places[i + k])
        i += size
    return n_varying


cdef int64_t search_features(
    Work *work, const Node *nodes, int64_t n_nodes, int64_t drawn, int64_t n_batch
) noexcept nogil:
    """Find the best splits of one or two nodes on work.features[drawn:drawn + n_batch].

    Those of node k go to work.splits[k * n_usable + drawn:]. Returns the number of features that
    the last node may be split on.
    """
    cdef const Matrix *X = work.X
    cdef int64_t i, k, n_rows = 0, n_pending = 0, n_varying = 0
    cdef const int32_t *features = work.features + drawn
    cdef cwb_split *splits = work.splits + drawn
    cdef bint lists
    for k in range(n_nodes):
        n_rows += nodes[k].end - nodes[k].start
    lists = n_rows > X.fewest_entries
    if lists:
        for k in range(n_nodes):
            mark(work, nodes + k, <uint8_t> k)
    for i in range(n_batch):
        if not (lists and by_list(X, features[i], n_rows)):
            work.pending[n_pending] = <int32_t> i
            n_pending += 1
            continue
        list_histograms(work, nodes, n_nodes, features[i])
        for k in range(n_nodes):
            scan_histogram(work, k, features[i])
            if best_of_scan(work, nodes + k, features[i], splits + k * X.n_usable + i):
                n_varying += k == n_nodes - 1
    if lists:
        for k in range(n_nodes):
            mark(work, nodes + k, 2)
    for k in range(n_nodes):
        i = search_codes(work, nodes + k, features, work.pending, n_pending,
                         splits + k * X.n_usable)
        if k == n_nodes - 1:
            n_varying += i
    return n_varying


cdef bint split_of_histogram(
    Work *work, const Node *node, int32_t feature, const double *sums, cwb_split *split
) noexcept nogil:
    """Find the best split of a node on a feature with these sums; False if it is constant."""
    scan_sums(work, sums, feature)
    return best_of_scan(work, node, feature, split)


cdef const uint8_t *column_codes(
    Work *work, int32_t feature, int64_t start, int64_t end
) noexcept nogil:
    """Return the codes of a feature, valid at the places of work.rows[start:end]."""
    cdef const Matrix *X = work.X
    cdef int64_t i
    if X.codes != NULL:
        return X.codes + feature * X.n_rows
    for i in range(start, end):
        work.column[work.rows[i]] = X.default_code[feature]
    for i in range(X.indptr[feature], X.indptr[feature + 1]):
        work.column[X.entry_rows[i]] = X.entry_codes[i]
    return work.column


cdef double split_point(
    const Matrix *X, const cwb_split *split, uint8_t *first, uint32_t *width
) noexcept nogil:
    """Return the threshold of a split; find the codes [first, first + width) that go right.

    The threshold is the middle between the nearest values that occur in the node. Bins between
    these two, empty in this node, go to the side of all their values.
    """
    cdef const double *lowest = X.lowest + X.bin_start[split.feature]
    cdef const double *highest = X.highest + X.bin_start[split.feature]
    cdef int32_t n_bins = X.n_bins[split.feature], last_left = split.lower
    cdef double threshold = INFINITY
    if split.upper < n_bins:
        threshold = cwb_threshold_between(highest[split.lower], lowest[split.upper])
        while last_left + 1 < split.upper and highest[last_left + 1] <= threshold:
            last_left += 1
        if lowest[last_left + 1] <= threshold:
            threshold = cwb_threshold_between(highest[last_left], lowest[last_left + 1])
    else:
        last_left = n_bins - 1
    first[0] = <uint8_t> (last_left + 1)
    # If all codes are in use, missing values have no code.
    width[0] = min(n_bins + split.missing_right, CWB_BINS) - (last_left + 1)
    return threshold


cdef int8_t constraint_of(const Matrix *X, const Tree *tree, const cwb_split *split) noexcept nogil:
    """Return +1 if the right side must not be lower, -1 if not higher, 0 if the sides are free."""
    if tree.monotonic == NULL or split.upper == X.n_bins[split.feature]:
        return 0  # values against missing ones, which have no order
    return tree.monotonic[split.feature]


cdef void drop_falling(
    const Matrix *X, const Tree *tree, const Node *node, int64_t n, cwb_split *splits
) noexcept nogil:
    """Drop splits that want a higher output on the side that a constraint wants lower."""
    cdef int64_t d
    cdef int8_t constraint
    for d in range(n):
        if not splits[d].gain > -INFINITY:
            continue
        constraint = constraint_of(X, tree, splits + d)
        if (constraint * splits[d].left_sum > 0
                and constraint * (node.sum - splits[d].left_sum) < 0):
            splits[d].gain = -INFINITY


cdef void choose_split(
    const Matrix *X, const Tree *tree, Node *node, int64_t drawn, cwb_split *splits
) noexcept nogil:
    """Write the best of the features' splits to node.split, the first of those that tie.

    Gains that differ by rounding do: n copies of an example and a weight of n split alike.
    """
    cdef int64_t d, best = 0
    if tree.monotonic != NULL:
        drop_falling(X, tree, node, drawn, splits)
    for d in range(drawn):
        if splits[d].gain > splits[best].gain + ROUNDING * node.mass:
            best = d
    if drawn > 0:
        node.split = splits[best]


cdef bint may_split(const Settings *settings, const Node *node) noexcept nogil:
    """Return True if a node is heavy enough, and has weights of both signs."""
    return (node.depth < settings.max_depth and not node.fixed
            and node.mass > fabs(node.sum) and node.mass >= 2 * node.least_mass)


cdef int64_t search_saved(Work *work, const Node *node) noexcept nogil:
    """Find the best splits of a node on the features of its saved histograms, drawn first."""
    cdef int64_t f, n_varying = 0
    cdef const double *sums = sums_of(work, node)
    for f in range(work.n_saved):
        n_varying += split_of_histogram(work, node, work.features[f], sums, work.splits + f)
        sums += 2 * n_codes(work.X, work.features[f])
    return n_varying


cdef void find_among_drawn(Work *work, const Tree *tree, Node *node) noexcept nogil:
    """Find the best split of a node among features drawn until enough can split it."""
    cdef int64_t drawn = 0, n_varying = 0, n_batch, n_usable = work.X.n_usable
    while n_varying < work.settings.max_features and drawn < n_usable:
        n_batch = min(work.settings.max_features - n_varying, n_usable - drawn)
        draw_features(work, node.seed, drawn, n_batch)
        if drawn == 0 and node.saved >= 0:
            n_varying += search_saved(work, node)
        else:
            n_varying += search_features(work, node, 1, drawn, n_batch)
        drawn += n_batch
    choose_split(work.X, tree, node, drawn, work.splits)
    undo_draws(work, drawn)


cdef void find_splits(
    Work *work, const Tree *tree, Node *parent, Node *nodes, int64_t n_nodes
) noexcept nogil:
    """Write the best split of each of one or two nodes to node.split.

    Its gain is -inf if the node has to stay a leaf. Two nodes are the children of the parent; it is
    NULL if its histograms are of no use.
    """
    cdef int64_t k, n_usable = work.X.n_usable
    cdef bint waiting[2]
    for k in range(n_nodes):
        nodes[k].split.gain, nodes[k].saved = -INFINITY, -1
        waiting[k] = may_split(work.settings, nodes + k)
    save_histograms(work, parent, nodes, n_nodes, waiting)
    if (n_nodes == 2 and waiting[0] and waiting[1] and nodes[0].saved + nodes[1].saved == -2
            and not draws(work)):
        search_features(work, nodes, 2, 0, n_usable)
        for k in range(2):
            choose_split(work.X, tree, nodes + k, n_usable, work.splits + k * n_usable)
        return
    for k in range(n_nodes):
        if waiting[k]:
            find_among_drawn(work, tree, nodes + k)
        if nodes[k].split.gain < 0 or not is_worth_saving(work, nodes + k):
            release(work, nodes + k)
