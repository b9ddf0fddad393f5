"""Features as small integers."""

from libc.stdint cimport int64_t

from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "common/rounding.h" nogil:
    const double CWB_ROUND


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
