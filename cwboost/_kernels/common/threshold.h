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

/* A threshold t with a <= t < b that also separates the float32 roundings of a and b where these
 * differ; halfway, and itself a float32 number, where that can be had. */
static inline double cwb_threshold(double a, double b) {
    const double a32 = (double)(float)a, b32 = (double)(float)b;
    double low = a32 > a ? a32 : a, high = b32 < b ? b32 : b;
    if (!(low < high)) {
        low = a;
        high = b;
    }
    /* Infinite and huge ends: halfway within the float32 numbers if they reach in between. */
    double from = low < -FLT_MAX ? -FLT_MAX : low, to = high > FLT_MAX ? FLT_MAX : high;
    if (!(from < to)) {
        from = low < -DBL_MAX ? -DBL_MAX : low;
        to = high > DBL_MAX ? DBL_MAX : high;
    }
    const double half = from / 2 + to / 2, half32 = (double)(float)half;
    if (low <= half32 && half32 < high && !isinf(half32)) return half32;
    return low <= half && half < high ? half : low;
}

#endif
