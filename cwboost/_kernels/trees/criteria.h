/* Criteria of a split. An example of the node carries a signed weight r; with S the sum of r
 * and M the sum of |r| on a side, the criteria, all in units of mass, are
 *
 *     edge      sum over sides of |S|
 *     gini      sum over sides of S^2 / M                 (= mass - 2 * mass * gini impurity)
 *     entropy   sum over sides of P log P + N log N - M log M,  P = (M + S) / 2, N = (M - S) / 2
 *
 * and the gain of a split is the criterion of its two sides less that of the node. S and M are
 * exact, so that two features which divide a node alike have the same gain. M is not 0.
 */
#ifndef CWBOOST_TREE_CRITERIA_H
#define CWBOOST_TREE_CRITERIA_H

#include <math.h>

#include "common/elementary.h"
#include "trees/types.h"

static inline double cwb_xlogx(double x) { return x > 0.0 ? x * cwb_log(x) : 0.0; }

static inline double cwb_side(int criterion, double sum, double mass) {
    if (criterion == CWB_EDGE) return fabs(sum);
    if (criterion == CWB_GINI) return sum * sum / mass;
    return cwb_xlogx(0.5 * (mass + sum)) + cwb_xlogx(0.5 * (mass - sum)) - cwb_xlogx(mass);
}

#endif
