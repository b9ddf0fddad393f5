/* Kernel value of two examples, from the square d of their distance, in whole units:
 *
 *     round( unit / (1 + factor d)^4 ),   factor = 1 / (4 width).
 *
 * Every step is one operation on single-precision numbers, each rounded on its own, so that the
 * bits are the same everywhere. The unit is below 2^22, so that CWB_ROUND_FLOAT rounds.
 *
 * Cost: five operations per entry, of which the division takes most; memory bounds it.
 */
#pragma once

#include <stdint.h>

#include "common/rounding.h"

#define CWB_BODY "kernel_values/kernel_values_body.h"
#include "common/for_each_target.h"
