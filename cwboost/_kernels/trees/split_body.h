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

/* Gains of the first n splits when (shift_sum, shift_mass) joins the left side; `node` is the sum
 * and the mass of both sides. Loops over arrays, which compilers turn into vectors. */
CWB_INLINE void CWB_NAME(gains_gini)(const cwb_scan *scan, int32_t n, double shift_sum,
                                     double shift_mass, cwb_sums node, double *gains) {
    const double parent = node.sum * node.sum / node.mass;
    for (int32_t i = 0; i < n; i++) {
        const double ls = scan->sum[i] + shift_sum, lm = scan->mass[i] + shift_mass;
        const double rs = node.sum - ls, rm = node.mass - lm;
        gains[i] = ls * ls / lm + rs * rs / rm - parent;
    }
}

CWB_INLINE void CWB_NAME(gains_edge)(const cwb_scan *scan, int32_t n, double shift_sum,
                                     cwb_sums node, double *gains) {
    for (int32_t i = 0; i < n; i++) {
        const double left = scan->sum[i] + shift_sum;
        gains[i] = fabs(left) + fabs(node.sum - left) - fabs(node.sum);
    }
}

static void CWB_NAME(gains)(int criterion, const cwb_scan *scan, int32_t n, double shift_sum,
                            double shift_mass, cwb_sums node, double *gains) {
    if (criterion == CWB_GINI) {
        CWB_NAME(gains_gini)(scan, n, shift_sum, shift_mass, node, gains);
    } else {
        CWB_NAME(gains_edge)(scan, n, shift_sum, node, gains);
    }
}

/* Fill scan->gain; returns the number of thresholds, of which the last is "values against
 * missing" if there are missing values. Side 0 of `gain` is only filled when there are. */
static int32_t CWB_NAME(all_gains)(cwb_scan *scan, const cwb_rules *rules) {
    const int missing = scan->missing_mass > 0.0;
    if (scan->n == 0) return 0;
    const int32_t n = scan->n - 1 + missing;
    const cwb_sums node = {scan->sum[scan->n - 1] + scan->missing_sum,
                           scan->mass[scan->n - 1] + scan->missing_mass};
    CWB_NAME(gains)(rules->criterion, scan, n, 0.0, 0.0, node, scan->gain[1]);
    if (missing) {
        CWB_NAME(gains)(rules->criterion, scan, n, scan->missing_sum, scan->missing_mass, node,
                        scan->gain[0]);
        scan->gain[0][n - 1] = -INFINITY; /* all on the left: not a split */
    }
    if (rules->least_mass > 0.0) cwb_forbid_light_leaves(scan, n, rules->least_mass);
    return n;
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

/* Best split from running sums: the first threshold of the largest gain, missing values on the left
 * before the right. gain = -inf if there is none. */
static void CWB_NAME(best_split)(cwb_scan *scan, const cwb_rules *rules, int32_t n_bins,
                                 cwb_split *split) {
    const int32_t n = CWB_NAME(all_gains)(scan, rules);
    double best = CWB_NAME(largest)(scan->gain[1], n);
    int side = 1, missing = scan->missing_mass > 0.0;
    if (missing) best = fmax(best, CWB_NAME(largest)(scan->gain[0], n));
    split->gain = -INFINITY;
    if (!(best > rules->least)) return;
    int32_t i = 0;
    while (scan->gain[1][i] != best && !(missing && scan->gain[0][i] == best)) i++;
    if (missing && scan->gain[0][i] == best) side = 0;
    cwb_describe(scan, side, i, n_bins, split);
}
