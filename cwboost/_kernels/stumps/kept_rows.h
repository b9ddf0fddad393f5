/* Sorted columns of the examples that count, the rows kept, when the others have weight zero.
 *
 * In the order of a column, the rows kept are marked, and the marks are walked. A threshold between
 * two of them has the same edge wherever it lies, so a row kept ends a block if any block ends
 * between it and the next. One row of weight zero comes first in either part, for the thresholds
 * before all rows kept. The shorter column thus has the edges of the whole one, in the same order.
 *
 * Cost: a column that visits many examples remembers the position of each (2 or 4 bytes), and
 * takes a few operations per row kept. Another one takes one operation per position.
 */
#ifndef CWBOOST_KEPT_ROWS_H
#define CWBOOST_KEPT_ROWS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stumps/kernels.h"

typedef struct {
    void *position; /* of each example, uint16_t or uint32_t, beyond the last if it has none; NULL
                       in a column that visits few examples */
    uint64_t *ends; /* bit p is set if position p ends a block */
} cwb_positions;

/* The rows kept, ascending, and by example 0xFF if it is kept, else 0. */
typedef struct {
    const int64_t *rows;
    int64_t n_rows, n_samples;
    const uint8_t *marks;
    int64_t zero; /* an example that is not kept */
} cwb_kept;

static inline int64_t cwb_n_positions(const cwb_column *c) {
    return c->n_forward + c->n_backward + c->n_missing;
}

static inline int64_t cwb_words(int64_t n_bits) { return (n_bits >> 6) + 1; }

static inline void cwb_mark(uint64_t *bits, int64_t at) {
    bits[at >> 6] |= (uint64_t)1 << (at & 63);
}

/* Fill in the positions of a column. Returns 0, or -1 without memory. */
static inline int cwb_find_positions(const cwb_column *c, int64_t n_samples, cwb_positions *out) {
    const int64_t n = cwb_n_positions(c), visited = n - c->n_missing;
    out->position = NULL;
    out->ends = calloc((size_t)cwb_words(n), sizeof *out->ends);
    if (!out->ends) return -1;
    for (int64_t p = 0; p < visited; p++)
        if (c->last[p]) cwb_mark(out->ends, p);
    if (4 * n < n_samples) return 0;
    cwb_column places = *c;
    places.index = out->position = malloc((size_t)(n_samples * (c->wide ? 4 : 2)));
    if (!places.index) return -1;
    uint64_t *has = calloc((size_t)cwb_words(n_samples), sizeof *has);
    if (!has) return -1;
    for (int64_t p = 0; p < n; p++) {
        cwb_put(&places, cwb_row(c, p), (uint32_t)p);
        cwb_mark(has, cwb_row(c, p));
    }
    /* Different numbers: marks of one bit again and again would wait for each other. */
    for (int64_t i = 0, next = n; i < n_samples; i++)
        if (!(has[i >> 6] >> (i & 63) & 1)) cwb_put(&places, i, (uint32_t)next++);
    free(has);
    return 0;
}

static inline void cwb_free_positions(cwb_positions *c) {
    free(c->position);
    free(c->ends);
}

/* Memory for `capacity` rows kept of a column. Returns 0, or -1 without memory. */
static inline int cwb_allocate_kept(cwb_column *left, int64_t capacity) {
    const int64_t width = left->wide ? 4 : 2;
    free(left->index);
    /* Two rows of weight zero; what is read ahead, and what is written beyond the last. */
    const int64_t n = capacity + 2 + CWB_READ_AHEAD;
    left->index = calloc((size_t)(n * (width + 1)), 1);
    if (!left->index) return -1;
    left->last = (uint8_t *)left->index + n * width;
    return 0;
}

/* Mark the positions of the rows kept: a byte each, which is written and not read. */
static inline void cwb_mark_kept(const cwb_column *c, const cwb_positions *of, const cwb_kept *kept,
                                 uint8_t *marks) {
    if (!of->position) {
        for (int64_t p = 0; p < cwb_n_positions(c); p++) marks[p] = kept->marks[cwb_row(c, p)];
    } else if (c->wide) {
        for (int64_t k = 0; k < kept->n_rows; k++)
            marks[((const uint32_t *)of->position)[kept->rows[k]]] = 0xFF;
    } else {
        for (int64_t k = 0; k < kept->n_rows; k++)
            marks[((const uint16_t *)of->position)[kept->rows[k]]] = 0xFF;
    }
}

/* Write the marked positions among [from, to), behind the row of weight zero. */
static inline int64_t cwb_keep_part(const cwb_stump_kernels *kernels, const cwb_column *c,
                                    const uint64_t *ends, const uint8_t *marks, int64_t from,
                                    int64_t to, int64_t zero, int64_t at, cwb_column *left) {
    if (from == to) return at;
    cwb_put(left, at, (uint32_t)zero);
    left->last[at++] = 0;
    return kernels->keep(c, ends, marks, from, to, at, left);
}

/* Write into `left` what the rows kept leave of column c. Returns 0, or -1 without memory. */
static inline int cwb_keep_rows(const cwb_stump_kernels *kernels, const cwb_column *c,
                                const cwb_positions *of, const cwb_kept *kept, cwb_column *left) {
    const int64_t middle = c->n_forward, end = middle + c->n_backward, all = end + c->n_missing;
    uint8_t *marks = calloc((size_t)cwb_words(kept->n_samples), 64);
    if (!marks) return -1;
    cwb_mark_kept(c, of, kept, marks);
    left->n_forward = cwb_keep_part(kernels, c, of->ends, marks, 0, middle, kept->zero, 0, left);
    int64_t at = left->n_forward;
    at = cwb_keep_part(kernels, c, of->ends, marks, middle, end, kept->zero, at, left);
    left->n_backward = at - left->n_forward;
    for (int64_t p = end; p < all; p++)
        if (marks[p]) cwb_put(left, at++, (uint32_t)cwb_row(c, p));
    left->n_missing = at - left->n_forward - left->n_backward;
    free(marks);
    return 0;
}

static inline int64_t cwb_find_row(const cwb_column *c, const cwb_positions *of, int64_t row) {
    int64_t p = 0;
    if (!of->position) {
        while (cwb_row(c, p) != row) p++;
        return p;
    }
    return c->wide ? (int64_t)((const uint32_t *)of->position)[row]
                   : (int64_t)((const uint16_t *)of->position)[row];
}

/* The position in c of the threshold at position p of what is left of it: of those with the same
 * edge, the lowest threshold. */
static inline int64_t cwb_whole_position(const cwb_column *c, const cwb_positions *of,
                                         const cwb_column *left, int64_t p) {
    const int64_t middle = c->n_forward, end = middle + c->n_backward;
    const int64_t left_end = left->n_forward + left->n_backward;
    int64_t at;
    if (p >= left_end) return end;
    if (p < left->n_forward) {
        for (at = p ? cwb_find_row(c, of, cwb_row(left, p)) : 0; !c->last[at];) at++;
        return at;
    }
    at = p + 1 < left_end ? cwb_find_row(c, of, cwb_row(left, p + 1)) : end;
    do {
        at--;
    } while (!c->last[at]);
    return at;
}

/* k(i) of rows kept number [first, beyond); other rows are left as they are. */
static inline void cwb_fill_kept(const cwb_weights *w, int lanes, const cwb_kept *kept,
                                 int64_t first, int64_t beyond, int32_t *rows) {
    for (int64_t k = first; k < beyond; k++) {
        const int64_t i = kept->rows[k];
        for (int64_t t = 0; t < w->n_targets; t++) {
            const double scale = w->scales[t] * CWB_COARSE;
            const double rounded = w->r[t * w->stride + i] * scale + CWB_ROUND;
            int64_t word;
            memcpy(&word, &rounded, sizeof word);
            rows[i * lanes + t] = (int32_t)word;
        }
        for (int64_t t = w->n_targets; t < lanes; t++) rows[i * lanes + t] = 0;
    }
}

#endif
