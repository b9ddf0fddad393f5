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

/* With many classes, the rows of a strip are too many streams for the processor to foresee: their
 * lines are fetched CWB_CLASSES_AHEAD classes ahead. */
#define CWB_MANY_CLASSES 32
#define CWB_CLASSES_AHEAD 3

#define cwb_strip CWB_NAME(cwb_strip)
#define cwb_moves CWB_NAME(cwb_moves)
#define cwb_moves_of CWB_NAME(cwb_moves_of)
#define cwb_row_factors CWB_NAME(cwb_row_factors)
#define cwb_moved CWB_NAME(cwb_moved)
#define cwb_strip_start CWB_NAME(cwb_strip_start)
#define cwb_strip_others CWB_NAME(cwb_strip_others)
#define cwb_strip_classes CWB_NAME(cwb_strip_classes)
#define cwb_strip_own CWB_NAME(cwb_strip_own)
#define cwb_strip_update CWB_NAME(cwb_strip_update)
#define cwb_strip_mixed CWB_NAME(cwb_strip_mixed)
#define cwb_wrong CWB_NAME(cwb_wrong)
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
        const cwb_choice factors = cwb_choice_of(layer->down[k], layer->up[k]);
        for (int64_t b = from; b < last_byte && 8 * b < end; b++) {
            const cwb_doubles factor = cwb_choose(cwb_mask_at(layer->columns[k] + b), factors);
            const cwb_mask valid = cwb_mask_of(cwb_valid(b, start, end));
            row[b - first_byte] = cwb_pick(valid, factor, row[b - first_byte]);
        }
    }
}

/* The sums of a strip over the classes, one lane per example, and the least entry of R of a lower
 * class than that of the example, and of a higher one. */
typedef struct {
    cwb_doubles sums[CWB_STRIP], margins[CWB_STRIP], lower[CWB_STRIP], higher[CWB_STRIP];
} cwb_strip;

CWB_INLINE void cwb_strip_start(cwb_strip *s) {
    CWB_UNROLL
    for (int k = 0; k < CWB_STRIP; k++) {
        s->sums[k] = s->margins[k] = s->lower[k] = s->higher[k] = cwb_zero();
    }
}

/* Factors and moves by the column of one class, for its entries of R and its scores. */
typedef struct {
    cwb_choice factor, move;
} cwb_moves;

CWB_INLINE cwb_moves cwb_moves_of(const cwb_layer *layer, int64_t c) {
    if (!layer) return (cwb_moves){cwb_choice_of(1.0, 1.0), cwb_choice_of(0.0, -0.0)};
    return (cwb_moves){cwb_choice_of(layer->up[c], layer->down[c]),
                       cwb_choice_of(layer->d[c], -layer->d[c])};
}

/* Entries of R times the factors of their rows and of their column, zero if they are too small. A
 * NaN stays, so that it is noticed. */
CWB_INLINE cwb_doubles cwb_moved(cwb_doubles x, cwb_doubles row, cwb_mask h, const cwb_moves *m) {
    x = cwb_mul(cwb_mul(x, row), cwb_choose(h, m->factor));
    return cwb_drop(cwb_below(cwb_splat(-CWB_FLUSH), x), x);
}

/* A strip at r (and f) and a class that none of its examples is of. */
CWB_INLINE void cwb_strip_others(cwb_strip *s, cwb_doubles *least, double *r, double *f,
                                 const uint8_t *h, const cwb_doubles *row, const cwb_moves *m,
                                 int scores_move) {
    CWB_UNROLL
    for (int k = 0; k < CWB_STRIP; k++) {
        const cwb_mask bits = cwb_mask_at(h + k);
        const cwb_doubles x = cwb_moved(cwb_load(r + 8 * k), row[k], bits, m);
        cwb_store(r + 8 * k, x);
        s->sums[k] = cwb_sub(s->sums[k], x);
        least[k] = cwb_min(least[k], x);
        const cwb_doubles score = cwb_add(cwb_load(f + 8 * k), cwb_choose(bits, m->move));
        if (scores_move) cwb_store(f + 8 * k, score);
        s->margins[k] = cwb_add(s->margins[k], cwb_mul(x, score));
    }
}

/* The same for the classes first to last - 1. */
CWB_INLINE void cwb_strip_classes(cwb_strip *s, cwb_doubles *least, const cwb_master *m,
                                  const cwb_layer *layer, int64_t first, int64_t last, int64_t byte,
                                  const cwb_doubles *row) {
    static const uint8_t no_bits[CWB_STRIP] = {0};
    double *r = m->R + 8 * byte, *f = m->scores + 8 * byte;
    const int64_t ahead = m->n_classes >= CWB_MANY_CLASSES ? CWB_CLASSES_AHEAD * m->stride
                          : m->n_classes * m->stride >= CWB_LARGE / 2 ? CWB_AHEAD
                                                                      : 0;
    for (int64_t c = first; c < last; c++) {
        const cwb_moves moves = cwb_moves_of(layer, c);
        if (ahead) {
            CWB_UNROLL
            for (int k = 0; k < CWB_STRIP; k++) {
                CWB_PREFETCH(r + c * m->stride + ahead + 8 * k);
                CWB_PREFETCH(f + c * m->stride + ahead + 8 * k);
            }
        }
        const uint8_t *h = layer ? layer->columns[c] + byte : no_bits;
        cwb_strip_others(s, least, r + c * m->stride, f + c * m->stride, h, row, &moves,
                         layer != NULL);
    }
}

/* A whole strip of examples of class y: their own scores move. */
CWB_INLINE void cwb_strip_own(const cwb_master *m, const cwb_layer *layer, int64_t y,
                              int64_t byte) {
    if (!layer) return;
    const cwb_choice move = cwb_moves_of(layer, y).move;
    CWB_UNROLL
    for (int k = 0; k < CWB_STRIP; k++) {
        double *f = m->scores + y * m->stride + 8 * (byte + k);
        const cwb_mask bits = cwb_mask_at(layer->columns[y] + byte + k);
        cwb_store(f, cwb_add(cwb_load(f), cwb_choose(bits, move)));
    }
}

/* Byte k of a strip and class c, which some of its examples may be of. */
CWB_INLINE void cwb_strip_mixed(cwb_strip *s, int k, const cwb_master *m, const cwb_layer *layer,
                                int64_t c, int64_t byte, cwb_doubles row) {
    double *r = m->R + c * m->stride + 8 * byte, *f = m->scores + c * m->stride + 8 * byte;
    const cwb_mask h = cwb_mask_of(layer ? layer->columns[c][byte] : 0);
    const cwb_mask own = cwb_mask_of(cwb_valid(byte, m->starts[c], m->starts[c + 1]));
    const cwb_mask behind = cwb_mask_of(cwb_valid(byte, m->starts[c + 1], INT64_MAX));
    const cwb_moves moves = cwb_moves_of(layer, c);
    const cwb_doubles old = cwb_load(r), x = cwb_drop(own, cwb_moved(old, row, h, &moves));
    cwb_store(r, cwb_pick(own, old, x));
    s->sums[k] = cwb_sub(s->sums[k], x);
    s->lower[k] = cwb_min(s->lower[k], cwb_keep(behind, x));
    s->higher[k] = cwb_min(s->higher[k], cwb_drop(behind, x));
    const cwb_doubles score = cwb_add(cwb_load(f), cwb_choose(h, moves.move));
    cwb_store(f, score);
    s->margins[k] = cwb_add(s->margins[k], cwb_mul(x, score));
}

/* A strip of n bytes, over all classes; in a whole one, the classes before and after those of its
 * examples need no masks. */
CWB_INLINE void cwb_strip_update(cwb_strip *s, const cwb_master *m, const cwb_layer *layer,
                                 int64_t byte, int n, const cwb_doubles *row) {
    const int32_t *label = m->label + 8 * byte;
    const int whole = n == CWB_STRIP && label[8 * CWB_STRIP - 1] >= 0;
    const int64_t first = whole ? label[0] : 0;
    const int64_t beyond = whole ? label[8 * CWB_STRIP - 1] + 1 : m->n_classes;
    cwb_strip_classes(s, s->lower, m, layer, 0, first, byte, row);
    if (whole && beyond == first + 1) {
        cwb_strip_own(m, layer, first, byte);
    } else {
        for (int64_t c = first; c < beyond; c++) {
            CWB_UNROLL
            for (int k = 0; k < CWB_STRIP; k++)
                if (k < n) cwb_strip_mixed(s, k, m, layer, c, byte + k, row[k]);
        }
    }
    cwb_strip_classes(s, s->higher, m, layer, beyond, m->n_classes, byte, row);
}

/* A bit for each example with a pair of mu > w, and mu >= w if it is against a lower class. */
CWB_INLINE unsigned cwb_wrong(cwb_doubles lower, cwb_doubles higher, cwb_doubles weight) {
    const cwb_doubles behind = cwb_sub(cwb_add(lower, weight), cwb_splat(DBL_MIN));
    return cwb_signs(behind) | cwb_signs(cwb_add(higher, weight));
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
 * scores (F_c += d_c h_c), and weigh errors. Without a layer (null) nothing moves. Costs
 * 2 n_classes loads and stores per example.
 *
 * mu > w is a negative margin; a zero one loses only against a lower class. */
static void CWB_NAME(tile)(const cwb_master *m, const cwb_layer *layer, int64_t first_byte,
                           int64_t last_byte, cwb_tile_sums *out) {
    cwb_doubles row[CWB_TILE], loss = cwb_zero(), margins = cwb_zero();
    out->errors = 0.0;
    cwb_row_factors(m, layer, first_byte, last_byte, row);
    for (int64_t byte = first_byte; byte < last_byte; byte += CWB_STRIP) {
        const cwb_doubles *at = row + (byte - first_byte);
        const int n = last_byte - byte < CWB_STRIP ? (int)(last_byte - byte) : CWB_STRIP;
        cwb_strip s;
        cwb_strip_start(&s);
        if (layer)
            cwb_strip_update(&s, m, layer, byte, n, at);
        else
            cwb_strip_update(&s, m, NULL, byte, n, at);
        CWB_UNROLL
        for (int k = 0; k < CWB_STRIP; k++) {
            if (k >= n) continue;
            loss = cwb_add(loss, s.sums[k]);
            margins = cwb_add(margins, s.margins[k]);
            margins = cwb_add(margins, cwb_own_sums(m, byte + k, s.sums[k]));
            const double *weight = m->example_weight + 8 * (byte + k);
            unsigned wrong = cwb_wrong(s.lower[k], s.higher[k], cwb_load(weight)) &
                             cwb_valid(byte + k, 0, m->starts[m->n_classes]);
            for (int l = 0; wrong >> l; l++)
                if (wrong >> l & 1) out->errors += weight[l];
        }
    }
    out->loss = cwb_sum(loss);
    out->margins = cwb_sum(margins);
}

#undef CWB_FLUSH
#undef CWB_STRIP
#undef CWB_MANY_CLASSES
#undef CWB_CLASSES_AHEAD
