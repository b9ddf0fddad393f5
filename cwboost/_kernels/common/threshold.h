/* A threshold between two neighbouring values a < b of a feature: t with a <= t < b and, if a and b
 * differ in float32, float32(a) <= t < float32(b) as well, so that a float32 copy of the data falls
 * on the same side. */
#pragma once

#include <float.h>
#include <math.h>

/* The numbers that separate a from b: [low, high), for float32 copies too if possible. */
typedef struct {
    double low, high;
} cwb_gap;

static inline cwb_gap cwb_gap_between(double a, double b) {
    const cwb_gap gap = {fmax(a, (double)(float)a), fmin(b, (double)(float)b)};
    const cwb_gap exact = {a, b};
    return gap.low < gap.high ? gap : exact;
}

/* Near the middle. Finite unless a is +inf or b is the lowest finite number. */
static inline double cwb_threshold_between(double a, double b) {
    cwb_gap gap = cwb_gap_between(a, b);
    if (gap.low < -DBL_MAX && gap.high > -DBL_MAX) gap.low = -DBL_MAX;
    if (gap.high > DBL_MAX && gap.low < DBL_MAX) gap.high = DBL_MAX;
    const double middle = 0.5 * gap.low + 0.5 * gap.high;
    return middle >= gap.low && middle < gap.high ? middle : gap.low;
}

/* Near the middle, and a float32 number if there is one. */
static inline double cwb_float32_threshold_between(double a, double b) {
    const cwb_gap gap = cwb_gap_between(a, b);
    /* Infinite and huge ends: halfway within the float32 numbers if they reach in between. */
    double from = fmax(gap.low, -FLT_MAX), to = fmin(gap.high, FLT_MAX);
    if (!(from < to)) {
        from = fmax(gap.low, -DBL_MAX);
        to = fmin(gap.high, DBL_MAX);
    }
    const double half = from / 2 + to / 2, half32 = (double)(float)half;
    if (gap.low <= half32 && half32 < gap.high && !isinf(half32)) return half32;
    return gap.low <= half && half < gap.high ? half : gap.low;
}
