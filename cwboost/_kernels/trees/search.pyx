"""Search for the best split of a tree node over binned features.

A feature's histogram in a node is made from its codes, eight features at a time; or, if most rows
share one code (the zeros of an image or of a sparse matrix), from the list of the other entries,
and the common bin is the remainder of the node's sums. One pass over a list serves both children
of a node. See criteria.h for the criteria and for ties.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from cwboost._kernels.trees.categories cimport (
    best_of_categories, category_sides, is_categorical)
from cwboost._kernels.trees.histogram cimport (
    ROUNDING, group_histograms, list_histograms, mark, scan_codes, scan_histogram)
from cwboost._kernels.trees.kernels cimport kernels
from cwboost._kernels.trees.types cimport (
    CWB_BINS, CWB_EDGE, Matrix, Node, Settings, Work, cwb_rules, cwb_scan, cwb_split, rules_of)

cdef extern from "trees/split.h" nogil:
    void cwb_describe(const cwb_scan *scan, int side, int32_t i, int32_t n_bins,
                      cwb_split *split)
    double cwb_split_edge(const uint8_t *codes, uint8_t first, uint32_t width,
                          const int32_t *rows, const double *weights, int64_t n,
                          int left_positive)

cdef extern from "common/threshold.h" nogil:
    double cwb_threshold_between(double a, double b)


cdef inline bint by_list(const Matrix *X, int32_t feature, int64_t n_rows) noexcept nogil:
    """Return True if a histogram of n_rows rows is made from the list of a feature's entries."""
    if X.codes == NULL:
        return True
    return X.listed[feature] and X.indptr[feature + 1] - X.indptr[feature] < n_rows


cdef bint best_of_scan(
    const Matrix *X, const Settings *settings, Work *work, double tolerance, int32_t feature,
    cwb_split *split
) noexcept nogil:
    """Find the best split from work.scan; False if the feature is constant in the node."""
    cdef cwb_rules rules = rules_of(settings, tolerance)
    if is_categorical(X, feature):
        return best_of_categories(X, settings, work, tolerance, feature, split)
    split.feature = feature
    split.categorical = 0
    kernels.best_split(&work.scan, &rules, X.n_bins[feature], split)
    return work.scan.n + (work.scan.missing_mass > 0) > 1


cdef int64_t search_codes(
    const Matrix *X, const Settings *settings, Work *work, const Node *node,
    const int32_t *features, const int32_t *places, int64_t n_places, cwb_split *splits
) noexcept nogil:
    """Write the best split of a node on features[places[i]] to splits[places[i]].

    Returns the number of features that are not constant in the node.
    """
    cdef int64_t n = node.end - node.start, i = 0, k, group, n_varying = 0
    cdef double tolerance = ROUNDING * node.mass
    cdef bint grouped = settings.min_samples_leaf <= 1 and 2 * n >= CWB_BINS
    while i < n_places:
        group = 1
        if grouped:
            group = 8 if i + 8 <= n_places else 4 if i + 4 <= n_places else 1
        if group == 1:
            scan_codes(X, settings, work, node, features[places[i]])
            n_varying += best_of_scan(X, settings, work, tolerance, features[places[i]],
                                      splits + places[i])
            i += 1
            continue
        group_histograms(X, work, node, features, places + i, group)
        for k in range(i, i + group):
            scan_histogram(X, settings, work, k - i, features[places[k]])
            n_varying += best_of_scan(X, settings, work, tolerance, features[places[k]],
                                      splits + places[k])
        i += group
    return n_varying


cdef int64_t search_features(
    const Matrix *X, const Settings *settings, Work *work, const Node *nodes, int64_t n_nodes,
    int64_t drawn, int64_t n_batch
) noexcept nogil:
    """Find the best splits of one or two nodes on work.features[drawn:drawn + n_batch].

    Those of node k go to work.splits[k * n_usable + drawn:]. Returns the number of features that
    are not constant in the last node.
    """
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
        list_histograms(X, settings, work, nodes, n_nodes, features[i])
        for k in range(n_nodes):
            scan_histogram(X, settings, work, k, features[i])
            if best_of_scan(X, settings, work, ROUNDING * nodes[k].mass, features[i],
                            splits + k * X.n_usable + i) and k == n_nodes - 1:
                n_varying += 1
    if lists:
        for k in range(n_nodes):
            mark(work, nodes + k, 2)
    for k in range(n_nodes):
        i = search_codes(X, settings, work, nodes + k, features, work.pending, n_pending,
                         splits + k * X.n_usable)
        if k == n_nodes - 1:
            n_varying += i
    return n_varying


cdef int64_t random_below(Work *work, int64_t bound) noexcept nogil:
    """Return a random number below the bound, by the next word of SplitMix64."""
    work.random += <uint64_t> 0x9E3779B97F4A7C15  # 2**64 over the golden ratio
    cdef uint64_t z = work.random
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    z ^= z >> 31
    return <int64_t> (((z >> 32) * <uint64_t> bound) >> 32)


cdef void draw_features(const Matrix *X, Work *work, int64_t drawn, int64_t n) noexcept nogil:
    """Put n more random features, without replacement, after the first `drawn`."""
    cdef int64_t i, j
    cdef int32_t swap
    for i in range(drawn, drawn + n):
        j = i + random_below(work, X.n_usable - i)
        swap = work.features[i]
        work.features[i] = work.features[j]
        work.features[j] = swap


cdef const uint8_t *column_codes(const Matrix *X, Work *work, int32_t feature) noexcept nogil:
    cdef int64_t i
    if X.codes != NULL:
        return X.codes + feature * X.n_rows
    memset(work.column, X.default_code[feature], X.n_rows)
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
    if split.categorical:  # of the sides that `category_sides` gives
        first[0] = width[0] = 1
        return 0.0
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


cdef void settle_ties(
    const Matrix *X, const Settings *settings, Work *work, const Node *node, int64_t drawn,
    const cwb_split *splits, double best, cwb_split *split
) noexcept nogil:
    """Choose, among candidates tied up to rounding, the largest edge summed in example order.

    Of equal ones, the first feature wins, then the lowest threshold.
    """
    cdef double tolerance = ROUNDING * node.mass, edge, largest = -INFINITY
    cdef cwb_rules rules = rules_of(settings, tolerance)
    cdef int64_t d, n_tied = 0
    cdef int32_t i, n, side, feature
    cdef uint8_t first
    cdef uint32_t width
    cdef const uint8_t *codes
    cdef cwb_split candidate
    for d in range(drawn):
        if splits[d].gain >= best - tolerance:
            n_tied += splits[d].n_tied
    if n_tied < 2:
        return
    for d in range(drawn):
        if not splits[d].gain >= best - tolerance:
            continue
        feature = work.features[d]
        if splits[d].categorical:
            codes = category_sides(X, work, node, &splits[d])
            edge = cwb_split_edge(codes, 1, 1, work.rows + node.start, work.weights + node.start,
                                  node.end - node.start, splits[d].left_sum > 0)
            if edge > largest:
                largest = edge
                split[0] = splits[d]
            continue
        candidate.feature = feature
        candidate.categorical = 0
        if X.codes == NULL:
            mark(work, node, 0)
            list_histograms(X, settings, work, node, 1, feature)
            mark(work, node, 2)
            scan_histogram(X, settings, work, 0, feature)
        else:
            scan_codes(X, settings, work, node, feature)
        codes = column_codes(X, work, feature)
        n = kernels.all_gains(&work.scan, &rules)
        for i in range(n):
            for side in range(0 if work.scan.missing_mass > 0 else 1, 2):
                if not work.scan.gain[side][i] >= best - tolerance:
                    continue
                cwb_describe(&work.scan, side, i, X.n_bins[feature], &candidate)
                split_point(X, &candidate, &first, &width)
                edge = cwb_split_edge(codes, first, width, work.rows + node.start,
                                      work.weights + node.start, node.end - node.start,
                                      candidate.left_sum > 0)
                if edge > largest:
                    largest = edge
                    split[0] = candidate


cdef void drop_falling(
    const int8_t *monotonic, const Node *node, int64_t n, cwb_split *splits
) noexcept nogil:
    """Drop splits that want a higher output on the side that a constraint wants lower."""
    cdef int64_t d
    cdef double left, right
    for d in range(n):
        if not splits[d].gain > -INFINITY:
            continue
        left = monotonic[splits[d].feature] * splits[d].left_sum
        right = monotonic[splits[d].feature] * (node.sum - splits[d].left_sum)
        if left > 0 and right < 0:
            splits[d].gain = -INFINITY


cdef void choose_split(
    const Matrix *X, const Settings *settings, Work *work, Node *node, int64_t drawn,
    cwb_split *splits
) noexcept nogil:
    """Write the best of the features' splits to node.split."""
    cdef double best = -INFINITY, tolerance = ROUNDING * node.mass
    cdef int64_t d
    if work.monotonic != NULL:
        drop_falling(work.monotonic, node, drawn, splits)
    for d in range(drawn):
        best = max(best, splits[d].gain)
    if not best > max(tolerance, settings.min_gain * work.root_mass):
        return
    for d in range(drawn):
        if splits[d].gain >= best - tolerance:
            node.split = splits[d]
            break
    if settings.criterion == CWB_EDGE and work.monotonic == NULL:
        settle_ties(X, settings, work, node, drawn, splits, best, &node.split)


cdef inline bint may_split(
    const Settings *settings, const Work *work, const Node *node
) noexcept nogil:
    cdef int64_t n = node.end - node.start
    return (n >= 2 * settings.min_samples_leaf and n >= 2 and node.depth < settings.max_depth
            and not node.fixed and node.mass >= settings.min_weight * work.root_mass
            and node.mass - fabs(node.sum) > ROUNDING * node.mass)


cdef void find_among_drawn(
    const Matrix *X, const Settings *settings, Work *work, Node *node
) noexcept nogil:
    """Find the best split of a node among features drawn until enough of them vary there."""
    cdef int64_t drawn = 0, n_varying = 0, n_batch
    while n_varying < settings.max_features and drawn < X.n_usable:
        n_batch = min(settings.max_features - n_varying, X.n_usable - drawn)
        if settings.max_features < X.n_usable:
            draw_features(X, work, drawn, n_batch)
        n_varying += search_features(X, settings, work, node, 1, drawn, n_batch)
        drawn += n_batch
    choose_split(X, settings, work, node, drawn, work.splits)


cdef void find_splits(
    const Matrix *X, const Settings *settings, Work *work, Node *nodes, int64_t n_nodes
) noexcept nogil:
    """Write the best split of each of one or two nodes to node.split.

    Its gain is -inf if the node has to stay a leaf.
    """
    cdef int64_t k
    cdef bint waiting[2]
    for k in range(n_nodes):
        nodes[k].split.gain = -INFINITY
        waiting[k] = may_split(settings, work, nodes + k)
    if settings.max_features >= X.n_usable and n_nodes == 2 and waiting[0] and waiting[1]:
        search_features(X, settings, work, nodes, 2, 0, X.n_usable)
        choose_split(X, settings, work, nodes, X.n_usable, work.splits)
        choose_split(X, settings, work, nodes + 1, X.n_usable, work.splits + X.n_usable)
        return
    for k in range(n_nodes):
        if waiting[k]:
            find_among_drawn(X, settings, work, nodes + k)
