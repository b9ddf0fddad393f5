/* One pass over n weights: the sums of those of set bits, of all, and of their sizes. The edge is
 * twice the first less the second. Costs n. (A table of the sums of four examples, as in
 * fcd/edges_body.h, pays only for several columns of one row of weights.) */
#include "common/lanes.h"

static void CWB_NAME(packed_edge)(const double *r, const uint8_t *bits, int64_t n,
                                  cwb_packed_edge *found) {
    cwb_doubles set = cwb_zero(), all = cwb_zero(), sizes = cwb_zero();
    const int64_t n_bytes = n >> 3;
    for (int64_t b = 0; b < n_bytes; b++) {
        const cwb_doubles x = cwb_load(r + 8 * b);
        set = cwb_add_where(set, cwb_mask_at(bits + b), x);
        all = cwb_add(all, x);
        sizes = cwb_add(sizes, cwb_abs(x));
    }
    double sum = cwb_sum(set), total = cwb_sum(all), magnitude = cwb_sum(sizes);
    for (int64_t i = 8 * n_bytes; i < n; i++) {
        sum += (bits[i >> 3] >> (i & 7)) & 1 ? r[i] : 0.0;
        total += r[i];
        magnitude += fabs(r[i]);
    }
    found->edge = 2.0 * sum - total;
    found->total = total;
    found->magnitude = magnitude;
}
