/* Loops over arrays, which compilers turn into vectors; see pairs.h. */

CWB_INLINE void CWB_NAME(add_in_lanes)(const uint8_t *outer, const cwb_coarse *inner,
                                       const double *rows, int64_t n, double *table,
                                       const int64_t lanes) {
    for (int64_t i = 0; i < n; i++) {
        double *cell = table + (outer[i] * inner->n_codes + inner->codes[i]) * lanes;
        for (int64_t l = 0; l < lanes; l++) cell[l] += rows[i * lanes + l];
    }
}

/* table[(outer code, inner code, lane)] = sum of rows[(i, lane)]; lanes are 1, 2, 4 or 8. */
static void CWB_NAME(pair_table)(const cwb_coarse *outer, const cwb_coarse *inner,
                                 const double *rows, int64_t n, int64_t lanes, double *table) {
    memset(table, 0, sizeof(double) * outer->n_codes * inner->n_codes * lanes);
    if (lanes == 1)
        CWB_NAME(add_in_lanes)(outer->codes, inner, rows, n, table, 1);
    else if (lanes == 2)
        CWB_NAME(add_in_lanes)(outer->codes, inner, rows, n, table, 2);
    else if (lanes == 4)
        CWB_NAME(add_in_lanes)(outer->codes, inner, rows, n, table, 4);
    else
        CWB_NAME(add_in_lanes)(outer->codes, inner, rows, n, table, 8);
}

/* The weights of one child code on either side of every split of the root, from a row of the
 * table; `width` is the number of splits times lanes. */
static void CWB_NAME(sides_of_splits)(const double *row, const cwb_coarse *root, int64_t lanes,
                                      int64_t width, double *left, double *right) {
    const int64_t values = root->n_bins * lanes;
    memcpy(left, row, sizeof(double) * lanes);
    for (int64_t w = lanes; w < values; w++) left[w] = left[w - lanes] + row[w];
    for (int64_t w = values; w < width; w += lanes)
        for (int64_t l = 0; l < lanes; l++) left[w + l] = left[w - values + l] + row[values + l];
    for (int64_t w = 0; w < width; w += lanes)
        for (int64_t l = 0; l < lanes; l++) right[w + l] = left[width - lanes + l] - left[w + l];
}

/* best = the largest |P| + |S - P| of this and earlier splits of the child. */
CWB_INLINE void CWB_NAME(keep_edges)(const double *restrict below, const double *restrict all,
                                     const double *restrict missing, int64_t width,
                                     double *restrict best) {
    for (int64_t w = 0; w < width; w++) {
        const double p = missing ? below[w] + missing[w] : below[w];
        const double edge = fabs(p) + fabs(all[w] - p);
        best[w] = edge > best[w] ? edge : best[w];
    }
}

/* The best stump of a child on one side of every split, from part[(code, split and lane)]; `room`
 * has three rows. */
static void CWB_NAME(best_of_child)(const double *part, const cwb_coarse *child, int64_t width,
                                    double *room, int32_t place, double *edge, int32_t *best) {
    double *restrict all = room, *restrict below = room + width, *restrict most = below + width;
    const double *missing = child->n_codes > child->n_bins ? part + child->n_bins * width : NULL;
    memset(room, 0, sizeof(double) * 3 * width);
    for (int64_t b = 0; b < child->n_codes; b++)
        for (int64_t w = 0; w < width; w++) all[w] += part[b * width + w];
    for (int64_t b = 0; b < child->n_bins; b++) {
        for (int64_t w = 0; w < width; w++) below[w] += part[b * width + w];
        CWB_NAME(keep_edges)(below, all, NULL, width, most);
        if (missing) CWB_NAME(keep_edges)(below, all, missing, width, most);
    }
    for (int64_t w = 0; w < width; w++)
        if (most[w] > edge[w] || (most[w] == edge[w] && place < best[w])) {
            edge[w] = most[w];
            best[w] = place;
        }
}

/* Let the roots of one feature know a child, number `place`, from the table of child and root
 * codes. `room` is for 2 (child codes) + 3 rows of all splits and lanes. */
static void CWB_NAME(try_child)(const double *table, const cwb_coarse *root,
                                const cwb_coarse *child, int64_t lanes, double *room, int32_t place,
                                cwb_roots known) {
    const int64_t width = cwb_n_splits(root) * lanes;
    double *left = room, *right = left + child->n_codes * width;
    for (int64_t b = 0; b < child->n_codes; b++)
        CWB_NAME(sides_of_splits)(table + b * root->n_codes * lanes, root, lanes, width,
                                  left + b * width, right + b * width);
    double *rest = right + child->n_codes * width;
    CWB_NAME(best_of_child)(left, child, width, rest, place, known.edge, known.child);
    CWB_NAME(best_of_child)(right, child, width, rest, place, known.edge + width,
                            known.child + width);
}

/* The same table with its axes exchanged. */
static void CWB_NAME(turn_table)(const double *table, int64_t n_outer, int64_t n_inner,
                                 int64_t lanes, double *turned) {
    for (int64_t a = 0; a < n_outer; a++)
        for (int64_t b = 0; b < n_inner; b++)
            memcpy(turned + (b * n_outer + a) * lanes, table + (a * n_inner + b) * lanes,
                   sizeof(double) * lanes);
}
