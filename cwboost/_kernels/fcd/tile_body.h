/* The effect of the updates of a layer on the weights, one tile of examples at a time. */

/* Weights below this cannot change a sum of the master (its sums stay near p / C) but would turn
 * subnormal and slow every later pass down. */
#define CWB_FLUSH 1e-280

/* Bytes whose sums over the classes stay in registers: a strip. */
#if CWB_IS(AVX512)
#define CWB_STRIP 4
#elif CWB_IS(AVX2) || CWB_IS(NEON)
#define CWB_STRIP 2
#else
#define CWB_STRIP 1
#endif

#define cwb_strip CWB_NAME(cwb_strip)
#define cwb_moves CWB_NAME(cwb_moves)
#define cwb_moves_of CWB_NAME(cwb_moves_of)
#define cwb_row_factors CWB_NAME(cwb_row_factors)
#define cwb_moved CWB_NAME(cwb_moved)
#define cwb_strip_start CWB_NAME(cwb_strip_start)
#define cwb_strip_others CWB_NAME(cwb_strip_others)
#define cwb_strip_mixed CWB_NAME(cwb_strip_mixed)
#define cwb_own_sums CWB_NAME(cwb_own_sums)

/* row_i = exp(-d_b h_b(i)) for the examples of class b in one tile: the layer's factor of all
 * pairs of an example. */
CWB_INLINE void cwb_row_factors(const cwb_master *m, const cwb_layer *layer, int64_t first_byte,
                                int64_t last_byte, cwb_doubles *row) {
    for (int64_t b = first_byte; b < last_byte; b++) row[b - first_byte] = cwb_splat(1.0);
    if (!layer) return;
    for (int64_t k = 0; k < m->n_classes; k++) {
        const int64_t start = m->starts[k], end = m->starts[k + 1];
        const int64_t from = start >> 3 > first_byte ? start >> 3 : first_byte;
        const cwb_doubles up = cwb_splat(layer->up[k]), down = cwb_splat(layer->down[k]);
        for (int64_t b = from; b < last_byte && 8 * b < end; b++) {
            const cwb_doubles factor = cwb_pick(cwb_mask_at(layer->columns[k] + b), down, up);
            const cwb_mask valid = cwb_mask_of(cwb_valid(b, start, end));
            row[b - first_byte] = cwb_pick(valid, factor, row[b - first_byte]);
        }
    }
}

/* The sums of a strip over the classes, one lane per example, and the weights of the examples. The
 * sign of `wrong` is set if a pair is wrong. */
typedef struct {
    cwb_doubles sums[CWB_STRIP], margins[CWB_STRIP], wrong[CWB_STRIP], weight[CWB_STRIP];
} cwb_strip;

/* Factors and moves by the column of one class, for its entries of R and its scores. */
typedef struct {
    cwb_doubles up, down, d, against;
} cwb_moves;

CWB_INLINE cwb_moves cwb_moves_of(const cwb_layer *layer, int64_t c) {
    cwb_moves moves = {cwb_splat(1.0), cwb_splat(1.0), cwb_zero(), cwb_splat(-0.0)};
    if (!layer) return moves;
    moves.up = cwb_splat(layer->up[c]);
    moves.down = cwb_splat(layer->down[c]);
    moves.d = cwb_splat(layer->d[c]);
    moves.against = cwb_splat(-layer->d[c]);
    return moves;
}

CWB_INLINE void cwb_strip_start(cwb_strip *s, const double *weight, int n) {
    CWB_UNROLL
    for (int k = 0; k < CWB_STRIP; k++) {
        s->sums[k] = s->margins[k] = s->wrong[k] = cwb_zero();
        s->weight[k] = k < n ? cwb_load(weight + 8 * k) : cwb_zero();
    }
}

/* Entries of R times the factors of their rows and of their column, zero if they are too small. A
 * NaN stays, so that it is noticed. */
CWB_INLINE cwb_doubles cwb_moved(cwb_doubles x, cwb_doubles row, cwb_mask h, const cwb_moves *m) {
    x = cwb_mul(cwb_mul(x, row), cwb_pick(h, m->up, m->down));
    return cwb_drop(cwb_below(cwb_splat(-CWB_FLUSH), x), x);
}

/* A whole strip and a class that none of its examples is of. An example is wrong if mu > w, and
 * against a lower class (`slack` is the smallest number then) if mu = w as well. */
CWB_INLINE void cwb_strip_others(cwb_strip *s, double *r, double *f, const uint8_t *h,
                                 const cwb_doubles *row, const cwb_moves *m, double slack,
                                 int scores_move) {
    CWB_UNROLL
    for (int k = 0; k < CWB_STRIP; k++) {
        const cwb_mask bits = cwb_mask_at(h + k);
        const cwb_doubles x = cwb_moved(cwb_load(r + 8 * k), row[k], bits, m);
        cwb_store(r + 8 * k, x);
        s->sums[k] = cwb_sub(s->sums[k], x);
        const cwb_doubles right = cwb_sub(cwb_add(x, s->weight[k]), cwb_splat(slack));
        s->wrong[k] = cwb_union(s->wrong[k], right);
        const cwb_doubles score = cwb_add(cwb_load(f + 8 * k), cwb_pick(bits, m->d, m->against));
        if (scores_move) cwb_store(f + 8 * k, score);
        s->margins[k] = cwb_add(s->margins[k], cwb_mul(x, score));
    }
}

/* Byte k of a strip and the class of the examples in `own`, whose entries of R stay. The class is
 * lower than that of the examples in `behind`. */
CWB_INLINE void cwb_strip_mixed(cwb_strip *s, int k, double *r, double *f, cwb_mask h,
                                cwb_doubles row, const cwb_moves *m, unsigned own,
                                unsigned behind) {
    const cwb_doubles old = cwb_load(r);
    const cwb_doubles x = cwb_drop(cwb_mask_of(own), cwb_moved(old, row, h, m));
    cwb_store(r, cwb_pick(cwb_mask_of(own), old, x));
    s->sums[k] = cwb_sub(s->sums[k], x);
    const cwb_doubles slack = cwb_keep(cwb_mask_of(behind), cwb_splat(DBL_MIN));
    s->wrong[k] = cwb_union(s->wrong[k], cwb_sub(cwb_add(x, s->weight[k]), slack));
    const cwb_doubles score = cwb_add(cwb_load(f), cwb_pick(h, m->d, m->against));
    cwb_store(f, score);
    s->margins[k] = cwb_add(s->margins[k], cwb_mul(x, score));
}

/* Own entries of R for one byte of examples, and their part of the sum of r F. */
CWB_INLINE cwb_doubles cwb_own_sums(const cwb_master *m, int64_t byte, cwb_doubles sums) {
    const int32_t *label = m->label + 8 * byte;
    if (label[0] == label[7]) {
        const int64_t at = label[0] * m->stride + 8 * byte;
        cwb_store(m->R + at, sums);
        return cwb_mul(sums, cwb_load(m->scores + at));
    }
    double own[8], margins[8] = {0.0};
    cwb_store(own, sums);
    for (int l = 0; l < 8 && label[l] >= 0; l++) {
        const int64_t at = label[l] * m->stride + 8 * byte + l;
        m->R[at] = own[l];
        margins[l] = own[l] * m->scores[at];
    }
    return cwb_load(margins);
}

/* One tile of a layer: multiply mu_(i,c) by row_i exp(d_c h_c(i)), renew the own sums, keep the
 * scores (F_c += d_c h_c), and count errors. Without a layer (null) nothing moves. Costs
 * 2 n_classes loads and stores per example.
 *
 * mu > w is a negative margin; a zero one loses only against a lower class. */
static void CWB_NAME(tile)(const cwb_master *m, const cwb_layer *layer, int64_t first_byte,
                           int64_t last_byte, cwb_tile_sums *out) {
    static const uint8_t no_bits[CWB_TILE] = {0};
    cwb_doubles row[CWB_TILE], loss = cwb_zero(), margins = cwb_zero();
    out->errors = 0;
    cwb_row_factors(m, layer, first_byte, last_byte, row);
    for (int64_t byte = first_byte; byte < last_byte; byte += CWB_STRIP) {
        const cwb_doubles *at = row + (byte - first_byte);
        const int n = last_byte - byte < CWB_STRIP ? (int)(last_byte - byte) : CWB_STRIP;
        const int64_t end = 8 * (byte + n);
        cwb_strip s;
        cwb_strip_start(&s, m->example_weight + 8 * byte, n);
        for (int64_t c = 0; c < m->n_classes; c++) {
            double *r = m->R + c * m->stride + 8 * byte, *f = m->scores + c * m->stride + 8 * byte;
            const uint8_t *h = layer ? layer->columns[c] + byte : no_bits;
            const cwb_moves moves = cwb_moves_of(layer, c);
            const int64_t from = m->starts[c], to = m->starts[c + 1];
            if (n == CWB_STRIP && (end <= from || 8 * byte >= to)) {
                const double slack = end <= from ? 0.0 : DBL_MIN;
                cwb_strip_others(&s, r, f, h, at, &moves, slack, layer != NULL);
                continue;
            }
            CWB_UNROLL
            for (int k = 0; k < CWB_STRIP; k++) {
                if (k >= n) continue;
                const unsigned own = cwb_valid(byte + k, from, to);
                const unsigned behind = cwb_valid(byte + k, to, INT64_MAX);
                cwb_strip_mixed(&s, k, r + 8 * k, f + 8 * k, cwb_mask_at(h + k), at[k], &moves, own,
                                behind);
            }
        }
        CWB_UNROLL
        for (int k = 0; k < CWB_STRIP; k++) {
            if (k >= n) continue;
            loss = cwb_add(loss, s.sums[k]);
            margins = cwb_add(margins, s.margins[k]);
            margins = cwb_add(margins, cwb_own_sums(m, byte + k, s.sums[k]));
            unsigned wrong =
                cwb_signs(s.wrong[k]) & cwb_valid(byte + k, 0, m->starts[m->n_classes]);
            for (; wrong; wrong &= wrong - 1) out->errors++;
        }
    }
    out->loss = cwb_sum(loss);
    out->margins = cwb_sum(margins);
}

#undef CWB_FLUSH
#undef CWB_STRIP
