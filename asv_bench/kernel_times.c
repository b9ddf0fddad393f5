/* Times of the FCD kernels of one instruction set: kernel_times SET N_SAMPLES N_CLASSES. Prints a
 * name and the microseconds of the fastest call per line: other programs only add to it. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/cpu.h"
#include "fcd/fcd.h"

#define REPEATS 201
#define N_COLUMNS 200

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* What the kernels work on. */
typedef struct {
    const cwb_fcd_kernels *kernels;
    cwb_master master;
    cwb_layer layer;
    cwb_run run;
    int64_t n_bytes;
    const uint8_t *bits;
    const uint8_t **columns;
    double *moves, *tables, *edges;
    cwb_tile_sums *sums;
} bench;

static void tile(bench *b) {
    for (int64_t first = 0; first < b->n_bytes; first += CWB_TILE)
        b->kernels->tile(&b->master, &b->layer, first,
                         first + CWB_TILE < b->n_bytes ? first + CWB_TILE : b->n_bytes,
                         &b->sums[first / CWB_TILE]);
}
static void layer_table(bench *b) {
    const int64_t K = b->master.n_classes, n = b->master.starts[K] / 512;
    const int64_t groups = n < 1 ? 1 : n < K ? n : K;
    for (int64_t g = 0; g < groups; g++)
        b->kernels->layer_table(&b->master, g * K / groups, (g + 1) * K / groups, b->columns,
                                b->tables);
}
static void coordinate_update(bench *b) {
    double v_plus, v_minus;
    b->kernels->run_move(&b->run, b->columns[0], 1.0, 1.0, b->columns[1], &v_plus, &v_minus);
}
static void run_entry(bench *b) { b->kernels->run_enter(&b->master, 1, &b->run); }
static void scores_of_columns(bench *b) {
    b->kernels->add_columns(b->master.scores, b->n_bytes, b->columns, b->moves, N_COLUMNS);
}
static void edges(bench *b) {
    b->kernels->edges(b->master.R, b->n_bytes, b->bits, b->n_bytes, N_COLUMNS, b->edges);
}
static void pair_weights(bench *b) {
    for (int64_t c = 0; c < b->master.n_classes; c++) b->kernels->pair_weights(&b->master, c);
}

static void show(const char *name, void (*kernel)(bench *), bench *b) {
    double least = INFINITY;
    kernel(b);
    for (int k = 0; k < REPEATS; k++) {
        const double start = now();
        kernel(b);
        const double took = now() - start;
        if (took < least) least = took;
    }
    printf("%s %.3f\n", name, least);
}

static void *lines(size_t n_bytes) {
    void *p = aligned_alloc(64, (n_bytes + 63) / 64 * 64);
    if (!p) exit(2);
    return memset(p, 0, n_bytes);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    const int set = atoi(argv[1]);
    const int64_t n = atoll(argv[2]), K = atoll(argv[3]), n_bytes = (n + 7) / 8;
    const int64_t stride = 8 * n_bytes + 8;
    if (!cwb_runs(set)) return 3;
    double *R = lines((size_t)(K * stride) * 8), *scores = lines((size_t)(K * stride) * 8);
    double *weight = lines((size_t)stride * 8), *ones = lines((size_t)(4 * K) * 8);
    int32_t *label = lines((size_t)stride * 4);
    int64_t *starts = lines((size_t)(K + 1) * 8);
    uint8_t *bits = lines((size_t)(N_COLUMNS * n_bytes));
    const uint8_t **columns = lines((N_COLUMNS + (size_t)K) * sizeof *columns);
    for (int64_t c = 0; c <= K; c++) starts[c] = c * n / K;
    for (int64_t i = 0; i < stride; i++) label[i] = -1;
    for (int64_t c = 0; c < K; c++)
        for (int64_t i = starts[c]; i < starts[c + 1]; i++) label[i] = (int32_t)c;
    for (int64_t i = 0; i < n; i++) weight[i] = 1.0;
    for (int64_t i = 0; i < N_COLUMNS * n_bytes; i++) bits[i] = (uint8_t)rand();
    for (int64_t j = 0; j < N_COLUMNS + K; j++) columns[j] = bits + j % N_COLUMNS * n_bytes;
    for (int64_t c = 0; c < K; c++) ones[c] = 1.0;
    bench b = {cwb_fcd_tables[set],
               {R, scores, stride, K, starts, weight, label},
               {columns, ones + K, ones, ones},
               {R + stride, lines((size_t)stride * 8), n_bytes, starts[1], starts[2]},
               n_bytes,
               bits,
               columns,
               lines(N_COLUMNS * 8),
               lines((size_t)(4 * K * K) * 8),
               lines(N_COLUMNS * 8),
               lines((size_t)(n_bytes / CWB_TILE + 1) * sizeof(cwb_tile_sums))};
    show("pair_weights", pair_weights, &b);
    show("layer_table", layer_table, &b);
    show("tile", tile, &b);
    show("coordinate_update", coordinate_update, &b);
    show("run_entry", run_entry, &b);
    show("scores_of_200_columns", scores_of_columns, &b);
    show("edges_of_200_columns", edges, &b);
    return 0;
}
