"""Features as small integers, and kernel values of examples and landmarks."""

from libc.stdint cimport int64_t

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "kernel_values/kernel_values.h" nogil:
    const double CWB_ROUND
    void cwb_kernel_values "CWB_BEST(kernel_values_of_squares)"(
        const float *d, int64_t n, float factor, float unit, double *out)

cwb_set = instruction_set()


def fill_codes(const feature_t[:, :] X, const double[::1] centre, const double[::1] scale,
               double largest, float[:, ::1] codes):
    """Fill `codes` with ``round((X - centre) * scale)``, cut off beyond `largest`.

    Results that are NaN count as 0.

    Parameters
    ----------
    X : ndarray of shape (n, d), dtype uint8, float32 or float64
        See `cwboost.kernels.readable`.
    centre, scale : ndarray of shape (d,), dtype float64
    largest : float
    codes : ndarray of shape (n, d), dtype float32
    """
    cdef int64_t n = X.shape[0], d = X.shape[1], i
    if codes.shape[0] != n or codes.shape[1] != d or centre.shape[0] != d or scale.shape[0] != d:
        raise ValueError("X, centre, scale and codes do not fit together")
    if n == 0 or d == 0:
        return
    with nogil:
        for i in range(n):
            # Two loops, so that the compiler makes vectors of the usual one.
            if X.strides[1] == <int64_t> sizeof(feature_t):
                fill_row(&X[i, 0], 1, d, &centre[0], &scale[0], largest, &codes[i, 0])
            else:
                fill_row(&X[i, 0], X.strides[1] // <int64_t> sizeof(feature_t), d, &centre[0],
                         &scale[0], largest, &codes[i, 0])


cdef inline void fill_row(const feature_t *x, int64_t step, int64_t d, const double *centre,
                          const double *scale, double largest, float *codes) noexcept nogil:
    cdef int64_t j
    cdef double code
    for j in range(d):
        code = (<double> x[j * step] - centre[j]) * scale[j]
        code = code if code == code else 0.0
        code = code if code < largest else largest
        code = code if code > -largest else -largest
        codes[j] = <float> ((code + CWB_ROUND) - CWB_ROUND)


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
