/* The examples of one feature in sorted order, laid out as a stump search visits them.
 *
 * The values of a feature, ascending, form blocks of equal values. A search enters from both ends
 * and walks towards the largest block, which it never visits (such as the zeros of an image):
 *
 *     forward part   examples below the largest block, ascending
 *     backward part  examples above it, descending
 *
 * `last` marks the last example of a block in walking order: thresholds lie only after these.
 * Examples whose value is missing (NaN) are kept apart. Equal values keep the order of examples.
 *
 * Cost: one radix pass per byte of the dtype, or per 11 bits of many numbers, O(n) each.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A scan may read this number of entries beyond the end of an index, to fetch rows ahead. */
#define CWB_READ_AHEAD 24

/* Which positions end a block: some; all; at most half, so that runs of positions end none. */
enum { CWB_SOME_END, CWB_ALL_END, CWB_FEW_END };

typedef struct {
    void *index;   /* uint16_t or uint32_t: forward, backward, missing examples */
    uint8_t *last; /* 0xFF or 0, forward and backward part; same allocation as index */
    int64_t n_forward;
    int64_t n_backward;
    int64_t n_missing;
    double skipped; /* value of the block that is not visited */
    int wide;       /* 1 if the index has 32 bits */
    int ends;       /* how many positions end a block: the walk of a scan depends on it */
} cwb_column;

typedef struct {
    uint64_t key;
    uint32_t row;
} cwb_keyed;

/* The stored values of a column: keys of those present, rows of those missing. */
typedef struct {
    cwb_keyed *keyed; /* n_present entries */
    cwb_keyed *spare; /* scratch of the same length */
    uint32_t *missing;
    int64_t n_present;
    int64_t n_missing;
    int64_t n_zeros; /* further examples, zero and not stored */
    int bytes;       /* size of the dtype: 1 (uint8), 4 (float32) or 8 (float64) */
} cwb_unsorted;

/* The positions [begin, end) of a sorted column that are not visited. */
typedef struct {
    int64_t begin, end;
} cwb_block;

/* Keys are bit patterns in the order of the numbers; both zeros have one key. */
static inline uint64_t cwb_key_u8(uint8_t x) { return x; }

static inline uint64_t cwb_key_f32(float x) {
    uint32_t bits;
    x += 0.0f;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | ((uint32_t)1 << 31);
}

static inline uint64_t cwb_key_f64(double x) {
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | ((uint64_t)1 << 63);
}

/* The number of a key of `bytes` bytes. */
static inline double cwb_value_of_key(uint64_t key, int bytes) {
    if (bytes == 1) return (double)key;
    if (bytes == 4) {
        const uint32_t k = (uint32_t)key, bits = k >> 31 ? k & ~((uint32_t)1 << 31) : ~k;
        float x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    const uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t cwb_key_of_zero(int bytes) {
    return bytes == 1 ? cwb_key_u8(0) : bytes == 4 ? cwb_key_f32(0.0f) : cwb_key_f64(0.0);
}

/* Sort stably by keys, digit by digit from the lowest; digits are larger if there are enough keys
 * to pay for their counts, and one that all keys share costs no pass. Returns the buffer that holds
 * the result. */
static inline const cwb_keyed *cwb_radix_sort(const cwb_unsorted *column) {
    enum { FEW = 4096, WIDEST = 11 };
    const int64_t n = column->n_present;
    const int bits = column->bytes == 1 || n < FEW ? 8 : WIDEST;
    const int n_digits = (8 * column->bytes + bits - 1) / bits;
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    cwb_keyed *from = column->keyed, *to = column->spare;
    uint32_t counts[8][1 << WIDEST];
    for (int d = 0; d < n_digits; d++) memset(counts[d], 0, sizeof(uint32_t) << bits);
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < n_digits; d++) counts[d][from[i].key >> (d * bits) & mask]++;
    for (int d = 0; d < n_digits && n; d++) {
        uint32_t *count = counts[d], start = 0;
        if (count[from[0].key >> (d * bits) & mask] == n) continue;
        for (uint64_t v = 0; v <= mask; v++) {
            const uint32_t here = count[v];
            count[v] = start;
            start += here;
        }
        for (int64_t i = 0; i < n; i++) to[count[from[i].key >> (d * bits) & mask]++] = from[i];
        cwb_keyed *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static inline cwb_block cwb_largest_block(const cwb_keyed *sorted, int64_t n) {
    cwb_block largest = {0, 0};
    for (int64_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && sorted[j].key == sorted[i].key;) j++;
        if (j - i > largest.end - largest.begin) {
            largest.begin = i;
            largest.end = j;
        }
    }
    return largest;
}

static inline cwb_block cwb_block_of(const cwb_keyed *sorted, int64_t n, uint64_t key) {
    cwb_block block;
    for (block.begin = 0; block.begin < n && sorted[block.begin].key < key;) block.begin++;
    for (block.end = block.begin; block.end < n && sorted[block.end].key == key;) block.end++;
    return block;
}

static inline void cwb_put(cwb_column *c, int64_t at, uint32_t row) {
    if (c->wide) {
        ((uint32_t *)c->index)[at] = row;
    } else {
        ((uint16_t *)c->index)[at] = (uint16_t)row;
    }
}

/* The example at position p. */
static inline int64_t cwb_row(const cwb_column *c, int64_t p) {
    return c->wide ? (int64_t)((const uint32_t *)c->index)[p]
                   : (int64_t)((const uint16_t *)c->index)[p];
}

/* Lay out a column from its sorted values without the block. Returns 0, or -1 if memory ran out.
 */
static inline int cwb_lay_out(cwb_column *c, const cwb_unsorted *column, const cwb_keyed *sorted,
                              cwb_block skipped, int wide) {
    const int64_t n = column->n_present, begin = skipped.begin, end = skipped.end;
    const int64_t visited = begin + (n - end), width = wide ? 4 : 2;
    const int64_t index_bytes = (visited + column->n_missing) * width;
    c->n_forward = begin;
    c->n_backward = n - end;
    c->n_missing = column->n_missing;
    c->wide = wide;
    c->ends = CWB_SOME_END;
    c->index = NULL;
    c->last = NULL;
    if (visited + c->n_missing == 0) return 0;
    c->index = malloc((size_t)(index_bytes + visited + CWB_READ_AHEAD * width));
    if (!c->index) return -1;
    memset((uint8_t *)c->index + index_bytes + visited, 0, (size_t)(CWB_READ_AHEAD * width));
    c->last = (uint8_t *)c->index + index_bytes;
    int64_t at = 0, n_ends = 0;
    for (int64_t i = 0; i < begin; i++, at++) {
        cwb_put(c, at, sorted[i].row);
        c->last[at] = i + 1 == begin || sorted[i].key != sorted[i + 1].key ? 0xFF : 0;
        n_ends += c->last[at] & 1;
    }
    for (int64_t i = n - 1; i >= end; i--, at++) {
        cwb_put(c, at, sorted[i].row);
        c->last[at] = i == end || sorted[i].key != sorted[i - 1].key ? 0xFF : 0;
        n_ends += c->last[at] & 1;
    }
    if (n_ends == visited) c->ends = CWB_ALL_END;
    if (2 * n_ends <= visited) c->ends = CWB_FEW_END;
    for (int64_t i = 0; i < c->n_missing; i++, at++) cwb_put(c, at, column->missing[i]);
    return 0;
}

/* Sort a column. In a sparse one, the zeros, stored or not, are the block that is skipped. Returns
 * 0, or -1 if memory ran out. */
static inline int cwb_sort_column(cwb_column *c, const cwb_unsorted *column, int wide) {
    const cwb_keyed *sorted = cwb_radix_sort(column);
    cwb_block skipped;
    c->skipped = 0.0;
    if (column->n_zeros) {
        skipped = cwb_block_of(sorted, column->n_present, cwb_key_of_zero(column->bytes));
    } else {
        skipped = cwb_largest_block(sorted, column->n_present);
        if (column->n_present)
            c->skipped = cwb_value_of_key(sorted[skipped.begin].key, column->bytes);
    }
    return cwb_lay_out(c, column, sorted, skipped, wide);
}
