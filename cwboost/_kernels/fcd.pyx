"""Fast coordinate descent: the state of the restricted master and the passes that change it.

The restricted master is, with q = p / C,

    min over coef >= 0 of   sum coef + (1/q) sum over pairs (i, y != y_i) of mu_(i,y),
    mu_(i,y) = w_i exp(F_y(x_i) - F_{y_i}(x_i)),   F_c = sum_j coef_(c,j) h_(c,j).

`PairWeights` keeps no pair by column: its state is the K x n matrix R of signed weights, where
r_c(i) is the sum of mu_(i,y) over y for the examples of class c and -mu_(i,c) for the others.
Everything the algorithm asks is a product with a row of R: (1/q) sum_i r_c(i) h(x_i) is the edge
of a column of class c, and one minus it the derivative of the objective. The scores F are kept
beside it: sum r F is the sum of mu gamma, which the dual bound needs.

Coordinates change either one at a time (`update_coordinates`: V+ and V- by one pass over the
examples, two calls of exp, two passes to apply) or a layer at a time (`update_layer`: one column a
class; one pass fills the joint-sign tables, exact coordinate updates then need no data, one pass
applies them all).
"""

import numpy as np

from cython.parallel cimport prange
from libc.math cimport exp, fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

cdef extern from "fcd.h" nogil:
    const int CWB_TILE
    ctypedef struct cwb_tile_sums:
        double loss
        double margins
        int64_t errors
    double cwb_step(double, double, double, double, double) noexcept
    void cwb_edges(const double*, int64_t, const uint8_t*, int64_t, int64_t, double*) noexcept
    void cwb_coordinate_sums(
        const double*, const double*, const uint8_t*, int64_t, double*, double*) noexcept
    void cwb_coordinate_apply(
        double*, int64_t, int64_t, const int64_t*, int64_t, double*, const uint8_t*,
        double) noexcept
    void cwb_coordinate_scores(double*, const uint8_t*, int64_t, double) noexcept
    void cwb_layer_table(
        const double*, int64_t, const int64_t*, int64_t, const uint8_t**, double*) noexcept
    double cwb_layer_solve(
        double*, int64_t, double, double, int64_t, const uint8_t*, const double*,
        double*) noexcept
    void cwb_row_factors(
        const int64_t*, int64_t, const uint8_t**, const double*, const double*, double*) noexcept
    void cwb_tile(
        double*, double*, int64_t, const int64_t*, int64_t, int64_t, int64_t, const double*,
        const uint8_t**, const double*, const double*, const double*, const double*,
        const int32_t*, cwb_tile_sums*) noexcept
    void cwb_pair_weights(
        double*, const double*, int64_t, int64_t, int64_t, const double*, const int32_t*) noexcept
    void cwb_class_scores(
        const uint8_t*, int64_t, const double*, int64_t, int64_t, double*) noexcept

# A lazy row factor may grow to exp(this) before it is folded into R.
cdef double LARGEST_LOG_SCALE = 200.0
# Below so many entries of R a second thread costs more than it brings.
cdef int64_t PARALLEL_ENTRIES = 60_000


cdef class PairWeights:
    """State of the restricted master over examples that are sorted by class.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,), dtype int64
        Examples of each class, in the order of the classes.
    example_weight : ndarray of shape (n_samples,), dtype float64, positive
    q : float
        p / C.
    n_threads : int
    """

    cdef readonly int64_t n_samples, n_classes, n_bytes, stride
    cdef readonly double q, loss, margins
    cdef readonly int64_t n_errors
    cdef int n_threads
    cdef double[:, ::1] R, scores
    cdef double[::1] scale, weight, tables, up, down
    cdef int64_t[::1] starts
    cdef int32_t[::1] label
    cdef uint8_t[::1] no_bits
    cdef cwb_tile_sums* tile_sums

    def __init__(self, counts, example_weight, double q, int n_threads):
        counts = np.asarray(counts, dtype=np.int64)
        self.n_classes = counts.shape[0]
        self.n_samples = counts.sum()
        self.n_bytes = (self.n_samples + 7) // 8
        # Whole vectors a row, and rows that do not fall on the same cache sets.
        self.stride = 8 * self.n_bytes + 8
        self.q = q
        self.n_threads = n_threads
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.label = np.full(self.stride, -1, dtype=np.int32)
        np.asarray(self.label)[: self.n_samples] = np.repeat(
            np.arange(self.n_classes, dtype=np.int32), counts)
        self.weight = np.zeros(self.stride)
        np.asarray(self.weight)[: self.n_samples] = example_weight
        self.R = np.zeros((self.n_classes, self.stride))
        self.scores = np.zeros((self.n_classes, self.stride))
        self.scale = np.ones(self.stride)
        self.tables = np.zeros(4 * self.n_classes * self.n_classes)
        self.up = np.ones(self.n_classes)
        self.down = np.ones(self.n_classes)
        self.no_bits = np.zeros(self.n_bytes, dtype=np.uint8)
        self.tile_sums = <cwb_tile_sums*> malloc(
            (self.n_bytes // CWB_TILE + 1) * sizeof(cwb_tile_sums))
        if self.tile_sums == NULL:
            raise MemoryError("no memory for the restricted master")
        self.restart()

    def __cinit__(self):
        self.tile_sums = NULL

    def __dealloc__(self):
        free(self.tile_sums)

    def restart(self):
        """All coefficients zero: every pair weight is the example's weight."""
        R = np.asarray(self.R)
        R[:] = -np.asarray(self.weight)
        np.asarray(self.scores)[:] = 0.0
        self.fold()

    def rebuild(self, bits, coef):
        """Pair weights anew from the columns: scores first, then mu = w exp(F_y - F_{y_i}).

        Ends the drift of many multiplied updates, and starts from given coefficients.

        Parameters
        ----------
        bits : list of n_classes ndarrays of shape (n_c, n_bytes), dtype uint8
        coef : list of n_classes ndarrays of shape (n_c,), dtype float64

        Raises
        ------
        OverflowError
            If a pair weight is not finite. The state is then as after `restart`.
        """
        cdef int64_t c
        cdef const uint8_t[:, ::1] h
        cdef const double[::1] w
        # Plain pointers here and below: a bounds check may not leave a parallel loop.
        cdef double* R = &self.R[0, 0]
        cdef const double* F = &self.scores[0, 0]
        cdef const double* weight = &self.weight[0]
        cdef const int32_t* label = &self.label[0]
        cdef int n_threads = self.threads()
        for c in range(self.n_classes):
            h = bits[c]
            w = coef[c]
            self.scores[c, :] = 0.0
            if w.shape[0]:
                cwb_class_scores(
                    &h[0, 0], h.shape[1], &w[0], w.shape[0], self.n_bytes, &self.scores[c, 0])
        with nogil:
            for c in prange(self.n_classes, num_threads=n_threads, schedule="static"):
                cwb_pair_weights(R, F, self.stride, c, self.n_samples, weight, label)
        self.fold()
        if not isfinite(self.loss):
            self.restart()
            raise OverflowError("a pair weight overflows")

    cdef int threads(self) noexcept nogil:
        return self.n_threads if self.n_samples * self.n_classes >= PARALLEL_ENTRIES else 1

    @property
    def weights(self):
        """The matrix R: a float64 view of shape (n_classes, n_samples)."""
        return np.asarray(self.R)[:, : self.n_samples]

    def state(self):
        """Arrays that, with the columns, continue training bit for bit."""
        return {"weights": np.array(self.R), "scores": np.array(self.scores)}

    def restore(self, state):
        """Continue from what `state` returned for the same examples."""
        for name, target in (("weights", self.R), ("scores", self.scores)):
            if state[name].shape != (self.n_classes, self.stride):
                raise ValueError(
                    f"state {name!r}: expected shape {(self.n_classes, self.stride)}, "
                    f"got {state[name].shape}")
            np.asarray(target)[...] = state[name]
        self.fold()

    def edges(self, bits):
        """Edges of all columns of every class: sum_i r_c(i) h_(c,j)(i), unscaled.

        Parameters
        ----------
        bits : list of n_classes ndarrays of shape (n_c, n_bytes), dtype uint8

        Returns
        -------
        list of n_classes ndarrays of shape (n_c,), dtype float64
        """
        cdef int64_t k, n = self.n_classes
        cdef list result = [np.empty(block.shape[0]) for block in bits]
        cdef const uint8_t** columns = <const uint8_t**> malloc(n * sizeof(void*))
        cdef double** out = <double**> malloc(n * sizeof(void*))
        cdef int64_t[::1] sizes = np.array([block.shape[0] for block in bits], dtype=np.int64)
        cdef const int64_t* n_columns = &sizes[0]
        cdef const double* R = &self.R[0, 0]
        cdef const uint8_t[:, ::1] h
        cdef double[::1] e
        cdef int n_threads = self.threads()
        try:
            if columns == NULL or out == NULL:
                raise MemoryError("no memory for the edges")
            for k in range(n):
                h = bits[k]
                e = result[k]
                columns[k] = &h[0, 0] if sizes[k] else NULL
                out[k] = &e[0] if sizes[k] else NULL
            with nogil:
                for k in prange(n, num_threads=n_threads, schedule="dynamic", chunksize=1):
                    cwb_edges(R + k * self.stride, self.n_bytes, columns[k], self.n_bytes,
                              n_columns[k], out[k])
        finally:
            free(columns)
            free(out)
        return result

    def update_layer(self, layer, coef, double step=1.0, int64_t n_sweeps=1):
        """Coordinate updates of one column a class, in the order of the classes.

        Parameters
        ----------
        layer : sequence of n_classes uint8 arrays of n_bytes, or None
            The bits of the column of each class; None leaves a class out.
        coef : ndarray of shape (n_classes,), dtype float64
            Present coefficients; a coefficient never falls below zero.
        step : float, default=1.0
            Share of the way to each coordinate's minimiser (shrinkage).
        n_sweeps : int, default=1
            Sweeps over the layer; one is the first pass of Algorithm 2.

        Returns
        -------
        ndarray of shape (n_classes,), dtype float64
            How far each coefficient moved.
        """
        cdef int64_t c, K = self.n_classes
        cdef int n_threads = self.threads()
        cdef const double[::1] start = coef
        moved = np.zeros(K)
        cdef double[::1] d = moved
        cdef uint8_t[::1] active = np.zeros(K, dtype=np.uint8)
        cdef const uint8_t[::1] h
        cdef const uint8_t** bits = <const uint8_t**> malloc(K * sizeof(void*))
        cdef double* tables = &self.tables[0]
        cdef const double* R = &self.R[0, 0]
        cdef const int64_t* starts = &self.starts[0]
        if bits == NULL:
            raise MemoryError("no memory for a layer")
        try:
            for c in range(K):
                bits[c] = &self.no_bits[0]
                if layer[c] is not None:
                    h = layer[c]
                    bits[c] = &h[0]
                    active[c] = 1
            with nogil:
                for c in prange(K, num_threads=n_threads, schedule="static"):
                    cwb_layer_table(R + c * self.stride, c, starts, K, bits, tables + 4 * K * c)
                cwb_layer_solve(tables, K, self.q, step, n_sweeps, &active[0], &start[0], &d[0])
                for c in range(K):
                    self.up[c] = exp(d[c])
                    self.down[c] = exp(-d[c])
            self.apply(bits, &d[0])
        finally:
            free(bits)
        return moved

    def update_coordinates(self, classes, rows, bits, coef):
        """Exact updates of single coordinates, one after the other.

        Parameters
        ----------
        classes, rows : ndarrays of shape (n_updates,), dtype int64
            The coordinate of each update: row ``rows[u]`` of class ``classes[u]``.
        bits : list of n_classes ndarrays of shape (n_c, n_bytes), dtype uint8
        coef : list of n_classes ndarrays of shape (n_c,), dtype float64
            Changed in place.
        """
        cdef int64_t u, c, j, n_updates = classes.shape[0], K = self.n_classes
        cdef const int64_t[::1] of_class = classes, of_row = rows
        cdef const uint8_t** columns = <const uint8_t**> malloc(K * sizeof(void*))
        cdef double** w = <double**> malloc(K * sizeof(void*))
        cdef const uint8_t[:, ::1] h
        cdef double[::1] values
        cdef const uint8_t* column
        cdef double v_plus, v_minus, d, log_scale = 0.0
        try:
            if columns == NULL or w == NULL:
                raise MemoryError("no memory for the updates")
            for c in range(K):
                h = bits[c]
                values = coef[c]
                columns[c] = &h[0, 0] if h.shape[0] else NULL
                w[c] = &values[0] if values.shape[0] else NULL
            with nogil:
                for u in range(n_updates):
                    c = of_class[u]
                    j = of_row[u]
                    column = columns[c] + j * self.n_bytes
                    cwb_coordinate_sums(
                        &self.R[c, 0], &self.scale[0], column, self.n_bytes, &v_plus, &v_minus)
                    d = cwb_step(v_plus, v_minus, self.q, w[c][j], 1.0)
                    if d == 0.0:
                        continue
                    log_scale += fabs(d)
                    if log_scale > LARGEST_LOG_SCALE:
                        self.apply(NULL, NULL)
                        log_scale = fabs(d)
                    w[c][j] = w[c][j] + d if w[c][j] + d > 0.0 else 0.0
                    cwb_coordinate_apply(
                        &self.R[0, 0], self.stride, c, &self.starts[0], K, &self.scale[0],
                        column, d)
                    cwb_coordinate_scores(&self.scores[c, 0], column, self.n_bytes, d)
                self.apply(NULL, NULL)
        finally:
            free(columns)
            free(w)

    cpdef fold(self):
        """Renew the own sums, and the loss, margins and errors counted with them."""
        self.apply(NULL, NULL)

    cdef void apply(self, const uint8_t** layer, const double* moved) noexcept nogil:
        """Tiles in parallel, their sums added in order: the same bits at any thread count."""
        cdef int64_t n_tiles = (self.n_bytes + CWB_TILE - 1) // CWB_TILE
        cdef int64_t t, first, last, i, errors = 0
        cdef double loss = 0.0, margins = 0.0
        cdef int n_threads = self.threads()
        cdef cwb_tile_sums* sums = self.tile_sums
        cdef double* R = &self.R[0, 0]
        cdef double* F = &self.scores[0, 0]
        cdef const int64_t* starts = &self.starts[0]
        cdef double* row = &self.scale[0]
        cdef double* up = &self.up[0]
        cdef double* down = &self.down[0]
        cdef const double* weight = &self.weight[0]
        cdef const int32_t* label = &self.label[0]
        if layer != NULL:
            cwb_row_factors(starts, self.n_classes, layer, up, down, row)
        for t in prange(n_tiles, num_threads=n_threads, schedule="static"):
            first = t * CWB_TILE
            last = first + CWB_TILE if first + CWB_TILE < self.n_bytes else self.n_bytes
            cwb_tile(R, F, self.stride, starts, self.n_classes, first, last, row, layer, moved,
                     up, down, weight, label, &sums[t])
        for t in range(n_tiles):
            loss = loss + sums[t].loss
            margins = margins + sums[t].margins
            errors = errors + sums[t].errors
        self.loss = loss
        self.margins = margins
        self.n_errors = errors
        for i in range(self.stride):
            self.scale[i] = 1.0
