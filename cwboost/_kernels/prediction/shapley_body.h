/* Shapley values of a tree on eight rows, see shapley.h. */
#include "common/lanes.h"

/* Add gains times the sums of output s over the leaves below each node. */
CWB_INLINE void CWB_NAME(shapley_pass_up)(const cwb_shapley_tree *tree, int64_t s,
                                          const double *products, const double *gains, double *sums,
                                          double *values) {
    for (int64_t v = tree->n_nodes - 1; v > 0; v--) {
        const cwb_shapley_node *node = tree->nodes + v;
        double *value = values + 8 * node->slot, *above = sums + 8 * node->parent;
        cwb_doubles sum;
        if (node->is_leaf) {
            const double output = (double)tree->outputs[v * tree->n_outputs + s];
            sum = cwb_mul(cwb_load(products + 8 * v), cwb_splat(output));
        } else {
            sum = cwb_load(sums + 8 * v);
        }
        cwb_store(value, cwb_add(cwb_load(value), cwb_mul(cwb_load(gains + 8 * v), sum)));
        /* The right child comes first. */
        cwb_store(above, node->is_right ? sum : cwb_add(cwb_load(above), sum));
    }
}

/* Add the values of a tree to `values`, eight numbers per output and slot. `right` has one byte per
 * comparison: bit k is set if row k goes right. Scratch: `known` n_nodes bytes, `products` 24
 * numbers per node. */
static void CWB_NAME(shapley_tree)(const cwb_shapley_tree *tree, const uint8_t *right,
                                   uint8_t *known, double *products, double *values) {
    const int64_t n = tree->n_nodes;
    double *gains = products + 8 * n, *sums = products + 16 * n;
    known[0] = 0xFF;
    for (int64_t v = 1; v < n; v++) {
        const cwb_shapley_node *node = tree->nodes + v;
        const uint8_t side = right[node->comparison];
        known[v] = (node->is_right ? side : (uint8_t)~side) &
                   (node->before < 0 ? 0xFF : known[node->before]);
    }
    for (int64_t q = 0; q < tree->n_points; q++) {
        const cwb_shapley_step *steps = tree->steps + q * n;
        cwb_store(products, cwb_splat(1.0));
        for (int64_t v = 1; v < n; v++) {
            const cwb_shapley_node *node = tree->nodes + v;
            cwb_doubles unknown = cwb_splat(steps[v].lost);
            if (node->before >= 0)
                unknown = cwb_pick(cwb_mask_of(known[node->before]), unknown,
                                   cwb_splat(steps[v].neither));
            const cwb_doubles factor =
                cwb_pick(cwb_mask_of(known[v]), cwb_splat(steps[v].both), unknown);
            const cwb_doubles product = cwb_mul(cwb_load(products + 8 * node->parent), factor);
            cwb_store(products + 8 * v, product);
            cwb_doubles lost = cwb_splat(steps[v].gain_lost);
            if (node->before >= 0) lost = cwb_keep(cwb_mask_of(known[node->before]), lost);
            cwb_store(gains + 8 * v,
                      cwb_pick(cwb_mask_of(known[v]), cwb_splat(steps[v].gain_both), lost));
        }
        for (int64_t s = 0; s < tree->n_outputs; s++)
            CWB_NAME(shapley_pass_up)(tree, s, products, gains, sums,
                                      values + 8 * tree->n_slots * s);
    }
}

/* out[8 * place + k] += factor * values[8 * i + k] for place = places[i]. */
static void CWB_NAME(shapley_scatter)(const double *values, const int32_t *places, int64_t n,
                                      double factor, double *out) {
    const cwb_doubles by = cwb_splat(factor);
    for (int64_t i = 0; i < n; i++) {
        double *to = out + 8 * (int64_t)places[i];
        cwb_store(to, cwb_add(cwb_load(to), cwb_mul(by, cwb_load(values + 8 * i))));
    }
}
