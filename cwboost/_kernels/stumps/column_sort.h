/* Sort the examples of one feature and keep what a stump search has to visit.
 *
 * The values of a feature, ascending, form blocks of equal values. A search enters from both ends
 * and walks towards the largest block, which it never visits (the zeros of an image, say):
 *
 *     forward part   examples below the largest block, ascending
 *     backward part  examples above it, descending
 *
 * `last` marks the last example of a block in walking order: thresholds lie only behind those.
 * Examples whose value is missing (NaN) are kept apart. Equal values keep the order of examples.
 */
#ifndef CWBOOST_COLUMN_SORT_H
#define CWBOOST_COLUMN_SORT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A scan may read so many entries of an index beyond its end, to fetch rows in advance. */
#define CWB_READ_AHEAD 24

typedef struct {
    void *index;         /* uint16_t or uint32_t: forward, backward, missing examples */
    uint8_t *last;       /* 0xFF or 0, forward and backward part; same allocation as index */
    int64_t n_forward;
    int64_t n_backward;
    int64_t n_missing;
    double skipped;      /* value of the block that is not visited */
} cwb_column;

typedef struct {
    uint64_t key;
    uint32_t row;
} cwb_keyed;

/* Ascending bit patterns: the order of the numbers, with one zero. */
static inline uint64_t cwb_key_f64(double x)
{
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | ((uint64_t)1 << 63);
}

static inline double cwb_value_f64(uint64_t key)
{
    double x;
    const uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t cwb_key_f32(float x)
{
    uint32_t bits;
    x += 0.0f;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | ((uint32_t)1 << 31);
}

static inline double cwb_value_f32(uint64_t key)
{
    float x;
    const uint32_t k = (uint32_t)key, bits = k >> 31 ? k & ~((uint32_t)1 << 31) : ~k;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t cwb_key_u8(uint8_t x) { return x; }
static inline double cwb_value_u8(uint64_t key) { return (double)key; }

/* Stable radix sort by the low `bytes` of the keys; bytes that all keys share cost one count.
 * Returns which of the two buffers holds the result. */
static cwb_keyed *cwb_radix_sort(cwb_keyed *from, cwb_keyed *to, int64_t n, int bytes)
{
    uint32_t counts[8][256];
    memset(counts, 0, sizeof counts[0] * bytes);
    for (int64_t i = 0; i < n; i++)
        for (int b = 0; b < bytes; b++) counts[b][(from[i].key >> (8 * b)) & 255]++;
    for (int b = 0; b < bytes && n; b++) {
        uint32_t *count = counts[b], start = 0;
        if (count[(from[0].key >> (8 * b)) & 255] == n) continue;
        for (int v = 0; v < 256; v++) {
            const uint32_t here = count[v];
            count[v] = start;
            start += here;
        }
        for (int64_t i = 0; i < n; i++) to[count[(from[i].key >> (8 * b)) & 255]++] = from[i];
        cwb_keyed *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static inline void cwb_put(void *index, int wide, int64_t at, uint32_t row)
{
    if (wide) ((uint32_t *)index)[at] = row;
    else ((uint16_t *)index)[at] = (uint16_t)row;
}

/* Lay out a column from its sorted values; the block [begin, end) is skipped. Returns 0, or -1
 * when memory ran out. */
static int cwb_lay_out(cwb_column *c, const cwb_keyed *sorted, int64_t n, int64_t begin,
                       int64_t end, const uint32_t *missing, int64_t n_missing, int wide)
{
    const int64_t visited = begin + (n - end), width = wide ? 4 : 2;
    const int64_t index_bytes = (visited + n_missing) * width;
    c->n_forward = begin;
    c->n_backward = n - end;
    c->n_missing = n_missing;
    c->index = NULL;
    c->last = NULL;
    if (visited + n_missing == 0) return 0;
    c->index = malloc((size_t)(index_bytes + visited + CWB_READ_AHEAD * width));
    if (!c->index) return -1;
    memset((uint8_t *)c->index + index_bytes + visited, 0, (size_t)(CWB_READ_AHEAD * width));
    c->last = (uint8_t *)c->index + index_bytes;
    int64_t at = 0;
    for (int64_t i = 0; i < begin; i++, at++) {
        cwb_put(c->index, wide, at, sorted[i].row);
        c->last[at] = i + 1 == begin || sorted[i].key != sorted[i + 1].key ? 0xFF : 0;
    }
    for (int64_t i = n - 1; i >= end; i--, at++) {
        cwb_put(c->index, wide, at, sorted[i].row);
        c->last[at] = i == end || sorted[i].key != sorted[i - 1].key ? 0xFF : 0;
    }
    for (int64_t i = 0; i < n_missing; i++, at++) cwb_put(c->index, wide, at, missing[i]);
    return 0;
}

static void cwb_largest_block(const cwb_keyed *sorted, int64_t n, int64_t *begin, int64_t *end)
{
    *begin = *end = 0;
    for (int64_t i = 0; i < n;) {
        int64_t j = i + 1;
        while (j < n && sorted[j].key == sorted[i].key) j++;
        if (j - i > *end - *begin) {
            *begin = i;
            *end = j;
        }
        i = j;
    }
}

/* Sort `n` stored values of a column; rows == NULL means rows 0..n-1. `n_zeros` further examples
 * are zero and not stored: they are the skipped block then, with the zeros that are stored.
 * Scratch: two buffers of n elements and n rows. */
#define CWB_SORT_COLUMN(NAME, TYPE, KEY, VALUE, BYTES, ROW)                                       \
    static inline int NAME(cwb_column *c, const TYPE *x, const ROW *rows, int64_t n,              \
                           int64_t n_zeros, cwb_keyed *a, cwb_keyed *b, uint32_t *missing, int wide)      \
    {                                                                                             \
        int64_t kept = 0, n_missing = 0, begin, end;                                              \
        for (int64_t i = 0; i < n; i++) {                                                         \
            const uint32_t row = rows ? (uint32_t)rows[i] : (uint32_t)i;                          \
            if (x[i] != x[i]) {                                                                   \
                missing[n_missing++] = row;                                                       \
            } else {                                                                              \
                a[kept].key = KEY(x[i]);                                                          \
                a[kept++].row = row;                                                              \
            }                                                                                     \
        }                                                                                         \
        const cwb_keyed *sorted = cwb_radix_sort(a, b, kept, BYTES);                              \
        if (n_zeros) {                                                                            \
            const uint64_t zero = KEY(0);                                                         \
            for (begin = 0; begin < kept && sorted[begin].key < zero;) begin++;                   \
            for (end = begin; end < kept && sorted[end].key == zero;) end++;                      \
            c->skipped = 0.0;                                                                     \
        } else {                                                                                  \
            cwb_largest_block(sorted, kept, &begin, &end);                                        \
            c->skipped = kept ? VALUE(sorted[begin].key) : 0.0;                                   \
        }                                                                                         \
        return cwb_lay_out(c, sorted, kept, begin, end, missing, n_missing, wide);                \
    }

CWB_SORT_COLUMN(cwb_sort_u8_32, uint8_t, cwb_key_u8, cwb_value_u8, 1, int32_t)
CWB_SORT_COLUMN(cwb_sort_f32_32, float, cwb_key_f32, cwb_value_f32, 4, int32_t)
CWB_SORT_COLUMN(cwb_sort_f64_32, double, cwb_key_f64, cwb_value_f64, 8, int32_t)
CWB_SORT_COLUMN(cwb_sort_u8_64, uint8_t, cwb_key_u8, cwb_value_u8, 1, int64_t)
CWB_SORT_COLUMN(cwb_sort_f32_64, float, cwb_key_f32, cwb_value_f32, 4, int64_t)
CWB_SORT_COLUMN(cwb_sort_f64_64, double, cwb_key_f64, cwb_value_f64, 8, int64_t)

#endif
