/* All kernels of the stump search for one instruction set. */
#include "common/lanes.h"
#include "stumps/ints.h"

/* Lanes by which rows grow: one group of targets, or one register if that is wider. */
#if CWB_IS(AVX512)
#define CWB_UNIT_LANES CWB_INTS
#else
#define CWB_UNIT_LANES CWB_VECTOR
#endif
#define CWB_PARTS_OF_UNIT (CWB_UNIT_LANES / CWB_INTS)
#define CWB_MOST_PARTS (4 * CWB_PARTS_OF_UNIT)

#include "stumps/scan_body.h"
#include "stumps/settle_body.h"
#include "stumps/shared_body.h"
#include "stumps/weights_body.h"

static const int CWB_NAME(unit_lanes) = CWB_UNIT_LANES;
/* Most lanes of a row whose sums and maxima stay in registers. */
static const int CWB_NAME(most_lanes) = CWB_IS(SSE2) ? 2 * CWB_UNIT_LANES : 4 * CWB_UNIT_LANES;

#undef CWB_INTS
#undef CWB_UNIT_LANES
#undef CWB_PARTS_OF_UNIT
#undef CWB_MOST_PARTS
