/* A threshold between two neighbouring values of a feature. */
#ifndef CWBOOST_THRESHOLD_H
#define CWBOOST_THRESHOLD_H

#include <float.h>
#include <math.h>

/* t with a <= t < b, near the middle; where float32 can tell a from b, float32(a) <= t <
 * float32(b) as well, so that a float32 copy of the data falls on the same side. Finite unless a
 * is +inf or b is the lowest finite number. */
static double cwb_threshold_between(double a, double b) {
    double low = fmax(a, (double)(float)a), high = fmin(b, (double)(float)b);
    if (!(low < high)) {
        low = a;
        high = b;
    }
    if (low < -DBL_MAX && high > -DBL_MAX) low = -DBL_MAX;
    if (high > DBL_MAX && low < DBL_MAX) high = DBL_MAX;
    const double middle = 0.5 * low + 0.5 * high;
    return middle >= low && middle < high ? middle : low;
}

#endif
