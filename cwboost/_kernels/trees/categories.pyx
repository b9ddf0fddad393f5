"""Splits of a tree node on the categories of a feature; see categories.h."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from cwboost._kernels.trees.kernels cimport kernels
from cwboost._kernels.trees.types cimport Matrix, Work, cwb_rules, cwb_scan, cwb_split

cdef extern from "trees/categories.h" nogil:
    void cwb_order_categories(cwb_scan *scan, int counted)
    void cwb_set_of_split(const cwb_scan *scan, cwb_split *split)
    void cwb_write_sides(const uint8_t *codes, const uint64_t *right, const int32_t *rows,
                         int64_t n, uint8_t *sides)


cdef void best_of_categories(
    const Matrix *X, const cwb_rules *rules, Work *work, int32_t feature, cwb_split *split
) noexcept nogil:
    """Find the best split from work.scan."""
    cwb_order_categories(&work.scan, work.counts != NULL)
    kernels.best_split(&work.scan, rules, X.n_bins[feature], split)
    if split.gain > -INFINITY:
        cwb_set_of_split(&work.scan, split)


cdef const uint8_t *category_sides(
    const Matrix *X, Work *work, int32_t feature, const uint64_t *right, int64_t start,
    int64_t end
) noexcept nogil:
    """Return, at the places of work.rows[start:end], 1 for those that go right, else 0."""
    cwb_write_sides(X.codes + feature * X.n_rows, right, work.rows + start, end - start,
                    work.sides)
    return work.sides
