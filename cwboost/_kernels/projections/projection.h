/* Projections of rows on many directions: the same bits everywhere.
 *
 *     z_j(x) = float32( sum_k x_k W[k, j] - offset_j )
 *
 * Each sum is computed separately in double, in ascending k: it does not depend on the other rows,
 * on the number of threads, on vectors, or on stored zeros. BLAS promises none of this, but a stump
 * on z must give the same output in prediction as in training.
 *
 * Dense rows of finite numbers skip the features that eight neighbouring columns of W do not use.
 * The others are taken in blocks that fit the first cache, so that a block, once read, serves all
 * rows.
 *
 * Cost: a multiplication and an addition per entry of W and row, or per entry of W and non-zero.
 */
#pragma once

#include <float.h>
#include <math.h>
#include <stdint.h>

#define CWB_PROJ_LANES 8 /* columns of W per group */
#define CWB_PROJ_ROWS 4  /* rows that share a register of W while it is loaded */
#define CWB_PROJ_TASK 64 /* rows of a task */

#define CWB_BODY "projections/projection_body.h"
#include "common/for_each_target.h"
