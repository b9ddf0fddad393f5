/* Bodies of votes.h. */

/* Add n_bytes of packed outputs to eight times that number of scores. */
static void CWB_NAME(vote)(const uint8_t *packed, int64_t n_bytes, double step, double *scores) {
    const cwb_doubles up = cwb_splat(step), down = cwb_splat(-step);
    for (int64_t b = 0; b < n_bytes; b++) {
        const cwb_doubles move = cwb_pick(cwb_mask_at(packed + b), up, down);
        cwb_store(scores + 8 * b, cwb_add(cwb_load(scores + 8 * b), move));
    }
}
