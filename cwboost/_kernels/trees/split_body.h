/* The search for the best split of one feature from the running sums of its histogram. An example
 * of the node carries a signed weight r; with S the sum of r and M the sum of |r| on a side, the
 * criteria, in units of mass, are
 *
 *     edge   sum over sides of |S|
 *     gini   sum over sides of S^2 / M                 (= mass - 2 * mass * gini impurity)
 *
 * and the gain of a split is the criterion of its two sides less that of the node. S and M are
 * exact, so that two features which divide a node alike have the same gain. M is not 0.
 *
 * One pass over the non-empty bins computes the gains (two with missing values), another takes
 * their maximum. */

/* Gains of n splits with these running sums if `shift` joins the left side of a node.
 * Loops over arrays, which compilers turn into vectors. */
CWB_INLINE void CWB_NAME(gains_gini)(const double *sum, const double *mass, int32_t n,
                                     cwb_sums shift, cwb_sums node, double *gains) {
    const double parent = node.sum * node.sum / node.mass;
    for (int32_t i = 0; i < n; i++) {
        const double ls = sum[i] + shift.sum, lm = mass[i] + shift.mass;
        const double rs = node.sum - ls, rm = node.mass - lm;
        gains[i] = (ls * ls * rm + rs * rs * lm) / (lm * rm) - parent;
    }
}

CWB_INLINE void CWB_NAME(gains_edge)(const double *sum, int32_t n, cwb_sums shift, cwb_sums node,
                                     double *gains) {
    for (int32_t i = 0; i < n; i++) {
        const double left = sum[i] + shift.sum;
        gains[i] = fabs(left) + fabs(node.sum - left) - fabs(node.sum);
    }
}

CWB_INLINE double CWB_NAME(largest)(const double *values, int32_t n) {
    cwb_doubles best = cwb_splat(-INFINITY);
    double lane[8], largest = -INFINITY;
    int32_t i = 0;
    for (; i + 8 <= n; i += 8) best = cwb_max(cwb_load(values + i), best);
    for (; i < n; i++) largest = values[i] > largest ? values[i] : largest;
    cwb_store(lane, best);
    for (int k = 0; k < 8; k++) largest = lane[k] > largest ? lane[k] : largest;
    return largest;
}

/* The largest gain of the splits of which both sides are heavy enough, -inf if there is none; with
 * the missing values, `shift`, on the left. `place` gets the first split that has it. */
static double CWB_NAME(best_of_side)(cwb_scan *scan, const cwb_rules *rules, int32_t n,
                                     cwb_sums shift, cwb_sums node, int32_t *place) {
    int32_t first = 0;
    while (first < n && scan->mass[first] + shift.mass < rules->least_mass) first++;
    while (n > first && node.mass - (scan->mass[n - 1] + shift.mass) < rules->least_mass) n--;
    const double *sum = scan->sum + first, *mass = scan->mass + first;
    n -= first;
    if (rules->criterion == CWB_GINI) {
        CWB_NAME(gains_gini)(sum, mass, n, shift, node, scan->gain);
    } else {
        CWB_NAME(gains_edge)(sum, n, shift, node, scan->gain);
    }
    const double best = CWB_NAME(largest)(scan->gain, n);
    int32_t i = 0;
    while (i < n && scan->gain[i] != best) i++;
    *place = first + i;
    return best;
}

/* Best split from running sums: the first threshold of the largest gain, missing values on the left
 * before the right. gain = -inf if there is none. The last threshold is "values against missing",
 * if there are missing values. */
static void CWB_NAME(best_split)(cwb_scan *scan, const cwb_rules *rules, int32_t n_bins,
                                 cwb_split *split) {
    split->gain = -INFINITY;
    if (scan->n == 0) return;
    const int missing = scan->missing_mass > 0.0;
    const cwb_sums none = {0.0, 0.0}, shift = {scan->missing_sum, scan->missing_mass};
    const cwb_sums node = {scan->sum[scan->n - 1] + shift.sum,
                           scan->mass[scan->n - 1] + shift.mass};
    int32_t place, other;
    int side = 1;
    double best = CWB_NAME(best_of_side)(scan, rules, scan->n - 1 + missing, none, node, &place);
    if (missing) {
        const double gain = CWB_NAME(best_of_side)(scan, rules, scan->n - 1, shift, node, &other);
        if (gain > best || (gain == best && other <= place)) {
            best = gain;
            place = other;
            side = 0;
        }
    }
    if (best > rules->least) cwb_describe(scan, best, side, place, n_bins, split);
}
