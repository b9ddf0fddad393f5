"""Splits of a tree node on the categories of a feature; see categories.h."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from cwboost._kernels.trees.histogram cimport counts_of
from cwboost._kernels.trees.kernels cimport kernels
from cwboost._kernels.trees.types cimport (
    Matrix, Node, Settings, Work, cwb_rules, cwb_scan, cwb_split, rules_of)

cdef extern from "trees/categories.h" nogil:
    void cwb_order_categories(cwb_scan *scan, int counted)
    void cwb_set_of_split(const cwb_scan *scan, cwb_split *split)
    void cwb_write_sides(const uint8_t *codes, const uint64_t *right, const int32_t *rows,
                         int64_t n, uint8_t *sides)


cdef bint best_of_categories(
    const Matrix *X, const Settings *settings, Work *work, double tolerance, int32_t feature,
    cwb_split *split
) noexcept nogil:
    """Find the best split from work.scan; False if the feature is constant in the node."""
    cdef cwb_rules rules = rules_of(settings, tolerance)
    split.feature = feature
    split.categorical = 1
    cwb_order_categories(&work.scan, counts_of(settings, work) != NULL)
    kernels.best_split(&work.scan, &rules, X.n_bins[feature], split)
    if split.n_tied > 0:
        cwb_set_of_split(&work.scan, split)
        split.n_tied = 1
    return work.scan.n + (work.scan.missing_mass > 0) > 1


cdef const uint8_t *category_sides(
    const Matrix *X, Work *work, const Node *node, const cwb_split *split
) noexcept nogil:
    """Return, at the places of a node's rows, 1 for those that go right at a split, else 0."""
    cdef const uint8_t *codes = X.codes + split.feature * X.n_rows
    cwb_write_sides(codes, split.right, work.rows + node.start, node.end - node.start, work.sides)
    cwb_write_sides(codes, split.right, work.idle_rows + node.idle_start,
                    node.idle_end - node.idle_start, work.sides)
    return work.sides
