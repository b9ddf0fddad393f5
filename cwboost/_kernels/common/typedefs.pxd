from libc.stdint cimport uint8_t

# A feature keeps its own dtype where a kernel reads it: pixels stay one byte each.
ctypedef fused feature_t:
    uint8_t
    float
    double
