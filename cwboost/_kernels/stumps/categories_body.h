/* sums[8 codes[i] + t] += rows[8 i + t] for all examples i and lanes t. */
static void CWB_NAME(add_to_categories)(const double *rows, const int32_t *codes, int64_t n,
                                        double *sums) {
    for (int64_t i = 0; i < n; i++) {
        double *sum = sums + CWB_CATEGORY_LANES * (int64_t)codes[i];
        cwb_store(sum, cwb_add(cwb_load(sum), cwb_load(rows + CWB_CATEGORY_LANES * i)));
    }
}
