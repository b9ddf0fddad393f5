/* The last word on a stump: exact search of one column for one target, and its outputs.
 *
 * Sums are of q(i) (stump_scan.h): integers below 2^53 in doubles, hence exact, so that equal
 * partitions of the examples have equal edges and ties are ties. Among equal edges the lowest
 * threshold wins. The edge that is reported is summed once more, from the outputs, in double.
 */
#ifndef CWBOOST_STUMP_SETTLE_H
#define CWBOOST_STUMP_SETTLE_H

#include <float.h>
#include <math.h>

#include "stumps/weights.h"

typedef struct {
    double edge;      /* |E|, in units of 1/scale; -1 where the column has no split */
    double above;     /* E over the examples with a value: its sign is the output above */
    double missing;   /* sum over the missing examples: its sign is their output */
    int64_t position; /* of the last example that is walked before the threshold; n_forward +
                         n_backward for present against missing */
} cwb_stump;

#define CWB_SETTLE(NAME, INDEX)                                                                   \
    static inline cwb_stump NAME(const double *r, double scale, double total, const cwb_column *c)       \
    {                                                                                             \
        const INDEX *index = (const INDEX *)c->index;                                             \
        const int64_t middle = c->n_forward, end = middle + c->n_backward;                        \
        cwb_stump s = {-1.0, 0.0, 0.0, -1};                                                       \
        double sum = 0.0, down = -1.0, down_above = 0.0;                                          \
        int64_t down_position = -1;                                                               \
        for (int64_t p = end; p < end + c->n_missing; p++) sum += cwb_fixed(r[index[p]], scale);  \
        s.missing = sum;                                                                          \
        const double present = total - sum;                                                       \
        sum = present;                                                                            \
        for (int64_t p = 0; p < middle; p++) {                                                    \
            sum -= 2.0 * cwb_fixed(r[index[p]], scale);                                           \
            if (fabs(sum) > s.edge && c->last[p]) {                                               \
                s.edge = fabs(sum);                                                               \
                s.above = sum;                                                                    \
                s.position = p;                                                                   \
            }                                                                                     \
        }                                                                                         \
        sum = -present;                                                                           \
        for (int64_t p = middle; p < end; p++) {                                                  \
            sum += 2.0 * cwb_fixed(r[index[p]], scale);                                           \
            if (fabs(sum) >= down && c->last[p]) {                                                \
                down = fabs(sum);                                                                 \
                down_above = sum;                                                                 \
                down_position = p;                                                                \
            }                                                                                     \
        }                                                                                         \
        if (down > s.edge) {                                                                      \
            s.edge = down;                                                                        \
            s.above = down_above;                                                                 \
            s.position = down_position;                                                           \
        }                                                                                         \
        if (c->n_missing == 0) return s;                                                          \
        if (s.position >= 0) s.edge += fabs(s.missing);                                           \
        if (s.missing * present < 0.0 && fabs(s.missing) + fabs(present) > s.edge) {              \
            s.edge = fabs(s.missing) + fabs(present);                                             \
            s.above = -present;                                                                   \
            s.position = end;                                                                     \
        }                                                                                         \
        return s;                                                                                 \
    }

CWB_SETTLE(cwb_settle_u16, uint16_t)
CWB_SETTLE(cwb_settle_u32, uint32_t)

/* Sum of q over positions, exact, in eight sums at a time. */
#define CWB_SKIP(NAME, INDEX)                                                                     \
    CWBOOST_CLONES static double NAME(const double *r, double scale, const INDEX *index,          \
                                      int64_t n)                                                  \
    {                                                                                             \
        double sums[8] = {0};                                                                     \
        int64_t p = 0;                                                                            \
        for (; p + 8 <= n; p += 8) {                                                              \
            double x[8];                                                                          \
            for (int l = 0; l < 8; l++) x[l] = r[index[p + l]];                                   \
            for (int l = 0; l < 8; l++) sums[l] += cwb_fixed(x[l], scale);                        \
        }                                                                                         \
        for (; p < n; p++) sums[0] += cwb_fixed(r[index[p]], scale);                              \
        return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +                                      \
               ((sums[4] + sums[5]) + (sums[6] + sums[7]));                                       \
    }

/* One lane of the trace of a scan; `least` is the |E| / 2, in units of 2^20 / scale, that a chunk
 * must have seen to hold the winner. */
typedef struct {
    const int32_t *trace;
    int64_t lanes;
    int64_t lane;
    double least;
} cwb_traced;

static inline int cwb_chunk_counts(const cwb_traced *t, int64_t chunk)
{
    return (double)t->trace[(2 * chunk + 1) * t->lanes + t->lane] >= t->least;
}

/* cwb_settle for a column with a trace: only chunks that may hold the winner are searched, and
 * the others summed. With `alone`, when no other stump is in question, sums may start at such a
 * chunk from what the scan had there: that shifts all E alike and keeps their order, unless the
 * largest E and the largest -E are too close to tell, or both parts have such chunks. Then the
 * position is -2. */
#define CWB_SETTLE_TRACED(NAME, SKIP, INDEX)                                                      \
    static inline cwb_stump NAME(const double *r, double scale, double total,                     \
                                 const cwb_column *c, const cwb_traced *t, int alone,             \
                                 double doubt)                                                    \
    {                                                                                             \
        cwb_stump s = {-1.0, 0.0, 0.0, -1};                                                       \
        double up = 0.0, down = 0.0;                                                              \
        const int64_t length = cwb_chunk(c);                                                      \
        int64_t chunk = 0, parts = 0;                                                             \
        for (int part = 0; part < 2; part++) {                                                    \
            const int64_t start = part ? c->n_forward : 0;                                        \
            const int64_t end = part ? start + c->n_backward : c->n_forward;                      \
            const int64_t n_chunks = cwb_part_chunks(c, end - start);                             \
            int64_t first = chunk, beyond = chunk + n_chunks;                                     \
            while (beyond > chunk && !cwb_chunk_counts(t, beyond - 1)) beyond--;                  \
            while (first < beyond && !cwb_chunk_counts(t, first)) first++;                        \
            const double sign = part ? 2.0 : -2.0;                                                \
            double sum = part ? -total : total, best = -1.0, above = 0.0;                         \
            int64_t position = -1;                                                                \
            if (!alone) first = chunk;                                                            \
            else if (first < beyond)                                                              \
                sum = sign / CWB_COARSE * t->trace[2 * first * t->lanes + t->lane];               \
            parts += first < beyond;                                                              \
            for (int64_t k = first; k < beyond; k++) {                                            \
                const int64_t from = start + (k - chunk) * length;                                \
                const int64_t to = end - from < length ? end : from + length;                     \
                const INDEX *index = (const INDEX *)c->index;                                     \
                if (!cwb_chunk_counts(t, k)) {                                                    \
                    sum += sign * SKIP(r, scale, index + from, to - from);                        \
                    continue;                                                                     \
                }                                                                                 \
                for (int64_t p = from; p < to; p++) {                                             \
                    sum += sign * cwb_fixed(r[index[p]], scale);                                  \
                    if (!c->last[p]) continue;                                                    \
                    if (sum > up) up = sum;                                                       \
                    if (-sum > down) down = -sum;                                                 \
                    /* Descending: of equal edges the last has the lowest threshold. */           \
                    if (fabs(sum) > best || (part && fabs(sum) == best)) {                        \
                        best = fabs(sum);                                                         \
                        above = sum;                                                              \
                        position = p;                                                             \
                    }                                                                             \
                }                                                                                 \
            }                                                                                     \
            if (best > s.edge) {                                                                  \
                s.edge = best;                                                                    \
                s.above = above;                                                                  \
                s.position = position;                                                            \
            }                                                                                     \
            chunk += n_chunks;                                                                    \
        }                                                                                         \
        if (alone && (parts > 1 || fabs(up - down) <= doubt)) s.position = -2;                    \
        return s;                                                                                 \
    }

CWB_SKIP(cwb_skip_u16, uint16_t)
CWB_SKIP(cwb_skip_u32, uint32_t)
CWB_SETTLE_TRACED(cwb_settle_traced_u16, cwb_skip_u16, uint16_t)
CWB_SETTLE_TRACED(cwb_settle_traced_u32, cwb_skip_u32, uint32_t)

/* The best split of a column for one target; trace may be NULL. */
static inline cwb_stump cwb_settle(const double *r, double scale, double total,
                                   const cwb_column *c, int wide, const cwb_traced *t, int alone,
                                   double doubt)
{
    if (!t->trace || !cwb_chunks(c))
        return wide ? cwb_settle_u32(r, scale, total, c) : cwb_settle_u16(r, scale, total, c);
    cwb_stump s = {-1.0, 0.0, 0.0, -2};
    for (; s.position == -2; alone = 0)
        s = wide ? cwb_settle_traced_u32(r, scale, total, c, t, alone, doubt)
                 : cwb_settle_traced_u16(r, scale, total, c, t, alone, doubt);
    return s;
}

static inline int64_t cwb_row(const cwb_column *c, int wide, int64_t p)
{
    return wide ? (int64_t)((const uint32_t *)c->index)[p] : (int64_t)((const uint16_t *)c->index)[p];
}

/* Packed outputs of the stump at `position`: `above` (-1 or +1) behind the threshold, -above
 * before it, `missing` for examples without a value. */
static inline void cwb_write_outputs(const cwb_column *c, int wide, int64_t position, int above,
                              int missing, int64_t n_samples, uint8_t *bits)
{
    const int64_t visited = c->n_forward + c->n_backward;
    const int64_t n_bytes = (n_samples + 7) / 8;
    /* What most examples get: the side that the walk has not reached. */
    const int rest = position < c->n_forward ? above : -above;
    memset(bits, rest > 0 ? 0xFF : 0, (size_t)n_bytes);
    if (position < visited)
        for (int64_t p = position < c->n_forward ? 0 : c->n_forward; p <= position; p++) {
            const int64_t i = cwb_row(c, wide, p);
            bits[i >> 3] ^= (uint8_t)(1u << (i & 7));
        }
    if (missing != rest)
        for (int64_t p = visited; p < visited + c->n_missing; p++) {
            const int64_t i = cwb_row(c, wide, p);
            bits[i >> 3] ^= (uint8_t)(1u << (i & 7));
        }
    if (n_samples & 7) bits[n_bytes - 1] &= (uint8_t)((1u << (n_samples & 7)) - 1);
}

/* sum_i r(i) h(i) from packed outputs, in eight interleaved sums. */
CWBOOST_CLONES static double cwb_edge(const double *r, const uint8_t *bits, int64_t n)
{
    const cwb_i64x8 lane = {1, 2, 4, 8, 16, 32, 64, 128};
    const cwb_i64x8 minus = (cwb_i64x8){0} + INT64_MIN;
    cwb_f64x8 sums = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        cwb_i64x8 x;
        memcpy(&x, r + i, sizeof x);
        const cwb_i64x8 clear = (((cwb_i64x8){0} + bits[i >> 3]) & lane) == 0;
        sums += (cwb_f64x8)(x ^ (clear & minus));
    }
    double sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                 ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (; i < n; i++) sum += bits[i >> 3] >> (i & 7) & 1 ? r[i] : -r[i];
    return sum;
}

/* A threshold t with a <= t < b that also separates the float32 roundings of a and b where these
 * differ; halfway, and itself a float32 number, where that can be had. */
static inline double cwb_threshold(double a, double b)
{
    const double a32 = (double)(float)a, b32 = (double)(float)b;
    double low = a32 > a ? a32 : a, high = b32 < b ? b32 : b;
    if (!(low < high)) {
        low = a;
        high = b;
    }
    /* Infinite and huge ends: halfway within the float32 numbers if they reach in between. */
    double from = low < -FLT_MAX ? -FLT_MAX : low, to = high > FLT_MAX ? FLT_MAX : high;
    if (!(from < to)) {
        from = low < -DBL_MAX ? -DBL_MAX : low;
        to = high > DBL_MAX ? DBL_MAX : high;
    }
    const double half = from / 2 + to / 2, half32 = (double)(float)half;
    if (low <= half32 && half32 < high && !isinf(half32)) return half32;
    return low <= half && half < high ? half : low;
}

#endif
