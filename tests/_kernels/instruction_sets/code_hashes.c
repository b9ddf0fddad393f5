/* Prints one hash per kernel and tree on codes. */
#include "hashes.h"

#include "prediction/trees.h"

#define N_TREES 60
#define N_INNER 15 /* of a complete tree of four levels, node after node */
#define N_NODES (2 * N_INNER + 1)
#define N_CODINGS 10 /* with two columns of codes each */
#define N_STEPS 8
#define TABLE ((1 << N_STEPS) - 1)

static uint32_t next_number(void) { return (uint32_t)(next_bits() >> 32); }

static int run(void) {
    static cwb_coding codings[N_CODINGS];
    static double thresholds[N_CODINGS * TABLE], x[N_CODINGS * CWB_BLOCK];
    static uint8_t codes[2 * N_CODINGS * CWB_BLOCK + 1];
    static cwb_coded_node nodes[N_TREES * N_NODES];
    static int64_t start[N_TREES + 1], order_start[N_TREES + 1];
    static int32_t order[N_TREES * N_NODES], n_inner[N_TREES], height[N_TREES];
    for (int c = 0; c < N_CODINGS; c++) {
        codings[c] = (cwb_coding){(int64_t)c * TABLE, N_STEPS, c, 2 * c, 2 * c + 1};
        for (int j = 0; j < TABLE; j++) thresholds[c * TABLE + j] = j < 200 + c ? j : INFINITY;
        for (int i = 0; i < CWB_BLOCK; i++)
            x[c * CWB_BLOCK + i] = i % 9 ? (double)(next_number() % 520) / 2 - 2 : NAN;
    }
    int64_t n_ordered = 0;
    for (int t = 0; t < N_TREES; t++) {
        start[t] = (int64_t)t * N_NODES;
        order_start[t] = n_ordered;
        n_inner[t] = N_INNER;
        height[t] = 4;
        for (uint32_t i = 0; i < N_NODES; i++) {
            const int is_inner = i < N_INNER;
            cwb_coded_node *node = nodes + start[t] + i;
            node->at = is_inner ? next_number() % (2 * N_CODINGS) * CWB_BLOCK : next_number() % 2;
            /* Ranks are 0 to 254, so that the smallest code that goes right is 1 to 255. */
            node->next = 256 * (is_inner ? 2 * i + 1 : i);
            if (is_inner) node->next += 255 - next_number() % 255;
            if (is_inner || node->at) order[n_ordered++] = (int32_t)i;
        }
    }
    start[N_TREES] = (int64_t)N_TREES * N_NODES;
    order_start[N_TREES] = n_ordered;
    cwb_trees trees = {.coded = nodes,
                       .start = start,
                       .order = order,
                       .order_start = order_start,
                       .n_inner = n_inner,
                       .height = height,
                       .n_trees = N_TREES,
                       .codings = codings,
                       .thresholds = thresholds,
                       .n_codings = N_CODINGS};
    const cwb_block block = {.codes = codes, .n_rows = CWB_BLOCK};
    CWB_BEST(code)(&trees, x, codes);
    show("codes", codes, sizeof codes);
    uint64_t reach[N_NODES], found[2][N_TREES];
    for (int way = 0; way < 2; way++) { /* by sets of rows, and by walks */
        trees.max_reached = way ? 0 : N_INNER;
        CWB_BEST(sets)(&trees, 0, N_TREES, &block, reach, found[way]);
        for (int t = 0; t < N_TREES; t++) show("tree", found[way] + t, sizeof **found);
    }
    return memcmp(found[0], found[1], sizeof found[0]) ? 4 : 0;
}
