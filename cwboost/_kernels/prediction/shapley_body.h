/* Shapley values of a tree on eight rows, see shapley.h. */
#include "common/lanes.h"

static void CWB_NAME(shapley_tree)(const cwb_shapley_tree *tree, const uint8_t *right,
                                   uint8_t *known, double *products, double *values) {
    const int64_t n = tree->n_nodes;
    double *sums = products + 8 * n;
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
            cwb_store(sums + 8 * v,
                      node->sign ? cwb_mul(product, cwb_splat((double)node->sign)) : cwb_zero());
        }
        cwb_store(sums, cwb_zero());
        for (int64_t v = n - 1; v > 0; v--) {
            const cwb_shapley_node *node = tree->nodes + v;
            const cwb_doubles sum = cwb_load(sums + 8 * v);
            cwb_doubles lost = cwb_splat(steps[v].gain_lost);
            if (node->before >= 0) lost = cwb_keep(cwb_mask_of(known[node->before]), lost);
            const cwb_doubles gain =
                cwb_pick(cwb_mask_of(known[v]), cwb_splat(steps[v].gain_both), lost);
            double *value = values + 8 * node->slot, *above = sums + 8 * node->parent;
            cwb_store(value, cwb_add(cwb_load(value), cwb_mul(gain, sum)));
            cwb_store(above, cwb_add(cwb_load(above), sum));
        }
    }
}

static void CWB_NAME(shapley_scatter)(const double *values, const int32_t *places, int64_t n,
                                      double factor, double *out) {
    const cwb_doubles by = cwb_splat(factor);
    for (int64_t i = 0; i < n; i++) {
        double *to = out + 8 * (int64_t)places[i];
        cwb_store(to, cwb_add(cwb_load(to), cwb_mul(by, cwb_load(values + 8 * i))));
    }
}

static const cwb_shapley_kernels CWB_NAME(cwb_shapley_kernels) = {
    .add_tree = CWB_NAME(shapley_tree),
    .scatter = CWB_NAME(shapley_scatter),
};
