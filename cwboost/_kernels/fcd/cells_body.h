/* A step of every class in every cell of a division of the examples: F_c(i) += move_c(cell of i),
 * and the pair weights that follow. */

#define cwb_moves_at CWB_NAME(cwb_moves_at)
#define cwb_own_scores CWB_NAME(cwb_own_scores)
#define cwb_move_block CWB_NAME(cwb_move_block)

/* Bytes of bits whose rows of R and F, of all classes, fit into the second-level cache; at least
 * whole strips of the tile pass. */
#define CWB_CACHED (1 << 18)
#define CWB_FEWEST_BYTES 8

/* The moves of eight examples from `first` on; 0 for those of the padding. */
CWB_INLINE cwb_doubles cwb_moves_at(const double *move, const cwb_master *m, const int32_t *cell,
                                    int64_t first) {
    const int64_t n = m->starts[m->n_classes] - first;
    if (n >= 8) return cwb_gather(move, cell + first);
    double lane[8] = {0.0};
    for (int64_t l = 0; l < n; l++) lane[l] = move[cell[first + l]];
    return cwb_load(lane);
}

/* The scores of eight examples for their own classes; 0 in the padding. */
CWB_INLINE cwb_doubles cwb_own_scores(const cwb_master *m, int64_t byte) {
    const int32_t *label = m->label + 8 * byte;
    if (label[0] == label[7] && label[0] >= 0)
        return cwb_load(m->scores + label[0] * m->stride + 8 * byte);
    double lane[8] = {0.0};
    for (int l = 0; l < 8 && label[l] >= 0; l++)
        lane[l] = m->scores[label[l] * m->stride + 8 * byte + l];
    return cwb_load(lane);
}

/* Scores and pair weights of the examples of some bytes. The own entries of R are left to the tile
 * pass. */
CWB_INLINE void cwb_move_block(const cwb_master *m, const cwb_cells *cells, int64_t first,
                               int64_t beyond) {
    cwb_doubles own[CWB_TILE];
    for (int64_t c = cells->first; c < m->n_classes; c++) {
        double *F = m->scores + c * m->stride;
        const double *move = cells->moves + (c - cells->first) * cells->n_cells;
        for (int64_t b = first; b < beyond; b++)
            cwb_store(F + 8 * b,
                      cwb_add(cwb_load(F + 8 * b), cwb_moves_at(move, m, cells->cell, 8 * b)));
    }
    for (int64_t b = first; b < beyond; b++) own[b - first] = cwb_own_scores(m, b);
    for (int64_t c = 0; c < m->n_classes; c++) {
        const double *F = m->scores + c * m->stride;
        double *r = m->R + c * m->stride;
        for (int64_t b = first; b < beyond; b++) {
            const cwb_doubles x = cwb_signed_mu(cwb_load(F + 8 * b), own[b - first],
                                                cwb_load(m->example_weight + 8 * b));
            const cwb_mask is_own = cwb_mask_of(cwb_valid(b, m->starts[c], m->starts[c + 1]));
            cwb_store(r + 8 * b, cwb_drop(is_own, x));
        }
    }
}

/* One tile of examples: move the scores by cell, recompute R, and take the sums of the tile pass.
 * Costs 3 n_classes loads and stores and n_classes exponentials per example. */
static void CWB_NAME(move_cells)(const cwb_master *m, const cwb_cells *cells, int64_t first_byte,
                                 int64_t last_byte, cwb_tile_sums *out) {
    int64_t size = CWB_CACHED / (128 * m->n_classes) / CWB_FEWEST_BYTES * CWB_FEWEST_BYTES;
    if (size < CWB_FEWEST_BYTES) size = CWB_FEWEST_BYTES;
    *out = (cwb_tile_sums){0.0, 0.0, 0.0};
    for (int64_t b = first_byte; b < last_byte; b += size) {
        const int64_t beyond = b + size < last_byte ? b + size : last_byte;
        cwb_tile_sums part;
        cwb_move_block(m, cells, b, beyond);
        CWB_NAME(tile)(m, NULL, b, beyond, &part);
        out->loss += part.loss;
        out->margins += part.margins;
        out->errors += part.errors;
    }
}

#undef CWB_CACHED
#undef CWB_FEWEST_BYTES
