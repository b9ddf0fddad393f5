/* Path-dependent Shapley values of binary trees, on blocks of eight rows.
 *
 * The game of a row x and a tree: features in a set are known, at a comparison of any other feature
 * both sides count, in proportion to the examples of a background that go there. With o_i = 1 if x
 * satisfies all comparisons of feature i on the path to a leaf and z_i the product of their
 * proportions, the Shapley value of feature i is
 *
 *     sum over leaves of output * integral from 0 to 1 of (o_i - z_i) prod_{j != i} f_j(t) dt,
 *     f_j(t) = t o_j + (1 - t) z_j,  j over the features of the path,
 *
 * since the weights |S|! (d - |S| - 1)! / d! of the sets S are the integrals of
 * t^|S| (1 - t)^(d - |S| - 1). The integrand is a polynomial of degree d - 1 in t: Gauss quadrature
 * with ceil(d / 2) points is exact. At each point t, a pass down the tree forms the products
 * P = prod f_j and, of every node v,
 *
 *     (o - z) / f at v  -  the same at the node before of the same feature, if there is one.
 *
 * A pass up sums G = output * P of the leaves below each node, and the feature of the comparison
 * above node v gains G_v times that. Graded trees have a pass up for each output.
 *
 * Cost per tree, block and point: one pass down, and one up for each output. No division: the
 * ratios are tables.
 */
#pragma once

#include <stdint.h>

/* A node below the root: `parent` and `before` are places in the tree, `before` that of the nearest
 * node above whose own comparison is of the same feature, -1 if there is none. */
typedef struct {
    int32_t parent, before;
    int32_t comparison; /* of the parent: its place among the comparisons of the tree */
    int32_t slot;       /* its feature's place among those of the tree */
    int32_t is_right;
    int32_t is_leaf;
    int32_t n_features; /* number of features on the path to it */
} cwb_shapley_node;

/* For one node and point. Factors of P: o = 1; o = 0, but 1 before; 0 before. And the gains per G,
 * times the weight of the point, for the first two; the third is 0. */
typedef struct {
    double both, lost, neither, gain_both, gain_lost;
} cwb_shapley_step;

typedef struct {
    const cwb_shapley_node *nodes; /* n_nodes, the root first, its entry unused */
    const cwb_shapley_step *steps; /* n_points rows of n_nodes */
    const int8_t *outputs;         /* n_outputs per node */
    int64_t n_nodes, n_points, n_outputs, n_slots;
} cwb_shapley_tree;

#define CWB_BODY "prediction/shapley_body.h"
#include "common/for_each_target.h"
