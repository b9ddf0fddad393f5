/* Eight examples at a time: eight doubles beside a byte of bits, in as many registers as the
 * instruction set needs. Included once per instruction set (see targets.h), so it has no guard of
 * its own but one per target.
 *
 *   cwb_doubles   eight doubles
 *   cwb_mask      eight truth values, from a byte of bits: the first example in the lowest bit
 *
 * In all operations a lane is an example; only cwb_sum adds across lanes, in one order. */
#include "common/lane_names.h"

#define CWB_LANES (CWB_REGISTER_BYTES / 8) /* doubles in a register */
#if CWB_IS(AVX512)
#define CWB_PARTS 1 /* registers that hold eight doubles */
#define CWB_PER_PART(of, ...) of(0, __VA_ARGS__)
#elif CWB_IS(AVX2)
#define CWB_PARTS 2
#define CWB_PER_PART(of, ...) of(0, __VA_ARGS__), of(1, __VA_ARGS__)
#else
#define CWB_PARTS 4
#define CWB_PER_PART(of, ...) \
    of(0, __VA_ARGS__), of(1, __VA_ARGS__), of(2, __VA_ARGS__), of(3, __VA_ARGS__)
#endif

#if CWB_IS(BASE) && !defined(CWB_LANES_OF_BASE)
#define CWB_LANES_OF_BASE
#include "common/registers_vector.h"
#include "common/eight.h"
#elif CWB_IS(AVX2) && !defined(CWB_LANES_OF_AVX2)
#define CWB_LANES_OF_AVX2
#include "common/registers_vector.h"
#include "common/eight.h"
#elif CWB_IS(AVX512) && !defined(CWB_LANES_OF_AVX512)
#define CWB_LANES_OF_AVX512
#include "common/registers_avx512.h"
#include "common/eight.h"
#endif
