# The dtypes of the kernels, in one place.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

# A feature keeps its own dtype where a kernel reads it: pixels stay one byte each.
ctypedef fused feature_t:
    uint8_t
    float
    double

# Outputs of a column are packed, eight examples per byte, the first example in the lowest bit;
# a set bit is +1, a clear one -1. Padding bits after the last example are clear.
ctypedef uint8_t bits_t
