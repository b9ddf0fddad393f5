# Public Cython API of cwboost, for weak learners of other distributions:
#
#     from cwboost.kernels cimport assign_bit, packed_edge, packed_size
#
# Everything here is inline: it is compiled into the module that uses it, that module looks up
# nothing in cwboost when it is loaded, and a plugin built with one cwboost runs with another. For
# the same reason there are no extension types. The fields of a struct never change; a struct with
# other fields gets a new name. CYTHON_API_VERSION grows when a name is removed or changes its
# meaning.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

cdef enum:
    CYTHON_API_VERSION = 1

# Outputs of a learner are packed, eight examples per byte, the first example in the lowest bit; a
# set bit is +1, a clear one -1. Padding bits after the last example are clear.
ctypedef uint8_t bits_t

# A cut of a sorted feature: examples in places 0..position of the order are on the left. The
# learner with `polarity` on the right and -polarity on the left has this edge, which is not
# negative. position is n - 1 for the constant `-polarity`, with all examples on the left.
cdef struct Cut:
    double edge
    Py_ssize_t position
    int polarity


cdef extern from *:
    """
    /* The scan behind best_cuts. For a target whose weights sum to T, half = T / 2 - P walks down
     * the sorted examples; |half| is half the edge of a cut. Targets are walked eight at a time
     * (two at a time if there are fewer), so that the weights of an example are one cache line.
     * The scan keeps only the largest |half|; its chunk is scanned again for the position. */
    #ifndef CWBOOST_CUTS
    #define CWBOOST_CUTS
    #include <math.h>
    #include <stdint.h>
    #include <string.h>
    #if defined(__SSE2__)
    #include <emmintrin.h>
    typedef __m128d cwboost_pair;
    #define CWBOOST_LOAD(p) _mm_loadu_pd(p)
    #define CWBOOST_STORE(p, a) _mm_storeu_pd(p, a)
    #define CWBOOST_SUB(a, b) _mm_sub_pd(a, b)
    #define CWBOOST_ABS(a) _mm_andnot_pd(_mm_set1_pd(-0.0), a)
    #define CWBOOST_MAX(a, b) _mm_max_pd(a, b)
    #else
    typedef struct { double x, y; } cwboost_pair;
    static inline cwboost_pair CWBOOST_LOAD(const double *p)
    { cwboost_pair a = {p[0], p[1]}; return a; }
    static inline void CWBOOST_STORE(double *p, cwboost_pair a) { p[0] = a.x; p[1] = a.y; }
    static inline cwboost_pair CWBOOST_SUB(cwboost_pair a, cwboost_pair b)
    { a.x -= b.x; a.y -= b.y; return a; }
    static inline cwboost_pair CWBOOST_ABS(cwboost_pair a)
    { a.x = fabs(a.x); a.y = fabs(a.y); return a; }
    static inline cwboost_pair CWBOOST_MAX(cwboost_pair a, cwboost_pair b)
    { a.x = a.x > b.x ? a.x : b.x; a.y = a.y > b.y ? a.y : b.y; return a; }
    #endif
    #define CWBOOST_CHUNK 256

    /* Walk examples first..last-1, without the last of all. half and most have 2 * pairs. */
    static inline void cwboost_walk(const double *values, const int32_t *order, const double *rows,
                                    int64_t stride, int64_t first, int64_t last, int pairs,
                                    double *half, double *most)
    {
        cwboost_pair h[4], m[4];
        for (int j = 0; j < pairs; j++) {
            h[j] = CWBOOST_LOAD(half + 2 * j);
            m[j] = CWBOOST_LOAD(most + 2 * j);
        }
        for (int64_t k = first; k < last; k++) {
            const double *row = rows + order[k] * stride;
            for (int j = 0; j < pairs; j++) h[j] = CWBOOST_SUB(h[j], CWBOOST_LOAD(row + 2 * j));
            if (values[k] < values[k + 1])
                for (int j = 0; j < pairs; j++) m[j] = CWBOOST_MAX(CWBOOST_ABS(h[j]), m[j]);
        }
        for (int j = 0; j < pairs; j++) {
            CWBOOST_STORE(half + 2 * j, h[j]);
            CWBOOST_STORE(most + 2 * j, m[j]);
        }
    }

    /* Return the first cut of a chunk with |half| = most, which exists; *half is at its start. */
    static inline int64_t cwboost_locate(const double *values, const int32_t *order,
                                         const double *weights, int64_t stride, int64_t k,
                                         double most, double *half)
    {
        for (;; k++) {
            *half -= weights[order[k] * stride];
            if (fabs(*half) == most && values[k] < values[k + 1]) return k;
        }
    }

    /* Return a bound on |half| after any example of a whole chunk, and set *sum to the sum of its
     * weights. Four strips are summed at a time, since one sum would wait for every addition. */
    static inline double cwboost_chunk_bound(const int32_t *order, const double *weights,
                                             double half, double *sum)
    {
        enum { STRIP = CWBOOST_CHUNK / 4 };
        double at[4] = {0}, low[4] = {0}, high[4] = {0}, most = fabs(half);
        for (int k = 0; k < STRIP; k++)
            for (int s = 0; s < 4; s++) {
                at[s] += weights[order[s * STRIP + k]];
                low[s] = at[s] < low[s] ? at[s] : low[s];
                high[s] = at[s] > high[s] ? at[s] : high[s];
            }
        *sum = 0.0;
        for (int s = 0; s < 4; s++) {
            const double down = fabs(half - *sum - high[s]), up = fabs(half - *sum - low[s]);
            most = down > most ? down : most;
            most = up > most ? up : most;
            *sum += at[s];
        }
        return most * (1.0 + 1e-12);
    }

    /* Find the best cut of one target whose half edge exceeds *best, which becomes that half edge,
     * signed; return its position, or -1 if there is none. Only chunks that may exceed the best are
     * walked one by one, with the values, and without a branch that is hard to predict. */
    static inline int64_t cwboost_scan_one(const double *values, const int32_t *order,
                                           const double *weights, int64_t n, double total,
                                           double *best)
    {
        double half = 0.5 * total, most = *best, from = 0.0, sum;
        int64_t chunk = -1;
        for (int64_t first = 0; first < n - 1; first += CWBOOST_CHUNK) {
            const int64_t last = first + CWBOOST_CHUNK < n - 1 ? first + CWBOOST_CHUNK : n - 1;
            const double start = half, before = most;
            if (last - first == CWBOOST_CHUNK
                && cwboost_chunk_bound(order + first, weights, half, &sum) <= most) {
                half -= sum;
                continue;
            }
            for (int64_t k = first; k < last; k++) {
                half -= weights[order[k]];
                const double size = fabs(half) * (values[k] < values[k + 1]);
                most = size > most ? size : most;
            }
            if (most > before) {
                from = start;
                chunk = first;
            }
        }
        if (chunk < 0) return -1;
        const int64_t at = cwboost_locate(values, order, weights, 1, chunk, most, &from);
        *best = from;
        return at;
    }

    /* Find, for each of 2 * pairs targets, the best cut whose half edge exceeds best[t]: best[t]
     * becomes its half edge, signed, and where[t] its position, -1 if there is none. */
    static inline void cwboost_scan(const double *values, const int32_t *order, const double *rows,
                                    int64_t stride, int64_t n, int pairs, const double *totals,
                                    double *best, int64_t *where)
    {
        double half[8], start[8], most[8], from[8];
        int64_t chunk[8];
        for (int t = 0; t < 2 * pairs; t++) {
            half[t] = 0.5 * totals[t];
            most[t] = best[t];
            chunk[t] = where[t] = -1;
        }
        for (int64_t first = 0; first < n - 1; first += CWBOOST_CHUNK) {
            int64_t last = first + CWBOOST_CHUNK < n - 1 ? first + CWBOOST_CHUNK : n - 1;
            memcpy(start, half, sizeof half);
            if (pairs == 4) cwboost_walk(values, order, rows, stride, first, last, 4, half, most);
            else cwboost_walk(values, order, rows, stride, first, last, 1, half, most);
            for (int t = 0; t < 2 * pairs; t++)
                if (most[t] > best[t]) {
                    best[t] = most[t];
                    from[t] = start[t];
                    chunk[t] = first;
                }
        }
        for (int t = 0; t < 2 * pairs; t++)
            if (chunk[t] >= 0) {
                where[t] = cwboost_locate(values, order, rows + t, stride, chunk[t], best[t],
                                          &from[t]);
                best[t] = from[t];
            }
    }
    #endif
    """
    int64_t cwboost_scan_one(
        const double* values, const int32_t* order, const double* weights, int64_t n, double total,
        double* best
    ) noexcept nogil
    void cwboost_scan(
        const double* values, const int32_t* order, const double* rows, int64_t stride, int64_t n,
        int pairs, const double* totals, double* best, int64_t* where
    ) noexcept nogil


cdef inline Py_ssize_t packed_size(Py_ssize_t n_samples) noexcept nogil:
    """Return the number of bytes that hold the outputs of one learner."""
    return (n_samples + 7) >> 3


cdef inline bint get_bit(const bits_t* bits, Py_ssize_t i) noexcept nogil:
    """Return True if the output for example i is +1."""
    return (bits[i >> 3] >> (i & 7)) & 1


cdef inline int8_t get_sign(const bits_t* bits, Py_ssize_t i) noexcept nogil:
    """Return the output for example i, -1 or +1."""
    return <int8_t> (2 * get_bit(bits, i) - 1)


cdef inline void set_bit(bits_t* bits, Py_ssize_t i) noexcept nogil:
    """Set the output for example i to +1."""
    bits[i >> 3] |= <bits_t> (1 << (i & 7))


cdef inline void clear_bit(bits_t* bits, Py_ssize_t i) noexcept nogil:
    """Set the output for example i to -1."""
    bits[i >> 3] &= <bits_t> ~(1 << (i & 7))


cdef inline void assign_bit(bits_t* bits, Py_ssize_t i, bint positive) noexcept nogil:
    """Set the output for example i to +1 if positive, else to -1."""
    if positive:
        set_bit(bits, i)
    else:
        clear_bit(bits, i)


cdef inline void pack_signs(
    const int8_t* signs, Py_ssize_t stride, Py_ssize_t n_samples, bits_t* bits
) noexcept nogil:
    """Pack outputs that are `stride` elements apart; padding bits are cleared."""
    cdef Py_ssize_t i
    for i in range(packed_size(n_samples)):
        bits[i] = 0
    for i in range(n_samples):
        if signs[i * stride] > 0:
            set_bit(bits, i)


cdef inline void unpack_signs(
    const bits_t* bits, Py_ssize_t n_samples, int8_t* signs, Py_ssize_t stride
) noexcept nogil:
    """Unpack outputs; the inverse of pack_signs."""
    cdef Py_ssize_t i
    for i in range(n_samples):
        signs[i * stride] = get_sign(bits, i)


cdef inline double packed_edge(
    const bits_t* bits, const double* weights, Py_ssize_t n_samples
) noexcept nogil:
    """Return the edge sum_i weights[i] h(x_i), summed in the order of the examples."""
    cdef double edge = 0.0
    cdef Py_ssize_t i
    for i in range(n_samples):
        edge += weights[i] if get_bit(bits, i) else -weights[i]
    return edge


cdef inline Cut best_cut(
    const double* values,
    const int32_t* order,
    const double* weights,
    double total,
    Py_ssize_t n_samples,
) noexcept nogil:
    """Return the best cut of one feature: argmax over cuts of |sum_i weights[i] h(x_i)|.

    `values` are those of the feature in ascending order, without NaN; order[k] is the example
    that has values[k]; `total` is the sum S of all weights, computed once per target and not once
    per feature. With P the sum of the weights up to a cut, the edge of +1 on the right is S - 2 P.
    Equal values are never separated. Ties go to the constant, then to the leftmost cut.
    n_samples must be positive.
    """
    cdef double most = 0.5 * (total if total >= 0.0 else -total)
    cdef Cut best
    best.position = cwboost_scan_one(values, order, weights, n_samples, total, &most)
    best.edge = 2.0 * (most if most >= 0.0 else -most)
    if best.position >= 0:
        best.polarity = 1 if most >= 0.0 else -1
    else:
        best.polarity = -1 if total >= 0.0 else 1
        best.position = n_samples - 1
    return best


cdef inline void best_constants(
    const double* totals, Py_ssize_t n_samples, Py_ssize_t n_targets, Cut* cuts, int32_t* features
) noexcept nogil:
    """Set each cut to the better constant, of feature -1; best_cuts then improves it."""
    cdef Py_ssize_t t
    for t in range(n_targets):
        cuts[t].edge = totals[t] if totals[t] >= 0.0 else -totals[t]
        cuts[t].polarity = -1 if totals[t] >= 0.0 else 1
        cuts[t].position = n_samples - 1
        features[t] = -1


cdef inline void best_cuts(
    const double* values,
    const int32_t* order,
    const double* rows,
    const double* totals,
    Py_ssize_t n_samples,
    Py_ssize_t n_targets,
    int32_t feature,
    Cut* cuts,
    int32_t* features,
) noexcept nogil:
    """Improve the cuts of all targets by those of one feature, as best_cut finds them.

    `rows` are the weights, of shape (n_samples, n_targets), and `totals` their sums over the
    examples. If a cut of this feature has a larger edge than cuts[t], it replaces cuts[t], and
    features[t] becomes `feature`.
    """
    cdef Py_ssize_t t = 0, j, start, width
    cdef double best[8]
    cdef int64_t where[8]
    cdef Cut cut
    if n_targets == 1:
        cut = best_cut(values, order, rows, totals[0], n_samples)
        if cut.edge > cuts[0].edge:
            cuts[0] = cut
            features[0] = feature
        return
    while t < n_targets:
        width = 8 if n_targets >= 8 else 2
        # The last block overlaps the one before it.
        start = t if t + width <= n_targets else n_targets - width
        for j in range(width):
            best[j] = 0.5 * cuts[start + j].edge
        cwboost_scan(
            values, order, rows + start, n_targets, n_samples, <int> (width // 2), totals + start,
            best, where,
        )
        for j in range(width):
            if where[j] >= 0:
                cuts[start + j].edge = 2.0 * best[j] if best[j] >= 0.0 else -2.0 * best[j]
                cuts[start + j].polarity = 1 if best[j] >= 0.0 else -1
                cuts[start + j].position = where[j]
                features[start + j] = feature
        t += width
