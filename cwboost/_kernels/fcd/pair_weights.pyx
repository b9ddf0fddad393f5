"""Fast coordinate descent: the state of the restricted master and the passes that change it.

The restricted master is, with q = p / C,

    min over coef >= 0 of   sum coef + (1/q) sum over pairs (i, y != y_i) of mu_(i,y),
    mu_(i,y) = w_i exp(F_y(x_i) - F_{y_i}(x_i)),   F_c = base_c + sum_j coef_(c,j) h_(c,j).

The base scores are constants of each example, zero by default. The state of `PairWeights` is the
K x n matrix R of signed weights: r_c(i) is the sum of mu_(i,y) over y for the examples of class c,
and -mu_(i,c) for the others. All quantities of the algorithm are products with a row of R:
(1/q) sum_i r_c(i) h(x_i) is the edge of a column of class c, and one minus the edge is the
derivative of the objective. The scores F are kept too: sum r F is the sum of mu gamma, from which
the dual bound subtracts the part of the base.

Coordinates change either one at a time (`update_coordinates`: one pass over the examples applies
a move and computes V+ and V- of the next) or a layer at a time (`update_layer`, one column per
class: one pass fills the joint-sign tables, exact coordinate updates then need no data, one pass
applies them all).
"""

import numpy as np

from cython.parallel cimport prange
from libc.math cimport fabs, isfinite
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from cwboost._kernels.common.aligned import aligned_zeros

from cwboost._kernels.common.arrays cimport FLOAT64, INT32, INT64, matrix, vector
from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
from cwboost._kernels.fcd.column_store cimport ColumnStore

from cwboost._kernels.fcd.subspace import advance, derivatives

cdef extern from "fcd/fcd.h" nogil:
    const int CWB_TILE
    ctypedef struct cwb_master:
        double* R
        double* scores
        int64_t stride, n_classes
        const int64_t* starts
        const double* example_weight
        const int32_t* label
    ctypedef struct cwb_layer:
        const uint8_t* const* columns
        const double* d
        const double* up
        const double* down
    ctypedef struct cwb_cells:
        const int32_t* cell
        const double* moves
        int64_t n_cells, first
    ctypedef struct cwb_tile_sums:
        double loss
        double margins
        double errors
    ctypedef struct cwb_run:
        double* r
        double* factor
        int64_t n_bytes, start, end
    void cwb_run_enter "CWB_BEST(run_enter)"(const cwb_master*, int64_t c, const cwb_run*)
    void cwb_run_leave "CWB_BEST(run_leave)"(const cwb_master*, int64_t c, const cwb_run*)
    void cwb_run_move "CWB_BEST(run_move)"(
        const cwb_run*, const uint8_t* bits, double up, double down, const uint8_t* next,
        double* v_plus, double* v_minus)
    void cwb_add_columns "CWB_BEST(add_columns)"(
        double* scores, int64_t n_bytes, const uint8_t** columns, const double* moves,
        int64_t n_columns)
    void cwb_pair_weights "CWB_BEST(pair_weights)"(const cwb_master*, int64_t c)

cdef extern from "fcd/passes.h" nogil:
    void cwb_fill_tables(const cwb_master*, const uint8_t**, double*, int64_t, int)
    cwb_tile_sums cwb_update_tiles(
        const cwb_master*, const cwb_layer*, const cwb_cells*, int64_t, cwb_tile_sums*, int)
    void cwb_cell_sums(
        const cwb_master*, const int32_t*, int64_t, int64_t, int64_t, double, double*)
    void cwb_class_edges(
        const cwb_master*, int64_t, uint8_t**, const int64_t*, double*, int64_t, int)

cdef extern from "fcd/steps.h" nogil:
    double cwb_step(double, double, double, double, double)
    void cwb_factors(double, double*, double*)
    void cwb_layer_solve(
        double*, int64_t, double, double, const uint8_t*, const double*, double*)
    double cwb_cell_steps(
        const double*, int64_t, double, double, double, int, int, int8_t*, int64_t, double*,
        double*)

cwb_set = instruction_set()

# The factors of a run may grow to exp(this) before they are folded into R.
cdef double LARGEST_LOG_SCALE = 200.0
# Tables are filled for the classes of about this number of examples at a time.
cdef int64_t EXAMPLES_TOGETHER = 512
# Below this number of entries of R a second thread costs more than it saves.
cdef int64_t PARALLEL_ENTRIES = 60_000


cdef class PairWeights:
    """State of the restricted master over examples that are sorted by class.

    `counts` has the number of examples of each class, `example_weight` their positive weights, and
    `base`, (n_classes, n_samples), their base scores, kept by reference; None for zeros. Raise
    OverflowError if these give a pair weight that is not finite.
    """

    # The matrix R without its padding: a view of shape (n_classes, n_samples).
    cdef readonly object weights
    # The base scores, as they were given, or None.
    cdef object base
    cdef readonly int64_t n_samples, n_classes, n_bytes, stride
    cdef readonly double q, loss, margins, errors
    cdef int n_threads
    cdef double[:, ::1] R, scores
    cdef double[::1] weight, tables, run_factor
    # What a layer needs per class.
    cdef double[::1] up, down, start, moves
    cdef uint8_t[::1] active
    cdef const uint8_t** layer_bits
    cdef int64_t[::1] starts
    cdef int32_t[::1] label
    cdef uint8_t[::1] no_bits
    cdef cwb_tile_sums* tile_sums
    cdef cwb_master master

    def __init__(self, counts, example_weight, double q, int n_threads, base=None):
        counts = np.asarray(counts, dtype=np.int64)
        self.n_classes = counts.shape[0]
        self.n_samples = counts.sum()
        self.n_bytes = (self.n_samples + 7) // 8
        # Whole vectors per row, and rows that do not fall on the same cache sets.
        self.stride = 8 * self.n_bytes + 8
        self.q = q
        self.n_threads = n_threads
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.label = np.full(self.stride, -1, dtype=np.int32)
        np.asarray(self.label)[: self.n_samples] = np.repeat(
            np.arange(self.n_classes, dtype=np.int32), counts)
        self.weight = aligned_zeros(self.stride)
        np.asarray(self.weight)[: self.n_samples] = example_weight
        R = aligned_zeros((self.n_classes, self.stride))
        self.R, self.weights = R, R[:, : self.n_samples]
        self.scores = aligned_zeros((self.n_classes, self.stride))
        self.run_factor = aligned_zeros(self.stride)
        self.tables = np.zeros(4 * self.n_classes * self.n_classes)
        self.up, self.down = np.ones(self.n_classes), np.ones(self.n_classes)
        self.start, self.moves = np.zeros(self.n_classes), np.zeros(self.n_classes)
        self.active = np.zeros(self.n_classes, dtype=np.uint8)
        self.no_bits = np.zeros(self.n_bytes, dtype=np.uint8)
        self.master.R, self.master.scores = &self.R[0, 0], &self.scores[0, 0]
        self.master.stride, self.master.n_classes = self.stride, self.n_classes
        self.master.starts, self.master.label = &self.starts[0], &self.label[0]
        self.master.example_weight = &self.weight[0]
        free(self.tile_sums)
        free(self.layer_bits)
        self.tile_sums = <cwb_tile_sums*> malloc(
            (self.n_bytes // CWB_TILE + 1) * sizeof(cwb_tile_sums))
        self.layer_bits = <const uint8_t**> malloc(self.n_classes * sizeof(void*))
        if self.tile_sums == NULL or self.layer_bits == NULL:
            raise MemoryError("no memory for the restricted master")
        self.base = base
        self.restart()
        if not isfinite(self.loss):
            raise OverflowError("base scores: a pair weight overflows")

    def __cinit__(self):
        self.tile_sums, self.layer_bits = NULL, NULL

    def __dealloc__(self):
        free(self.tile_sums)
        free(self.layer_bits)

    def restart(self):
        """Set all coefficients to zero: the pair weights become those of the base scores."""
        cdef int64_t c
        np.asarray(self.R)[:] = -np.asarray(self.weight)
        self.start_scores()
        if self.base is not None:
            for c in range(self.n_classes):
                cwb_pair_weights(&self.master, c)
        self.fold()

    cdef start_scores(self):
        """Set the scores to the base scores, and their padding to zero."""
        scores = np.asarray(self.scores)
        scores[:] = 0.0
        if self.base is not None:
            scores[:, : self.n_samples] = self.base

    def rebuild(self, ColumnStore columns, const double[:, ::1] coef, bint more=False):
        """Compute scores and pair weights from base and columns: mu = w exp(F_y - F_{y_i}).

        This removes the rounding drift of many updates, and starts from given coefficients, one row
        per class. With `more`, their scores are added to the present ones. Raise OverflowError if a
        pair weight is not finite; the state is then as after `restart`.
        """
        cdef int64_t c, j, n = 0, K = self.n_classes
        cdef int64_t[::1] first = np.zeros(K + 1, dtype=np.int64)
        cdef int64_t most = np.count_nonzero(coef)
        cdef double[::1] moves = np.zeros(most + 1)
        cdef const uint8_t** used = <const uint8_t**> malloc((most + 1) * sizeof(void*))
        if used == NULL:
            raise MemoryError("no memory to form the pair weights")
        for c in range(K):
            first[c] = n
            for j in range(columns.count[c]):
                if coef[c, j] != 0.0:
                    used[n], moves[n] = columns.first[c] + j * self.n_bytes, coef[c, j]
                    n += 1
        first[K] = n
        if not more:
            self.start_scores()
        self.rebuild_rows(used, &moves[0], &first[0])
        free(used)
        self.fold()
        if not isfinite(self.loss):
            self.restart()
            raise OverflowError("a pair weight overflows")

    cdef void rebuild_rows(self, const uint8_t** columns, const double* moves,
                           const int64_t* first) noexcept nogil:
        """Compute scores and pair weights; class c has the columns first[c] to first[c + 1] - 1."""
        cdef int64_t c, n_classes = self.n_classes
        # Plain pointers here and below: a bounds check may not leave a parallel loop.
        cdef double* F = self.master.scores
        cdef int n_threads = self.threads()
        for c in prange(n_classes, num_threads=n_threads, schedule="static"):
            cwb_add_columns(F + c * self.stride, self.n_bytes, columns + first[c],
                            moves + first[c], first[c + 1] - first[c])
        for c in prange(n_classes, num_threads=n_threads, schedule="static"):
            cwb_pair_weights(&self.master, c)

    cdef int threads(self) noexcept nogil:
        return self.n_threads if self.n_samples * self.n_classes >= PARALLEL_ENTRIES else 1

    def state(self):
        """Return arrays that, with the columns, continue training bit for bit."""
        return {"weights": np.array(self.R), "scores": np.array(self.scores)}

    def scores_now(self):
        """Return a copy of the scores, as `derivatives` takes it."""
        return np.array(self.scores)

    def scores_of(self, rows):
        """Return the scores of some examples, (n_rows, n_classes), C-contiguous."""
        return np.ascontiguousarray(np.asarray(self.scores)[:, rows].T)

    def column_margins(self):
        """Return the sum of mu gamma, of margins without base scores: sum r (F - base)."""
        if self.base is None:
            return self.margins
        return self.margins - float(np.sum(self.weights * self.base))

    def derivatives(self, scores):
        """Return slopes and curvatures (see `subspace`) along moves between points, last first."""
        return derivatives(self.R, [self.scores, *scores], self.starts, self.threads())

    def advance(self, scores, steps):
        """Add `steps` times those moves to the scores; `rebuild` then updates the weights."""
        advance([self.scores, *scores], steps)

    def restore(self, state):
        """Restore a result of `state` for the same examples."""
        for name, target in (("weights", self.R), ("scores", self.scores)):
            if state[name].shape != (self.n_classes, self.stride):
                raise ValueError(
                    f"state {name!r} must have shape {(self.n_classes, self.stride)}, "
                    f"got {state[name].shape}")
            np.asarray(target)[...] = state[name]
        self.fold()

    def edges(self, ColumnStore columns, double[:, ::1] out):
        """Compute the edges of all columns of every class: sum_i r_c(i) h_(c,j)(i), unscaled.

        `out` has one row per class; its entries without a column keep their values.
        """
        cdef double* edges = &out[0, 0]
        cdef int64_t stride = out.shape[1]
        with nogil:
            cwb_class_edges(&self.master, self.n_bytes, columns.first, columns.count,
                            edges, stride, self.threads())

    def update_layer(self, ColumnStore columns, rows, coef, double step=1.0):
        """Update one column per class, exactly, in the order of the classes.

        `rows`, int64, has the column of each class; -1 leaves a class out. `coef`, one row per
        class, changes in place and never falls below zero. `step` is the fraction of the way to
        each coordinate's minimiser (shrinkage).
        """
        cdef int64_t c, K = self.n_classes, width = coef.shape[1]
        cdef const int64_t* row = <const int64_t*> vector(rows, INT64, K)
        cdef double* w = <double*> matrix(coef, FLOAT64, K, width)
        cdef double* start = &self.start[0]
        cdef double* d = &self.moves[0]
        cdef uint8_t* active = &self.active[0]
        cdef const uint8_t** bits = self.layer_bits
        cdef double* tables = &self.tables[0]
        cdef cwb_layer layer
        layer.columns, layer.d, layer.up, layer.down = bits, d, &self.up[0], &self.down[0]
        for c in range(K):
            bits[c], active[c] = &self.no_bits[0], row[c] >= 0
            if active[c]:
                bits[c] = columns.first[c] + row[c] * self.n_bytes
                start[c] = w[c * width + row[c]]
        with nogil:
            self.fill_tables(bits, tables)
            cwb_layer_solve(tables, K, self.q, step, active, start, d)
            for c in range(K):
                cwb_factors(d[c], &self.up[c], &self.down[c])
            self.apply(&layer, NULL)
        for c in range(K):
            if active[c]:
                w[c * width + row[c]] = start[c] + d[c] if start[c] + d[c] > 0.0 else 0.0

    def layer_tables(self, const uint8_t[:, ::1] bits):
        """Return the joint-sign tables ``[c, b, s, t]`` of a layer: see layer_table."""
        cdef const uint8_t** rows = self.rows_of(bits)
        tables = np.empty((self.n_classes, self.n_classes, 2, 2))
        cdef double[:, :, :, ::1] view = tables
        cdef double* out = &view[0, 0, 0, 0]
        with nogil:
            self.fill_tables(rows, out)
        return tables

    cdef void fill_tables(self, const uint8_t** layer, double* tables) noexcept nogil:
        """Fill the joint-sign tables of a layer, several small classes at a time."""
        cdef int64_t n_groups = max(1, min(self.n_classes, self.n_samples // EXAMPLES_TOGETHER))
        cwb_fill_tables(&self.master, layer, tables, n_groups, self.threads())

    def move_layer(self, const uint8_t[:, ::1] bits, const double[::1] d):
        """Move the coefficient of one column per class, with outputs `bits`, by `d`."""
        cdef int64_t c
        cdef cwb_layer layer
        cdef const uint8_t** rows = self.rows_of(bits)
        layer.columns, layer.d, layer.up, layer.down = rows, &d[0], &self.up[0], &self.down[0]
        for c in range(self.n_classes):
            cwb_factors(d[c], &self.up[c], &self.down[c])
        with nogil:
            self.apply(&layer, NULL)

    cdef const uint8_t** rows_of(self, const uint8_t[:, ::1] bits) except NULL:
        """Return the addresses of rows of bits, until the next layer."""
        cdef int64_t c
        if bits.shape[0] != self.n_classes or bits.shape[1] != self.n_bytes or self.n_bytes == 0:
            raise ValueError(f"bits must have shape {(self.n_classes, self.n_bytes)}")
        for c in range(self.n_classes):
            self.layer_bits[c] = &bits[c, 0]
        return self.layer_bits

    def cell_sums(self, cells, int64_t n_cells, int64_t first, double scale):
        """Return the exact sums of the rounded weights of either sign by cell, for some classes.

        `cells`, (n_samples,) of int32, has the cell of each example, below `n_cells`. The weights
        are multiplied by `scale`, a power of two, before they are rounded. Return the sums of the
        positive weights and of the magnitudes of the negative ones, (n, n_cells, 2), scaled, for
        the n classes from `first` on; and the weight of the examples of each cell, (n_cells,).
        """
        cdef const int32_t* cell = <const int32_t*> vector(cells, INT32, self.n_samples)
        cdef int64_t t, i, n = self.n_samples, n_targets = self.n_classes - first
        cdef int64_t n_threads = self.threads()
        cdef double[::1] cover = np.zeros(n_cells)
        # The sums are exact: a few classes are divided by examples too, for all threads.
        cdef int64_t n_parts = 1 if n_targets >= 2 * n_threads else n_threads
        sums = np.zeros((n_parts, n_targets, n_cells, 2))
        cdef double[::1] out = sums.reshape(-1)
        cdef double* sum = &out[0]
        for t in prange(n_parts * n_targets, nogil=True, num_threads=n_threads,
                        schedule="static"):
            cwb_cell_sums(&self.master, cell, first + t % n_targets,
                          t // n_targets * n // n_parts, (t // n_targets + 1) * n // n_parts,
                          scale, sum + t * 2 * n_cells)
        for i in range(n):
            cover[cell[i]] += self.weight[i]
        return sums.sum(axis=0) if n_parts > 1 else sums[0], np.asarray(cover)

    def move_cells(self, cells, moves, int64_t first):
        """Move the scores of the classes from `first` on by one number per cell.

        `cells` are as for `cell_sums`, `moves` has the shape (n, n_cells). The pair weights are
        recomputed. Raise OverflowError if one is not finite.
        """
        cdef cwb_cells division
        division.cell = <const int32_t*> vector(cells, INT32, self.n_samples)
        division.moves = <const double*> matrix(moves, FLOAT64, self.n_classes - first,
                                                moves.shape[1])
        division.n_cells, division.first = moves.shape[1], first
        with nogil:
            self.apply(NULL, &division)
        if not isfinite(self.loss):
            raise OverflowError("a pair weight overflows")

    def update_coordinates(self, ColumnStore columns, const int64_t[::1] classes,
                           const int64_t[::1] rows, double[:, ::1] coef):
        """Update single coordinates, exactly, one after the other.

        Update u is of column ``rows[u]`` of class ``classes[u]``; `coef`, one row per class,
        changes in place. Consecutive updates of one class are a run. Each update costs one pass
        over the examples; each run costs two more passes over the pairs of the examples of its
        class.
        """
        cdef int64_t u = 0, first, c, n_updates = classes.shape[0]
        cdef double[::1] moves = np.zeros(n_updates + 1)
        cdef const uint8_t** bits = <const uint8_t**> malloc((n_updates + 1) * sizeof(void*))
        if bits == NULL:
            raise MemoryError("no memory for the updates")
        with nogil:
            while u < n_updates:
                first, c = u, classes[u]
                while u < n_updates and classes[u] == c:
                    bits[u] = columns.first[c] + rows[u] * self.n_bytes
                    u += 1
                self.run(c, bits + first, &rows[first], &coef[c, 0], &moves[first], u - first)
            self.apply(NULL, NULL)
        free(bits)

    cdef void run(self, int64_t c, const uint8_t** columns, const int64_t* rows, double* w,
                  double* moves, int64_t n) noexcept nogil:
        """Update coordinates of class c: column `columns[k]`, whose coefficient is `w[rows[k]]`."""
        cdef int64_t k
        cdef double v_plus, v_minus, d, up, down, log_scale = 0.0
        cdef double* value
        cdef cwb_run run
        run.r, run.factor = &self.R[c, 0], &self.run_factor[0]
        run.n_bytes, run.start, run.end = self.n_bytes, self.starts[c], self.starts[c + 1]
        cwb_run_enter(&self.master, c, &run)
        # A move by zero computes the sums of the first update.
        cwb_run_move(&run, columns[0], 1.0, 1.0, columns[0], &v_plus, &v_minus)
        for k in range(n):
            value = &w[rows[k]]
            d = moves[k] = cwb_step(v_plus, v_minus, self.q, value[0], 1.0)
            value[0] = value[0] + d if value[0] + d > 0.0 else 0.0
            log_scale += fabs(d)
            if log_scale > LARGEST_LOG_SCALE:
                # Fold the factors of the run into R before they overflow.
                cwb_run_leave(&self.master, c, &run)
                cwb_run_enter(&self.master, c, &run)
                log_scale = fabs(d)
            cwb_factors(d, &up, &down)
            cwb_run_move(&run, columns[k], up, down, columns[min(k + 1, n - 1)], &v_plus,
                         &v_minus)
        cwb_run_leave(&self.master, c, &run)
        cwb_add_columns(&self.scores[c, 0], self.n_bytes, columns, moves, n)

    cpdef fold(self):
        """Compute the own sums, the loss, the margins and the errors again."""
        self.apply(NULL, NULL)

    cdef void apply(self, const cwb_layer* layer, const cwb_cells* cells) noexcept nogil:
        """Update scores and weights by cells, a layer or neither (NULL), and take the new sums."""
        cdef cwb_tile_sums sums = cwb_update_tiles(
            &self.master, layer, cells, self.n_bytes, self.tile_sums, self.threads())
        self.loss, self.margins, self.errors = sums.loss, sums.margins, sums.errors


def solve_layer(double[:, :, :, ::1] tables, double q, double step, const uint8_t[::1] active,
                const double[::1] coef):
    """Return the exact steps of one layer, one per class, from tables that machines have summed.

    `tables` are as `PairWeights.layer_tables` returns them, of one set of examples or summed over
    several, and change in place to those after the steps. `step` is the fraction of the way to each
    coordinate's minimiser (shrinkage), `active` is 0 for classes left out, and no entry of `coef`,
    the present coefficients, would fall below zero.
    """
    moved = np.zeros(tables.shape[0])
    cdef double[::1] d = moved
    with nogil:
        cwb_layer_solve(&tables[0, 0, 0, 0], tables.shape[0], q, step, &active[0],
                        &coef[0], &d[0])
    return moved


def cell_steps(const double[:, :, ::1] sums, double smoothing, double step, double least,
               bint is_penalized, int largest_output):
    """Return outputs, moves, coefficients and edges; see `cwboost.master.steps_of_cells`."""
    cdef int64_t c, n = sums.shape[0], n_cells = sums.shape[1]
    all_outputs, all_moves = np.zeros((n_cells, n), dtype=np.int8), np.zeros((n, n_cells))
    all_coef, all_edges = np.zeros(n), np.zeros(n)
    cdef int8_t[:, ::1] outputs = all_outputs
    cdef double[:, ::1] moves = all_moves
    cdef double[::1] coef = all_coef, edges = all_edges
    if n_cells > 0:
        with nogil:
            for c in range(n):
                edges[c] = cwb_cell_steps(
                    &sums[c, 0, 0], n_cells, smoothing, step, least, is_penalized, largest_output,
                    &outputs[0, c], n, &moves[c, 0], &coef[c])
    return all_outputs, all_moves, all_coef, all_edges
