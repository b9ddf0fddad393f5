/* Prints one hash per kernel and case of a stump search. */
#include "hashes.h"

#include "stumps/kernels.h"

#define N_TARGETS 13 /* in rows of 16 lanes; the first of them in rows of 8 */
#define N_SAMPLES 1501

/* A column of values with `n_values` different numbers; every `missing`-th is missing. */
static cwb_column column_of(uint64_t n_values, int missing, int wide) {
    static cwb_keyed keyed[N_SAMPLES], spare[N_SAMPLES];
    static uint32_t absent[N_SAMPLES];
    cwb_unsorted unsorted = {keyed, spare, absent, 0, 0, 0, 8};
    cwb_column c;
    for (uint32_t i = 0; i < N_SAMPLES; i++) {
        if (missing && i % (uint32_t)missing == 0) {
            absent[unsorted.n_missing++] = i;
        } else {
            const cwb_keyed one = {cwb_key_f64((double)(next_bits() % n_values)), i};
            keyed[unsorted.n_present++] = one;
        }
    }
    if (cwb_sort_column(&c, &unsorted, wide)) exit(2);
    return c;
}

static void search(const cwb_weights *w, const double *totals, int lanes, const cwb_column *c) {
    const size_t row = (size_t)lanes, n_chunks = (size_t)cwb_chunks(c) + 1;
    int32_t *rows = room(N_SAMPLES * row * 4), *half = room(row * 4), *best = room(row * 4);
    int32_t *trace = room(2 * n_chunks * row * 4);
    for (int64_t t = 0; t < w->n_targets; t++)
        half[t] = (int32_t)-rint(totals[t] * (0.5 * CWB_COARSE));
    CWB_BEST(fill_rows)(w, lanes, 0, N_SAMPLES, rows);
    show("rows", rows, N_SAMPLES * row * 4);
    const cwb_rows of_lanes = {rows, half, lanes};
    CWB_BEST(scan)(&of_lanes, c, best, trace);
    show("scan", best, row * 4);
    show("trace", trace, 2 * n_chunks * row * 4);
    for (int64_t t = 0; t < w->n_targets; t++) {
        const cwb_target target = {w->r + t * w->stride, w->scales[t], totals[t]};
        const double bound = cwb_scan_bound(c), constant = 0.5 * CWB_COARSE * fabs(totals[t]);
        const double sure = fmax(constant, best[t] - bound);
        const cwb_traced traced = {
            trace, lanes, t, sure - bound, 4 / CWB_COARSE * bound, constant + 1 < sure};
        const cwb_stump stump = CWB_BEST(settle)(&target, c, &traced);
        show("settle", &stump, sizeof stump);
    }
    free(rows), free(half), free(best), free(trace);
}

static int run(void) {
    double *r = room(N_TARGETS * N_SAMPLES * 8), scales[N_TARGETS], totals[N_TARGETS];
    uint8_t bits[(N_SAMPLES + 7) / 8];
    for (size_t i = 0; i < sizeof bits; i++) bits[i] = (uint8_t)(next_bits() >> 20);
    for (int k = 0; k < N_TARGETS * N_SAMPLES; k++) r[k] = 2.0 * next_double() - 1.0;
    for (int t = 0; t < N_TARGETS; t++) {
        const double mass = CWB_BEST(mass)(r + t * N_SAMPLES, N_SAMPLES);
        scales[t] = cwb_scale_of(mass);
        totals[t] = CWB_BEST(total)(r + t * N_SAMPLES, scales[t], N_SAMPLES);
        const double edge = CWB_BEST(edge)(r + t * N_SAMPLES, bits, N_SAMPLES);
        const double found[] = {mass, scales[t], totals[t], edge};
        show("sums", found, sizeof found);
    }
    /* Values: all different, with some ends, with few; present or with missing ones. */
    const uint64_t n_values[] = {1u << 30, N_SAMPLES, 100, 4};
    for (int which = 0; which < 16; which++) {
        cwb_column c = column_of(n_values[which % 4], which % 8 < 4 ? 0 : 9, which >= 8);
        for (int lanes = 8; lanes <= 16; lanes += 8) {
            const cwb_weights w = {r, N_SAMPLES, scales, lanes < N_TARGETS ? lanes : N_TARGETS};
            search(&w, totals, lanes, &c);
        }
        free(c.index);
    }
    free(r);
    return 0;
}
