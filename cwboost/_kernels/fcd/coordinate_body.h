/* One coordinate at a time, in runs of coordinates of one class.
 *
 * The coordinates of class c depend on one weight per example: |r_c(i)|, the sum of the weights of
 * the pairs of example i with class c. Column j agrees with example i if h = +1 for an example of
 * class c, or h = -1 for any other. A move by d multiplies the weight by exp(-d) if they agree, and
 * else by exp(d). So a run works on row c of R alone, and a coordinate costs one pass over the row,
 * which also computes the sums of the next coordinate. A run begins and ends with a pass over the
 * examples of class c. */

#define cwb_run_sums CWB_NAME(cwb_run_sums)
#define cwb_run_step CWB_NAME(cwb_run_step)
#define cwb_run_span CWB_NAME(cwb_run_span)
#define cwb_run_end CWB_NAME(cwb_run_end)

/* Compute the sums over the pairs of class c's examples again. Costs n_classes numbers per example.
 */
static void CWB_NAME(run_enter)(const cwb_master *m, int64_t c, const cwb_run *run) {
    const int64_t start = run->start, end = run->end, stride = m->stride, n_classes = m->n_classes;
    const double *R = m->R;
    double *r = run->r, *factor = run->factor;
    for (int64_t b = start >> 3; 8 * b < end; b++) {
        cwb_doubles sum = cwb_zero();
        for (int64_t k = 0; k < n_classes; k++)
            if (k != c) sum = cwb_sub(sum, cwb_load(R + k * stride + 8 * b));
        const cwb_mask own = cwb_mask_of(cwb_valid(b, start, end));
        cwb_store(r + 8 * b, cwb_pick(own, sum, cwb_load(r + 8 * b)));
        cwb_store(factor + 8 * b, cwb_splat(1.0));
    }
}

/* Multiply the pairs of class c's examples. Costs twice that. */
static void CWB_NAME(run_leave)(const cwb_master *m, int64_t c, const cwb_run *run) {
    const int64_t start = run->start, end = run->end, stride = m->stride, n_classes = m->n_classes;
    double *R = m->R;
    for (int64_t b = start >> 3; 8 * b < end; b++) {
        const cwb_mask own = cwb_mask_of(cwb_valid(b, start, end));
        const cwb_doubles factor = cwb_pick(own, cwb_load(run->factor + 8 * b), cwb_splat(1.0));
        for (int64_t k = 0; k < n_classes; k++) {
            double *x = R + k * stride + 8 * b;
            if (k != c) cwb_store(x, cwb_mul(cwb_load(x), factor));
        }
    }
}

/* V+ and V- of a coordinate: the weight of the examples it agrees with, and of the others. Two
 * vectors per sum hide the latency of additions. */
typedef struct {
    cwb_doubles plus[2], minus[2];
} cwb_run_sums;

/* Eight entries of R, all of class c if `own`, else none: move them by the factors `f` of the
 * column of `moving`, and add their weights to sums `k` of the column of `adding`. Entries outside
 * class c are negative. */
CWB_INLINE void cwb_run_step(double *r, cwb_mask moving, cwb_mask adding, cwb_choice f, int own,
                             int k, cwb_run_sums *s) {
    const cwb_doubles x = cwb_mul(cwb_load(r), cwb_choose(moving, f));
    const cwb_mask not_adding = cwb_not(adding);
    cwb_store(r, x);
    if (own) {
        s->plus[k] = cwb_add_where(s->plus[k], adding, x);
        s->minus[k] = cwb_add_where(s->minus[k], not_adding, x);
    } else {
        s->minus[k] = cwb_sub_where(s->minus[k], adding, x);
        s->plus[k] = cwb_sub_where(s->plus[k], not_adding, x);
    }
}

/* The same for n bytes. */
CWB_INLINE void cwb_run_span(double *r, const uint8_t *bits, const uint8_t *next, int64_t n,
                             cwb_choice f, int own, cwb_run_sums *s) {
    int64_t b = 0;
    for (; b + 2 <= n; b += 2) {
        const uint8_t *h = bits + b, *g = next + b;
        cwb_run_step(r + 8 * b, cwb_mask_at(h), cwb_mask_at(g), f, own, 0, s);
        cwb_run_step(r + 8 * b + 8, cwb_mask_at(h + 1), cwb_mask_at(g + 1), f, own, 1, s);
    }
    if (b < n) cwb_run_step(r + 8 * b, cwb_mask_at(bits + b), cwb_mask_at(next + b), f, own, 0, s);
}

/* Eight entries of R, of which only those of `own` are of class c: the others change sign and bits,
 * so that all are treated as own ones, and then change sign back. */
CWB_INLINE void cwb_run_end(double *r, unsigned own, unsigned bits, unsigned next, cwb_choice f,
                            cwb_run_sums *s) {
    const unsigned flip = ~own & 0xffu;
    const cwb_doubles sign = cwb_pick(cwb_mask_of(own), cwb_splat(1.0), cwb_splat(-1.0));
    cwb_store(r, cwb_mul(cwb_load(r), sign));
    cwb_run_step(r, cwb_mask_of(bits ^ flip), cwb_mask_of(next ^ flip), f, 1, 0, s);
    cwb_store(r, cwb_mul(cwb_load(r), sign));
}

/* V+ and V- of the coordinate of `next` after the coordinate of `bits` has moved by
 * log(up) = -log(down). Costs n. */
static void CWB_NAME(run_move)(const cwb_run *run, const uint8_t *bits, double up, double down,
                               const uint8_t *next, double *v_plus, double *v_minus) {
    double *r = run->r, *factors = run->factor;
    cwb_run_sums s = {{cwb_zero(), cwb_zero()}, {cwb_zero(), cwb_zero()}};
    const cwb_choice own = cwb_choice_of(down, up), other = cwb_choice_of(up, down);
    const int64_t first = run->start >> 3, last = run->end >> 3;
    /* Whole bytes of class c; the bytes at both ends may hold two classes. */
    const int64_t from = first + ((run->start & 7) != 0);
    const int64_t beyond = last + ((run->end & 7) != 0);
    cwb_run_span(r, bits, next, first, other, 0, &s);
    for (int64_t b = first; b < beyond; b = b == first && last > first ? last : b + 1)
        if (b < from || b >= last)
            cwb_run_end(r + 8 * b, cwb_valid(b, run->start, run->end), bits[b], next[b], own, &s);
    cwb_run_span(r + 8 * from, bits + from, next + from, last - from, own, 1, &s);
    cwb_run_span(r + 8 * beyond, bits + beyond, next + beyond, run->n_bytes - beyond, other, 0, &s);
    for (int64_t b = first; b < beyond; b++) {
        double *factor = factors + 8 * b;
        const cwb_doubles moved = cwb_choose(cwb_mask_at(bits + b), own);
        cwb_store(factor, cwb_mul(cwb_load(factor), moved));
    }
    *v_plus = cwb_sum(cwb_add(s.plus[0], s.plus[1]));
    *v_minus = cwb_sum(cwb_add(s.minus[0], s.minus[1]));
}
