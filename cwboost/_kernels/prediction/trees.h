/* Outputs of binary trees on blocks of 64 rows, from the values of features or from codes of these.
 *
 * A leaf is -1 or +1, so the outputs of a tree on 64 rows are 64 bits. They are found without a
 * branch: a node holds the set of rows that reach it, and 64 comparisons give the set that goes
 * right. Row i of a block is bit i. Large trees, of which few nodes are reached, are walked by each
 * row instead, eight rows abreast. A leaf of a graded tree has whole numbers up to 127, one per
 * score.
 *
 * Codes have one byte. A node asks whether x > t, and t is one of the distinct thresholds
 * t_0 < ... < t_(n-1) that a model has for the feature. With the rank r(x) = #{j : t_j < x}, x >
 * t_j if and only if r(x) > j, so the ranks of a row decide all its comparisons without error. A
 * feature has one column of codes per 255 thresholds, whose code is the rank among these, 0 to 255;
 * NaN is 0 in it, so that it goes left. Nodes that send NaN right read another column, in which NaN
 * is 255.
 *
 * Cost per tree and block: 64 comparisons per inner node, and two sets written; or, for a tree that
 * is walked, as many steps per row as the tree has levels, each with three loads and no branch; 64
 * additions per score, of graded trees as many multiplications. Codes cost a search of up to 8
 * steps per value and column, once for all trees. Some trees at a time meet several blocks, so that
 * they are read from memory once for all of these.
 */
#pragma once

#include "common/targets.h"

#define CWB_BLOCK 64
#define CWB_ABREAST 8

/* A node that compares a value. A leaf leads to itself. */
typedef struct {
    double threshold;
    int32_t feature;       /* column of a block of values */
    int32_t left;          /* place of the left child in the tree; the right child follows it */
    int64_t missing_right; /* 1 or 0 */
} cwb_node;

/* A node that compares a code: c sends a row to the place (next + c) >> 8 of the tree. In an inner
 * node, whose threshold has rank j, `next` is 256 times its left child's place and 255 - j, so that
 * codes above j carry over to the right child; `at` is 64 times the column of codes. A leaf leads
 * to itself, by 256 times its place, and its `at` is 1 if its output is positive, else 0. */
typedef struct {
    uint32_t at, next;
} cwb_coded_node;

/* The codes of a feature among up to 255 of its thresholds. */
typedef struct {
    int64_t table;   /* begin of 2^steps - 1 thresholds, ascending, +inf after the last */
    int32_t steps;   /* of the binary search */
    int32_t feature; /* column of a block of values */
    int32_t low;     /* column of a block of codes in which NaN is 0, or -1 */
    int32_t high;    /* column in which NaN is 255, or -1 */
} cwb_coding;

/* A batch of trees, each with its root first. Either `nodes` or `coded` is NULL. */
typedef struct {
    const cwb_node *nodes;
    const cwb_coded_node *coded;
    const int64_t *start; /* begin of the nodes of each tree */
    /* Places of the inner nodes of each tree that is not walked, parents first, then of its leaves
     * with a positive output, of graded trees of all leaves. */
    const int32_t *order;
    const int64_t *order_start;
    const int32_t *n_inner;
    const int32_t *height; /* levels of each tree below its root */
    const int8_t *output;  /* `width` numbers per node */
    int64_t width;         /* 1, or n_outputs rounded up to a multiple of 8 */
    int64_t n_outputs;
    int64_t n_trees;
    int64_t max_reached; /* trees of more inner nodes are walked */
    int is_graded;
    const cwb_coding *codings;
    const double *thresholds;
    int64_t n_codings;
} cwb_trees;

/* A block of rows, of which 64 can be read: values[64 * column + row], or codes[64 * column + row],
 * with one more byte after the last column. */
typedef struct {
    const double *values;
    const uint8_t *codes;
    int64_t n_rows;
    int simple; /* no value is NaN */
} cwb_block;

/* What the rows of a block are: codes; values, none of them NaN; or any values. */
enum { CWB_CODES, CWB_SIMPLE, CWB_ANY };

#define CWB_BODY "prediction/trees_body.h"
#include "common/for_each_target.h"

/* Have part `part` of `n_parts` of the coded nodes of tree t brought into the cache. */
static inline void cwb_fetch_nodes(const cwb_trees *trees, int64_t t, int64_t part,
                                   int64_t n_parts) {
    const int64_t first = trees->start[t], n = trees->start[t + 1] - first;
    const int64_t end = n * (part + 1) / n_parts;
    for (int64_t i = n * part / n_parts; i < end; i += 64 / (int64_t)sizeof *trees->coded)
        CWB_PREFETCH(trees->coded + first + i);
}

/* Outputs -1 and +1 of trees on a block, one row per example. */
static inline void cwb_write_outputs(const uint64_t *sets, int64_t n_trees, int64_t n_rows,
                                     int8_t *outputs, int64_t row_stride) {
    for (int64_t t = 0; t < n_trees; t++)
        for (int64_t row = 0; row < n_rows; row++)
            outputs[row * row_stride + t] = (sets[t] >> row & 1) ? 1 : -1;
}
