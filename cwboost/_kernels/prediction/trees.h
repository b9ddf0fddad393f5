/* Outputs of binary trees on blocks of 64 rows.
 *
 * A leaf is -1 or +1, so the outputs of a tree on 64 rows are 64 bits. They are found without a
 * branch: a node holds the set of rows that reach it, 64 comparisons give the set that goes right,
 * and a positive leaf adds its set to the tree's. Row i of a block is bit i. Large trees, of which
 * few nodes are reached, are walked by each row instead, eight rows abreast.
 *
 * Cost per tree and block: 64 comparisons per inner node, or per level of a tree that is walked;
 * 64 additions per score. Some trees at a time meet several blocks, so that they are read from
 * memory once for all of these.
 */
#ifndef CWBOOST_TREE_PREDICT_H
#define CWBOOST_TREE_PREDICT_H

#include <stdint.h>

#define CWB_BLOCK 64
#define CWB_ABREAST 8

/* Places of leaves and of the root, if the root is not a leaf. */
enum { CWB_NEGATIVE = 0, CWB_POSITIVE = 1, CWB_FIRST = 2 };

enum { CWB_MISSING_RIGHT = 1, CWB_CATEGORIES = 2 };

/* Inner node. Its children are places in the same tree: CWB_NEGATIVE, CWB_POSITIVE, or
 * CWB_FIRST + index of an inner node. A node with CWB_CATEGORIES sends the codes right
 * whose bits are set in bytes set_start[set] to set_start[set + 1] of set_bits. */
typedef struct {
    union {
        double threshold;
        int64_t set;
    };
    int32_t feature;  /* column of the block */
    int32_t child[2]; /* left, right */
    int32_t flags;
} cwb_inner;

/* A batch of trees. The first two nodes of each are its leaves, whose children are themselves. */
typedef struct {
    const cwb_inner *nodes;
    const int64_t *start;    /* begin of the nodes of each tree */
    const uint8_t *constant; /* output of a tree without inner nodes */
    const uint8_t *walk;     /* 1 for trees that are walked by each row */
    const int64_t *set_start;
    const uint8_t *set_bits;
    int64_t n_trees;
    int64_t n_sets; /* 0: no node has CWB_CATEGORIES */
    /* Graded trees only: their nodes begin with the root, and leaves lead to themselves. */
    const int32_t *height; /* levels of each tree below its root */
    const int8_t *output;  /* of every node */
} cwb_trees;

typedef struct {
    /* Outputs of trees [first, last) on the block x: out[tree - first] is a set of rows. `simple`:
     * no tree has categories and no value is NaN. `reach` is scratch for one set per inner node of
     * the largest tree, and two more. */
    void (*block_sets)(const cwb_trees *trees, int64_t first, int64_t last, const double *x,
                       int64_t n_rows, int simple, uint64_t *reach, uint64_t *out);
    /* out[row] = the output of graded tree t. */
    void (*graded)(const cwb_trees *trees, int64_t t, const double *x, int64_t n_rows, int simple,
                   double *out);
    /* scores[0:64] += value * outputs[0:64]. */
    void (*add_graded)(const double *outputs, double value, double *scores);
    /* scores[0:64] += value on the rows of a set, -value on the others. */
    void (*add_set)(uint64_t set, double value, double *scores);
} cwb_evaluation_kernels;

#define CWB_BODY "prediction/trees_body.h"
#include "common/for_each_target.h"

static const cwb_evaluation_kernels *const cwb_evaluation_tables[] =
    CWB_TABLES(cwb_evaluation_kernels);

/* Outputs -1 and +1 of trees on a block, one row per example. */
static inline void cwb_write_outputs(const uint64_t *sets, int64_t n_trees, int64_t n_rows,
                                     int8_t *outputs, int64_t row_stride) {
    for (int64_t t = 0; t < n_trees; t++)
        for (int64_t row = 0; row < n_rows; row++)
            outputs[row * row_stride + t] = (sets[t] >> row & 1) ? 1 : -1;
}

#endif
