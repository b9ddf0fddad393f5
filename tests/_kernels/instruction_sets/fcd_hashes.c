/* Prints one hash per kernel and case: the bits of what the kernels of fcd.h leave behind. */
#include "hashes.h"

#include "fcd/fcd.h"
#include "fcd/subspace.h"

#define MOST_CLASSES 8
#define N_COLUMNS 13

/* Examples of the classes: sizes that begin and end within a byte, at its ends, and none at all. */
static const int64_t sizes[][MOST_CLASSES] = {
    {1, 2, 3, 5, 0, 8, 16, 1}, {530, 601, 8, 64, 17, 700, 3, 320}, {512, 0, 8, 504, 0, 8, 0, 0}};

static void run_case(int which) {
    const int64_t K = MOST_CLASSES;
    int64_t starts[MOST_CLASSES + 1] = {0};
    for (int64_t c = 0; c < K; c++) starts[c + 1] = starts[c] + sizes[which][c];
    const int64_t n = starts[K], n_bytes = (n + 7) / 8, stride = 8 * n_bytes + 8;
    const size_t size = (size_t)(K * stride), row = (size_t)stride;
    double *R = room(size * 8), *scores = room(size * 8), *before = room(size * 8);
    double *weight = room(row * 8), *factor = room(row * 8);
    int32_t *label = room(row * 4);
    uint8_t *bits = room((size_t)(N_COLUMNS * n_bytes + 64));
    for (int64_t i = 0; i < stride; i++) label[i] = -1;
    for (int64_t c = 0; c < K; c++)
        for (int64_t i = starts[c]; i < starts[c + 1]; i++) label[i] = (int32_t)c;
    for (int64_t i = 0; i < n; i++) weight[i] = i % 3 ? 1.0 : next_double();
    for (int64_t i = 0; i < n * N_COLUMNS; i++)
        bits[i / n * n_bytes + i % n / 8] |= (uint8_t)((next_bits() >> 20 & 1) << (i % n % 8));
    for (int64_t k = 0; k < K * n; k++) before[k / n * stride + k % n] = 8 * next_double() - 4;
    before[0] = 750.0, before[1] = -750.0;
    const cwb_master m = {R, scores, stride, K, starts, weight, label};
    const uint8_t *columns[N_COLUMNS];
    double moves[N_COLUMNS], d[MOST_CLASSES], up[MOST_CLASSES], down[MOST_CLASSES];
    for (int j = 0; j < N_COLUMNS; j++) {
        columns[j] = bits + j * n_bytes;
        moves[j] = next_double();
    }
    for (int c = 0; c < MOST_CLASSES; c++) {
        d[c] = c == 3 ? 0.0 : next_double() - 0.5;
        up[c] = 1.0 + d[c], down[c] = 1.0 / up[c];
    }
    for (int64_t c = 0; c < K; c++)
        CWB_BEST(add_columns)(scores + c * stride, n_bytes, columns + c, moves + c, N_COLUMNS - c);
    show("scores", scores, size * 8);
    for (int64_t c = 0; c < K; c++) CWB_BEST(pair_weights)(&m, c);
    show("pair weights", R, size * 8);

    cwb_tile_sums sums[64] = {{0}};
    for (int pass = 0; pass < 2; pass++) {
        const cwb_layer layer = {columns + 2, d, up, down};
        for (int64_t b = 0; b < n_bytes; b += CWB_TILE)
            CWB_BEST(tile)(&m, pass ? &layer : NULL, b,
                           b + CWB_TILE < n_bytes ? b + CWB_TILE : n_bytes, &sums[b / CWB_TILE]);
        show(pass ? "tile, layer" : "tile", R, size * 8);
        show("tile, scores", scores, size * 8);
        show("tile, sums", sums, sizeof sums);
    }
    double tables[4 * MOST_CLASSES * MOST_CLASSES] = {0.0};
    for (int64_t c = 0; c < K; c++) CWB_BEST(layer_table)(&m, c, c + 1, columns, tables);
    show("layer table", tables, sizeof tables);

    for (int64_t c = 0; c < K; c++) {
        const cwb_run run = {R + c * stride, factor, n_bytes, starts[c], starts[c + 1]};
        double v[2 * N_COLUMNS] = {0.0};
        CWB_BEST(run_enter)(&m, c, &run);
        for (int j = 0; j + 1 < N_COLUMNS; j++)
            CWB_BEST(run_move)(&run, columns[j], 1.0 + moves[j], 1.0 / (1.0 + moves[j]),
                               columns[j + 1], v + 2 * j, v + 2 * j + 1);
        CWB_BEST(run_leave)(&m, c, &run);
        show("run", v, sizeof v);
    }
    show("runs", R, size * 8);

    for (int64_t count = 1; count <= N_COLUMNS; count += 4) {
        double edges[N_COLUMNS] = {0.0};
        CWB_BEST(edges)(R + count % K * stride, n_bytes, bits, n_bytes, count, edges);
        show("edges", edges, sizeof edges);
    }
    const double *at[4] = {scores, before, R, scores};
    for (int n_directions = 1; n_directions <= 3; n_directions++) {
        const cwb_directions along = {R, at, stride, K, starts, n_directions};
        double out[CWB_DIRECTION_SUMS] = {0.0};
        CWB_BEST(direction_sums)(&along, 2, out);
        show("directions", out, sizeof(double) * (size_t)(n_directions * (n_directions + 3) / 2));
        CWB_BEST(advance)(scores, at, n_directions, moves, K * stride);
    }
    show("advance", scores, size * 8);
    free(R), free(scores), free(before), free(weight), free(factor), free(label), free(bits);
}

static int run(void) {
    for (int which = 0; which < (int)(sizeof sizes / sizeof *sizes); which++) run_case(which);
    return 0;
}
