/* First and second derivatives of the loss along directions in the space of the coefficients,
 * given by their changes of the scores. For the notation see fcd.h. */
#pragma once

#include <stdint.h>

#define CWB_MOST_DIRECTIONS 3
#define CWB_DIRECTION_SUMS 9 /* first derivatives, then the second: (0,0) (0,1) (0,2) (1,1) .. */

/* Signed weights R and n + 1 arrays of scores, all of n_classes rows of `stride` doubles. Direction
 * k < n leads from scores[k + 1] to scores[k]. */
typedef struct {
    const double *R;
    const double *const *scores;
    int64_t stride, n_classes;
    const int64_t *starts; /* examples of class c: [starts[c], starts[c + 1]) */
    int n;
} cwb_directions;

#define CWB_BODY "fcd/subspace_body.h"
#include "common/for_each_target.h"
