/* The bins of values: with bounds b_0 < b_1 < ..., the largest values of a feature's bins, the code
 * of x is the number of bounds but the last that lie below x. Costs n searches. */
#pragma once

#include <math.h>
#include <stdint.h>

#define CWB_BOUNDS 256 /* places for the bounds of a feature; those not used are infinite */

#define CWB_BODY "trees/binning_body.h"
#include "common/for_each_target.h"
