"""Which coefficients of the master differ from those that the model last recorded.

One pass compares all coefficients, eight at a time: a round changes few of them.
"""

from libc.math cimport NAN
from libc.stdint cimport int64_t
from libc.stdlib cimport free, realloc

from cwboost._kernels.common.arrays cimport (
    FLOAT64, INT64, as_vector, data_of, length_of, matrix, new_vector, vector)


def assign(recorded, ids, classes, rows, learners):
    """Enter new columns, ``rows[k]`` of class ``classes[k]``: recorded as NaN, with their learner.

    Parameters
    ----------
    recorded, ids : ndarray of shape (n_classes, width), dtype float64 and int64
        Changed in place.
    classes, rows, learners : array-like of shape (n_columns,), int
    """
    cdef int64_t K = len(ids), width = ids.shape[1], k
    classes, rows = as_vector(classes, INT64), as_vector(rows, INT64)
    learners = as_vector(learners, INT64)
    cdef int64_t n = length_of(classes)
    cdef const int64_t *class_of = <const int64_t *> data_of(classes)
    cdef const int64_t *row_of = <const int64_t *> vector(rows, INT64, n)
    cdef const int64_t *learner_of = <const int64_t *> vector(learners, INT64, n)
    cdef double *recorded_ = <double *> matrix(recorded, FLOAT64, K, width)
    cdef int64_t *ids_ = <int64_t *> matrix(ids, INT64, K, width)
    for k in range(n):
        if not (0 <= class_of[k] < K and 0 <= row_of[k] < width):
            raise IndexError(f"no column {row_of[k]} of class {class_of[k]}")
        recorded_[class_of[k] * width + row_of[k]] = NAN
        ids_[class_of[k] * width + row_of[k]] = learner_of[k]


def changed(coef, recorded, ids):
    """Return the entries of `coef` that differ from `recorded`, row after row.

    Parameters
    ----------
    coef : ndarray of shape (n_classes, width), dtype float64
    recorded : ndarray of shape (n_classes, width), dtype float64
        NaN differs from everything.
    ids : ndarray of shape (n_classes, width), dtype int64

    Returns
    -------
    places : ndarray of shape (n_changes,), dtype int64
        Indices into the flat arrays; ``ids``, ``classes`` (rows), ``values`` (of `coef`) and
        ``before`` (of `recorded`) follow, of the same length.
    """
    cdef int64_t K = len(coef), width = coef.shape[1], n, k
    cdef const double *now = <const double *> matrix(coef, FLOAT64, K, width)
    cdef const double *then = <const double *> matrix(recorded, FLOAT64, K, width)
    cdef const int64_t *id_of = <const int64_t *> matrix(ids, INT64, K, width)
    cdef int64_t *found = NULL
    n = find(now, then, K * width, &found)
    places, of_places, classes = new_vector(n, INT64), new_vector(n, INT64), new_vector(n, INT64)
    values, before = new_vector(n, FLOAT64), new_vector(n, FLOAT64)
    for k in range(n):
        (<int64_t *> data_of(places))[k] = found[k]
        (<int64_t *> data_of(of_places))[k] = id_of[found[k]]
        (<int64_t *> data_of(classes))[k] = found[k] // width
        (<double *> data_of(values))[k] = now[found[k]]
        (<double *> data_of(before))[k] = then[found[k]]
    free(found)
    return places, of_places, classes, values, before


cdef int64_t find(const double *now, const double *then, int64_t n, int64_t **found) except -1:
    """Return the number of entries that differ; `found` becomes their indices, to be freed."""
    cdef int64_t n_found = 0, room = 0, start, k, end
    cdef int64_t *longer
    cdef bint differ
    for start in range(0, n, 8):
        end = min(start + 8, n)
        differ = False
        for k in range(start, end):
            differ |= now[k] != then[k]
        if not differ:
            continue
        if n_found + 8 > room:
            room = 2 * room + 64
            longer = <int64_t *> realloc(found[0], room * sizeof(int64_t))
            if longer == NULL:
                free(found[0])
                raise MemoryError("no memory for the changes of a round")
            found[0] = longer
        for k in range(start, end):
            if now[k] != then[k]:
                found[0][n_found] = k
                n_found += 1
    return n_found
