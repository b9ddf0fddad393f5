"""Kernel values of examples and landmarks."""

from libc.stdint cimport int64_t

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set

cdef extern from "kernel_values/kernel_values.h" nogil:
    void cwb_kernel_values "CWB_BEST(kernel_values_of_squares)"(
        const float *d, int64_t n, float factor, float unit, double *out)

cwb_set = instruction_set()


def fill_kernel_values(const float[:, ::1] squared, float factor, float unit, double[:, ::1] out):
    """Fill `out` with ``round(unit / (1 + factor d)**4)`` of the entries d of `squared`.

    Parameters
    ----------
    squared : ndarray of shape (n, m), dtype float32
        Squared distances.
    factor : float
        One over four times the width of the kernel.
    unit : float
        Below 2**22.
    out : ndarray of shape (n, m), dtype float64
        It may not overlap `squared`.
    """
    cdef int64_t n = squared.shape[0] * squared.shape[1]
    if out.shape[0] != squared.shape[0] or out.shape[1] != squared.shape[1]:
        raise ValueError("squared and out must have the same shape")
    if not 0 < unit < 2**22:
        raise ValueError(f"unit must be above 0 and below 2**22, got {unit}")
    if n:
        with nogil:
            cwb_kernel_values(&squared[0, 0], n, factor, unit, &out[0, 0])
