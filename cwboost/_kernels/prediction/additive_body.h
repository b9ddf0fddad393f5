/* The bodies of additive.h. The scores of a slab lie side by side, in up to four groups of four;
 * a group is CWB_GROUP registers. */

#define cwb_group CWB_NAME(cwb_group)
#define cwb_group_load CWB_NAME(cwb_group_load)
#define cwb_group_store CWB_NAME(cwb_group_store)
#define cwb_group_add CWB_NAME(cwb_group_add)
#define cwb_search CWB_NAME(cwb_search)
#define cwb_value CWB_NAME(cwb_value)
#define cwb_slots_of CWB_NAME(cwb_slots_of)
#define cwb_add_rows CWB_NAME(cwb_add_rows)
#define cwb_dense_of CWB_NAME(cwb_dense_of)

/* Four scores. AVX-512 adds them in half a register: a slab of ten has three groups. */
#if CWB_IS(AVX512) || CWB_IS(AVX2)
typedef struct {
    __m256d part;
} cwb_group;
CWB_INLINE cwb_group cwb_group_load(const double *p) { return (cwb_group){_mm256_loadu_pd(p)}; }
CWB_INLINE void cwb_group_store(double *p, cwb_group x) { _mm256_storeu_pd(p, x.part); }
CWB_INLINE cwb_group cwb_group_add(cwb_group x, const double *p) {
    return (cwb_group){x.part + _mm256_loadu_pd(p)};
}
#else
#define CWB_GROUP (4 / CWB_LANES)
typedef struct {
    cwb_register part[CWB_GROUP];
} cwb_group;
CWB_INLINE cwb_group cwb_group_load(const double *p) {
    cwb_group x;
    CWB_UNROLL
    for (int k = 0; k < CWB_GROUP; k++) x.part[k] = cwb_r_load(p + CWB_LANES * k);
    return x;
}
CWB_INLINE void cwb_group_store(double *p, cwb_group x) {
    CWB_UNROLL
    for (int k = 0; k < CWB_GROUP; k++) cwb_r_store(p + CWB_LANES * k, x.part[k]);
}
CWB_INLINE cwb_group cwb_group_add(cwb_group x, const double *p) {
    CWB_UNROLL
    for (int k = 0; k < CWB_GROUP; k++) x.part[k] += cwb_r_load(p + CWB_LANES * k);
    return x;
}
#undef CWB_GROUP
#endif

/* Slots of n values; n is a constant for a full batch. */
CWB_INLINE void cwb_search(const double *x, int n, const double *t, int64_t m, int32_t *slot) {
    int64_t pos[CWB_ADD_BATCH] = {0};
    if (m <= CWB_ADD_LINEAR) {
        for (int64_t k = 0; k < m; k++)
            for (int j = 0; j < n; j++) pos[j] += t[k] < x[j];
    } else {
        int64_t left = m;
        while (left > 1) {
            const int64_t half = left / 2;
            for (int j = 0; j < n; j++) pos[j] += t[pos[j] + half - 1] < x[j] ? half : 0;
            left -= half;
        }
        for (int j = 0; j < n; j++) pos[j] += t[pos[j]] < x[j];
    }
    for (int j = 0; j < n; j++) slot[j] = (int32_t)(x[j] != x[j] ? m + 1 : pos[j]);
}

/* Element k of an array of a type, which is a constant after inlining. */
CWB_INLINE double cwb_value(const void *data, int type, int64_t k) {
    if (type == CWB_U8) return ((const uint8_t *)data)[k];
    if (type == CWB_F32) return ((const float *)data)[k];
    return ((const double *)data)[k];
}

/* The slots of entry e for all rows of a block. */
CWB_INLINE void cwb_slots_of(const cwb_additive *a, const cwb_rows *x, int type, int64_t e,
                             int32_t *slots) {
    const int64_t at = a->feature[e] * x->column_step;
    if (type == CWB_U8) {
        const uint8_t *lut = a->lut + 256 * e, *column = (const uint8_t *)x->data + at;
        for (int r = 0; r < x->n_rows; r++) slots[r] = lut[column[r * x->row_step]];
        return;
    }
    const double *t = a->thresholds + a->threshold_start[e];
    const int64_t m = a->threshold_start[e + 1] - a->threshold_start[e];
    double batch[CWB_ADD_BATCH];
    int r = 0;
    for (; r + CWB_ADD_BATCH <= x->n_rows; r += CWB_ADD_BATCH) {
        for (int j = 0; j < CWB_ADD_BATCH; j++)
            batch[j] = cwb_value(x->data, type, at + (r + j) * x->row_step);
        cwb_search(batch, CWB_ADD_BATCH, t, m, slots + r);
    }
    for (; r < x->n_rows; r++) {
        batch[0] = cwb_value(x->data, type, at + r * x->row_step);
        cwb_search(batch, 1, t, m, slots + r);
    }
}

/* Add the values of n entries in their slots to the sums, `groups` groups per row: two rows at a
 * time, whose additions are independent. */
CWB_INLINE void cwb_add_rows(const double *const *tables, int n, int n_rows,
                             int32_t (*slots)[CWB_ADD_ROWS], double (*sums)[CWB_ADD_LANES],
                             const int groups) {
    int r = 0;
    for (; r + 1 < n_rows; r += 2) {
        cwb_group s[4], t[4];
        CWB_UNROLL
        for (int v = 0; v < groups; v++) {
            s[v] = cwb_group_load(sums[r] + 4 * v);
            t[v] = cwb_group_load(sums[r + 1] + 4 * v);
        }
        for (int e = 0; e < n; e++) {
            const double *p = tables[e] + (int64_t)slots[e][r] * (4 * groups);
            const double *q = tables[e] + (int64_t)slots[e][r + 1] * (4 * groups);
            CWB_UNROLL
            for (int v = 0; v < groups; v++) {
                s[v] = cwb_group_add(s[v], p + 4 * v);
                t[v] = cwb_group_add(t[v], q + 4 * v);
            }
        }
        CWB_UNROLL
        for (int v = 0; v < groups; v++) {
            cwb_group_store(sums[r] + 4 * v, s[v]);
            cwb_group_store(sums[r + 1] + 4 * v, t[v]);
        }
    }
    for (int e = 0; r < n_rows && e < n; e++) {
        const double *p = tables[e] + (int64_t)slots[e][r] * (4 * groups);
        for (int k = 0; k < 4 * groups; k++) sums[r][k] += p[k];
    }
}

/* A block of rows, of a type that is a constant. */
CWB_INLINE void cwb_dense_of(const cwb_additive *a, const cwb_rows *x, int type, double *out) {
    int32_t slots[CWB_ADD_ENTRIES][CWB_ADD_ROWS];
    double sums[CWB_ADD_ROWS][CWB_ADD_LANES];
    const double *tables[CWB_ADD_ENTRIES];
    for (int64_t slab = 0; slab < a->n_slabs; slab++) {
        for (int r = 0; r < x->n_rows; r++)
            memcpy(sums[r], a->base + slab * CWB_ADD_LANES, sizeof sums[r]);
        const int64_t end = a->slab_entries[slab + 1];
        for (int64_t first = a->slab_entries[slab]; first < end; first += CWB_ADD_ENTRIES) {
            const int n = end - first < CWB_ADD_ENTRIES ? (int)(end - first) : CWB_ADD_ENTRIES;
            for (int e = 0; e < n; e++) {
                cwb_slots_of(a, x, type, first + e, slots[e]);
                tables[e] = a->table + a->table_start[first + e];
            }
            const int groups = a->slab_vectors[slab];
            if (groups == 1) cwb_add_rows(tables, n, x->n_rows, slots, sums, 1);
            if (groups == 2) cwb_add_rows(tables, n, x->n_rows, slots, sums, 2);
            if (groups == 3) cwb_add_rows(tables, n, x->n_rows, slots, sums, 3);
            if (groups == 4) cwb_add_rows(tables, n, x->n_rows, slots, sums, 4);
        }
        for (int r = 0; r < x->n_rows; r++) cwb_slab_out(a, slab, sums[r], out + r * a->n_scores);
    }
}

static void CWB_NAME(additive_dense)(const cwb_additive *a, const cwb_rows *x, double *out) {
    if (x->type == CWB_U8) cwb_dense_of(a, x, CWB_U8, out);
    if (x->type == CWB_F32) cwb_dense_of(a, x, CWB_F32, out);
    if (x->type == CWB_F64) cwb_dense_of(a, x, CWB_F64, out);
}

/* One row by its `count` stored elements; the tables hold differences to the value at 0. */
static void CWB_NAME(additive_sparse)(const cwb_additive *a, const double *data,
                                      const int32_t *columns, int64_t count, double *out) {
    double sums[CWB_ADD_LANES];
    for (int64_t slab = 0; slab < a->n_slabs; slab++) {
        const int32_t *entry_of = a->entry_of + slab * a->n_mapped;
        const int width = 4 * a->slab_vectors[slab];
        memcpy(sums, a->base + slab * CWB_ADD_LANES, sizeof sums);
        for (int64_t k = 0; k < count; k++) {
            const int32_t e = columns[k] < a->n_mapped ? entry_of[columns[k]] : -1;
            if (e < 0) continue;
            const int64_t start = a->threshold_start[e];
            int32_t slot;
            cwb_search(data + k, 1, a->thresholds + start, a->threshold_start[e + 1] - start,
                       &slot);
            const double *p = a->table + a->table_start[e] + (int64_t)slot * width;
            for (int v = 0; v < width; v++) sums[v] += p[v];
        }
        cwb_slab_out(a, slab, sums, out);
    }
}
