/* Outputs of binary trees on blocks of 64 rows whose values are codes of one byte.
 *
 * A node asks whether x > t, and t is one of the distinct thresholds t_0 < ... < t_(n-1) that a
 * model has for the feature. With the rank r(x) = #{j : t_j < x}, x > t_j if and only if r(x) > j,
 * so the ranks of a row decide all its comparisons without error. A feature has one column of
 * codes per 255 thresholds, whose code is the rank among these, 0 to 255; NaN is 0 in it, so that
 * it goes left. Nodes that send NaN right read another column, in which NaN is 255.
 *
 * Cost: a search of up to 8 steps per value and column, once for all trees. Then, per tree and
 * block, one comparison of 64 bytes per inner node, and two sets written; or, for a tree that is
 * walked, as many steps per row as the tree has levels, each with three loads and no branch.
 */
#ifndef CWBOOST_CODES_H
#define CWBOOST_CODES_H

#include "common/targets.h"

#define CWB_CODED_BLOCK 64
#define CWB_CODED_ABREAST 8

/* The codes of a feature among up to 255 of its thresholds. */
typedef struct {
    int64_t table;   /* begin of 2^steps - 1 thresholds, ascending, +inf after the last */
    int32_t steps;   /* of the binary search */
    int32_t feature; /* column of a block of values */
    int32_t low;     /* column of a block of codes in which NaN is 0, or -1 */
    int32_t high;    /* column in which NaN is 255, or -1 */
} cwb_coding;

/* A row whose code is c goes to the place (next + c) >> 8 of the tree. In an inner node, whose
 * threshold has rank j, `next` is 256 times its left child's place and 255 - j, so that codes above
 * j carry over to the right child, one place further; `at` is 64 times the column of codes. A leaf
 * leads to itself, by 256 times its place, and its `at` is its output: 1 or 0. */
typedef struct {
    uint32_t at, next;
} cwb_coded_node;

typedef struct {
    const cwb_coding *codings;
    int64_t n_codings;
    const double *thresholds;
    const cwb_coded_node *nodes;
    const int64_t *start; /* begin of the nodes of each tree */
    /* Places of the inner nodes of each tree, parents first, then of the leaves with output 1, of
     * graded trees of all leaves. */
    const int32_t *order;
    const int64_t *order_start;
    const int32_t *n_inner;
    const int32_t *height; /* levels of each tree that is walked; -1 for other trees */
    const int8_t *output;  /* of every node */
} cwb_coded_trees;

typedef struct {
    /* Codes of a block of values: codes[64 * column + row]. */
    void (*code)(const cwb_coded_trees *trees, const double *x, uint8_t *codes);
    /* out[t - first] = the rows on which tree t is +1, for t in [first, last). `reach` is scratch
     * for one set per node of the largest tree. Reads one byte beyond the columns of `codes`. */
    void (*sets)(const cwb_coded_trees *trees, int64_t first, int64_t last, const uint8_t *codes,
                 int64_t n_rows, uint64_t *reach, uint64_t *out);
    /* out[row] = the output of graded tree t. Reads and writes whole groups of eight rows. */
    void (*graded)(const cwb_coded_trees *trees, int64_t t, const uint8_t *codes, int64_t n_rows,
                   uint64_t *reach, double *out);
    int64_t max_reached; /* trees of more inner nodes are better walked */
} cwb_code_kernels;

/* Have part `part` of `n_parts` of the nodes of tree t brought into the cache. */
static inline void cwb_fetch_nodes(const cwb_coded_trees *trees, int64_t t, int64_t part,
                                   int64_t n_parts) {
    const int64_t first = trees->start[t], n = trees->start[t + 1] - first;
    const int64_t end = n * (part + 1) / n_parts;
    for (int64_t i = n * part / n_parts; i < end; i += 64 / (int64_t)sizeof *trees->nodes)
        CWB_PREFETCH(trees->nodes + first + i);
}

#define CWB_BODY "prediction/codes_body.h"
#include "common/for_each_target.h"

static const cwb_code_kernels *const cwb_code_tables[] = CWB_TABLES(cwb_code_kernels);

#endif
