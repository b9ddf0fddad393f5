# The trees of one round and where their outputs go.

from libc.stdint cimport int32_t, uint8_t, uint64_t

from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.trees.build cimport use_rows
from cwboost._kernels.trees.types cimport Rows, Tree, Work

cdef struct Round:
    # Tree t has the weights from weights + t * stride bytes on. Wanted are outputs and edges, or
    # cells; what is not wanted is NULL.
    Work *works  # of every thread, all on one matrix
    const Rows *rows
    int n_threads
    Py_ssize_t n_trees, stride
    const char *weights
    const uint64_t *seeds
    Tree *trees
    uint8_t *packed
    int32_t *cells
    double *edges

cdef inline Work *work_on(const Round *own, Py_ssize_t place) noexcept nogil:
    """Return the scratch memory of this thread, with the rows in the given place."""
    cdef Work *work = own.works + omp_get_thread_num()
    use_rows(work, own.rows + place)
    return work

cdef inline const double *weights_of(const Round *own, Py_ssize_t tree) noexcept nogil:
    return <const double *> (own.weights + tree * own.stride)

cdef inline uint8_t *packed_of(const Round *own, Py_ssize_t tree) noexcept nogil:
    return NULL if own.packed == NULL else own.packed + tree * ((own.works.X.n_rows + 7) // 8)

cdef inline int32_t *cells_of(const Round *own, Py_ssize_t tree) noexcept nogil:
    return NULL if own.cells == NULL else own.cells + tree * own.works.X.n_rows
