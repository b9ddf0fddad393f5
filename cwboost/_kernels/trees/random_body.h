/* Random splits of features from the codes of a node's rows (random_splits.h): gather the codes,
 * find their range, sum the weights below a drawn bin. Nine bytes per row, feature and pass. */
#include "common/sums_up_to.h"

static void CWB_NAME(code_range)(const uint8_t *codes, int64_t n, int32_t *low, int32_t *high) {
    uint8_t smallest = 255, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        smallest = codes[i] < smallest ? codes[i] : smallest;
        largest = codes[i] > largest ? codes[i] : largest;
    }
    *low = smallest;
    *high = largest;
}

/* Sums and count of the rows whose code is below `bound` > 0. */
static void CWB_NAME(sums_below)(const uint8_t *codes, const double *weights, int64_t n,
                                 int32_t bound, cwb_part *part) {
    part->count =
        CWB_NAME(sums_up_to)(codes, weights, n, (uint8_t)(bound - 1), &part->sum, &part->mass);
}

/* Random splits of n features, n <= CWB_DRAWN. Returns how many of them vary among the rows. */
static int CWB_NAME(random_by_codes)(const uint8_t *const *codes, const cwb_node_rows *node,
                                     const cwb_feature *features, int n, const cwb_rules *rules,
                                     const double *u, cwb_split *splits) {
    const int64_t n_rows = node->n;
    const cwb_part all = {node->sum, node->mass, n_rows};
    int32_t low[CWB_DRAWN], high[CWB_DRAWN], lower[CWB_DRAWN];
    int missing[CWB_DRAWN], n_varying = 0;
    for (int k = 0; k < n; k++) {
        uint8_t *gathered = node->gathered + k * n_rows;
        cwb_gather_codes(codes[k], node->rows, n_rows, gathered);
        CWB_NAME(code_range)(gathered, n_rows, &low[k], &high[k]);
        missing[k] = high[k] == features[k].n_bins;
        if (missing[k])
            cwb_code_range_of_values(gathered, n_rows, features[k].n_bins, &low[k], &high[k]);
    }
    cwb_draw_bins(features, n, low, high, u, lower);
    for (int k = 0; k < n; k++) {
        const uint8_t *gathered = node->gathered + k * n_rows;
        const int32_t n_bins = features[k].n_bins;
        cwb_drawn d = {all, all, {0.0, 0.0, 0}, low[k], high[k], lower[k]};
        if (missing[k]) CWB_NAME(sums_below)(gathered, node->weights, n_rows, n_bins, &d.values);
        if (d.low < d.high)
            CWB_NAME(sums_below)(gathered, node->weights, n_rows, d.lower + 1, &d.below);
        cwb_consider_all(rules, &d, n_bins, splits + k);
        n_varying += d.low < d.high || (missing[k] && d.low <= d.high);
    }
    return n_varying;
}
