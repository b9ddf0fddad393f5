/* Fast coordinate descent, one coordinate at a time, in runs of coordinates of one class. For the
 * notation see fcd.h.
 *
 * All that coordinates of class c look at is one weight an example: what the pairs of example i
 * that have to do with class c weigh together, |r_c(i)|. Column j pulls them the right way
 * where its output agrees with the example: h = +1 for the examples of class c, h = -1 for all
 * others; the weight falls by exp(-d) there and grows by exp(d) elsewhere. So a run works on row c
 * of R alone, and a coordinate costs one pass over it, in which the sums of the next coordinate
 * are taken as well. Entering and leaving a run costs a pass over the examples of class c each. */
#ifndef CWBOOST_FCD_COORDINATE_H
#define CWBOOST_FCD_COORDINATE_H

#include "fcd/lanes.h"

/* The exact minimiser of one coordinate, as a move from its present value w >= 0: no move below
 * zero, `step` of the way. The root is written so that nothing cancels: it is right for V- -> 0
 * (log(V+ / q)) and V+ -> 0 (minus infinity, so the coefficient goes to zero). */
CWBOOST_INLINE double cwb_step(double v_plus, double v_minus, double q, double w, double step) {
    const double root = sqrt(q * q + 4.0 * (v_plus * v_minus));
    const double d = log(2.0 * v_plus / (q + root));
    if (w + d <= 0.0) return -step * w;
    return step * d;
}

/* A run of coordinates of class c. */
typedef struct {
    double *r;       /* row c of R */
    double *factor;  /* what the run has multiplied the pairs of class c's examples by */
    int64_t n_bytes, start, end; /* examples [start, end) are of class c */
} cwb_run;

/* Renews the sums over the pairs of class c's examples. Costs n_classes numbers for each of them. */
CWBOOST_CLONES
static void cwb_run_enter(const double *R, int64_t stride, int64_t c, int64_t n_classes,
                          const cwb_run *run) {
    for (int64_t b = run->start >> 3; 8 * b < run->end; b++) {
        const cwb_i64x8 own = cwb_lanes(cwb_valid(b, run->start, run->end));
        cwb_f64x8 sum = {0};
        for (int64_t k = 0; k < n_classes; k++)
            if (k != c) sum -= cwb_load(R + k * stride + 8 * b);
        cwb_store(run->r + 8 * b, cwb_select(own, sum, cwb_load(run->r + 8 * b)));
        cwb_store(run->factor + 8 * b, cwb_splat(1.0));
    }
}

/* Multiplies the pairs of class c's examples. Costs twice that. */
CWBOOST_CLONES
static void cwb_run_leave(double *R, int64_t stride, int64_t c, int64_t n_classes,
                          const cwb_run *run) {
    for (int64_t b = run->start >> 3; 8 * b < run->end; b++) {
        const cwb_i64x8 own = cwb_lanes(cwb_valid(b, run->start, run->end));
        const cwb_f64x8 factor = cwb_select(own, cwb_load(run->factor + 8 * b), cwb_splat(1.0));
        for (int64_t k = 0; k < n_classes; k++)
            if (k != c)
                cwb_store(R + k * stride + 8 * b, cwb_load(R + k * stride + 8 * b) * factor);
    }
}

/* Bytes [from, to) of a run, all of class c or none: move the coordinate of `bits`, with the factor
 * SET where a bit is set and CLEAR elsewhere, and ADD the weights, or take them from, the sums of
 * the coordinate of `next`: ON where a bit is set, OFF elsewhere. Weights of the others have a
 * minus in R. Two vectors a sum hide the latency of its additions. */
#define CWB_RUN_STEP(OPS, ADD, at, was, is, SET, CLEAR, ON, OFF)                                 \
    {                                                                                            \
        const cwb_##OPS##_byte moving = was, adding = is;                                        \
        const cwb_f64x8 x = cwb_load(r + 8 * (at)) * CWB_##OPS##_PICK(moving, SET, CLEAR);       \
        cwb_store(r + 8 * (at), x);                                                              \
        ON = CWB_##OPS##_##ADD(ON, adding, x);                                                   \
        OFF = CWB_##OPS##_##ADD(OFF, CWB_##OPS##_NOT(adding), x);                                \
    }

#define CWB_RUN_LOOK(OPS, ADD, at, SET, CLEAR, ON, OFF)                                          \
    CWB_RUN_STEP(OPS, ADD, at, CWB_##OPS##_LOOK(bits + (at)), CWB_##OPS##_LOOK(next + (at)),     \
                 SET, CLEAR, ON, OFF)

#define CWB_RUN_SPAN(OPS, ADD, from, to, SET, CLEAR, ON, OFF)                                    \
    for (b = from; b + 2 <= (to); b += 2) {                                                      \
        CWB_RUN_LOOK(OPS, ADD, b, SET, CLEAR, ON[0], OFF[0])                                     \
        CWB_RUN_LOOK(OPS, ADD, b + 1, SET, CLEAR, ON[1], OFF[1])                                 \
    }                                                                                            \
    for (; b < (to); b++) CWB_RUN_LOOK(OPS, ADD, b, SET, CLEAR, ON[0], OFF[0])

#define CWB_RUN_MOVE(NAME, OPS, TARGET)                                                          \
    TARGET static void NAME(const cwb_run *run, const uint8_t *bits, double up, double down,     \
                            const uint8_t *next, double *v_plus, double *v_minus) {              \
        double *r = run->r;                                                                      \
        cwb_f64x8 plus[2] = {{0}, {0}}, minus[2] = {{0}, {0}};                                   \
        const cwb_f64x8 grow = cwb_splat(up), fall = cwb_splat(down);                            \
        const int64_t first = run->start >> 3, last = run->end >> 3;                             \
        /* Whole bytes of class c; those at either end may be of two classes. */                 \
        const int64_t from = first + ((run->start & 7) != 0);                                    \
        const int64_t beyond = last + ((run->end & 7) != 0);                                     \
        int64_t b;                                                                               \
        CWB_RUN_SPAN(OPS, LESS, 0, first, grow, fall, minus, plus)                               \
        for (b = first; b < beyond; b = b == first && last > first ? last : b + 1) {             \
            const unsigned own = cwb_valid(b, run->start, run->end), flip = ~own & 0xffu;        \
            if (b >= from && b < last) continue;                                                 \
            cwb_store(r + 8 * b, cwb_signed(own, cwb_load(r + 8 * b)));                          \
            CWB_RUN_STEP(OPS, ADD, b, bits[b] ^ flip, next[b] ^ flip, fall, grow, plus[0],       \
                         minus[0])                                                               \
            cwb_store(r + 8 * b, cwb_signed(own, cwb_load(r + 8 * b)));                          \
        }                                                                                        \
        CWB_RUN_SPAN(OPS, ADD, from, last, fall, grow, plus, minus)                              \
        CWB_RUN_SPAN(OPS, LESS, beyond, run->n_bytes, grow, fall, minus, plus)                   \
        for (b = first; b < beyond; b++)                                                         \
            cwb_store(run->factor + 8 * b, cwb_load(run->factor + 8 * b) *                       \
                                               CWB_##OPS##_PICK(bits[b], fall, grow));           \
        *v_plus = cwb_sum(plus[0] + plus[1]);                                                    \
        *v_minus = cwb_sum(minus[0] + minus[1]);                                                 \
    }

/* The sign changes where a bit is not set: from R to weights and back. */
CWBOOST_INLINE cwb_f64x8 cwb_signed(unsigned own, cwb_f64x8 x) {
    return cwb_select(cwb_lanes(own), x, -x);
}

/* F(i) += sum_j moves[j] h_j(i): 2 moves[j] where a bit is set, less the sum of the moves. Eight
 * vectors of examples stay in registers while the columns go by. Costs n a column. */
#define CWB_ADD_COLUMNS(NAME, OPS, TARGET)                                                       \
    TARGET static void NAME(double *scores, int64_t n_bytes, const uint8_t *const *columns,      \
                            const double *moves, int64_t n_columns) {                            \
        double all = 0.0;                                                                        \
        for (int64_t j = 0; j < n_columns; j++) all += moves[j];                                 \
        int64_t b = 0;                                                                           \
        for (; b + 8 <= n_bytes; b += 8) {                                                       \
            cwb_f64x8 sums[8];                                                                   \
            CWB_ALL_EIGHT sums[k] = cwb_load(scores + 8 * (b + k)) - cwb_splat(all);             \
            for (int64_t j = 0; j < n_columns; j++) {                                            \
                const cwb_f64x8 twice = CWB_##OPS##_ALL(2.0 * moves[j]);                         \
                CWB_##OPS##_EIGHT(sums, columns[j] + b, twice)                                   \
            }                                                                                    \
            CWB_ALL_EIGHT cwb_store(scores + 8 * (b + k), sums[k]);                              \
        }                                                                                        \
        for (; b < n_bytes; b++) {                                                               \
            cwb_f64x8 sum = cwb_load(scores + 8 * b) - cwb_splat(all);                           \
            for (int64_t j = 0; j < n_columns; j++)                                              \
                sum = CWB_##OPS##_ADD(sum, columns[j][b], CWB_##OPS##_ALL(2.0 * moves[j]));      \
            cwb_store(scores + 8 * b, sum);                                                      \
        }                                                                                        \
    }

#define CWB_ALL_EIGHT _Pragma("GCC unroll 8") for (int k = 0; k < 8; k++)
#define CWB_lanes_EIGHT(sums, h, x)                                                              \
    CWB_ALL_EIGHT sums[k] = CWB_lanes_ADD(sums[k], (h)[k], x);

/* V+ and V- of the coordinate of `next`, the weight of the examples it agrees with and of the
 * others, after the coordinate of `bits` has moved by log(up) = -log(down). Costs n. */
CWB_RUN_MOVE(cwb_run_move_portable, lanes, CWBOOST_CLONES)
CWB_ADD_COLUMNS(cwb_add_columns_portable, lanes, CWBOOST_CLONES)

#ifdef CWBOOST_X86_INTRINSICS
/* Eight bytes at once in every lane, and a test of the lane's bit in each of them in turn. */
#define CWB_masked_EIGHT(sums, h, x)                                                             \
    {                                                                                            \
        int64_t bytes;                                                                           \
        memcpy(&bytes, h, 8);                                                                    \
        const __m512i in_all = _mm512_set1_epi64(bytes);                                         \
        const __m512i bit = _mm512_set_epi64(128, 64, 32, 16, 8, 4, 2, 1);                       \
        CWB_ALL_EIGHT sums[k] = CWB_masked_ADD(                                                  \
            sums[k], _mm512_test_epi64_mask(in_all, _mm512_slli_epi64(bit, 8 * k)), x);          \
    }
CWB_RUN_MOVE(cwb_run_move_avx512, masked, CWBOOST_AVX512)
CWB_ADD_COLUMNS(cwb_add_columns_avx512, masked, CWBOOST_AVX512)
#endif

static void cwb_run_move(const cwb_run *run, const uint8_t *bits, double up, double down,
                         const uint8_t *next, double *v_plus, double *v_minus) {
#ifdef CWBOOST_X86_INTRINSICS
    if (__builtin_cpu_supports("avx512dq")) {
        cwb_run_move_avx512(run, bits, up, down, next, v_plus, v_minus);
        return;
    }
#endif
    cwb_run_move_portable(run, bits, up, down, next, v_plus, v_minus);
}

static void cwb_add_columns(double *scores, int64_t n_bytes, const uint8_t *const *columns,
                            const double *moves, int64_t n_columns) {
#ifdef CWBOOST_X86_INTRINSICS
    if (__builtin_cpu_supports("avx512dq")) {
        cwb_add_columns_avx512(scores, n_bytes, columns, moves, n_columns);
        return;
    }
#endif
    cwb_add_columns_portable(scores, n_bytes, columns, moves, n_columns);
}

#endif
