"""The features that are drawn at a node: the first of an order drawn by its seed.

Nodes of a few levels share a seed, hence an order, so that children can take histograms from their
parents (saved.pyx).
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from cwboost._kernels.trees.types cimport Matrix, Node, Work

cdef extern from "common/random_words.h" nogil:
    uint64_t cwb_random_word(uint64_t seed, uint64_t i)

cdef enum:
    LEVELS_PER_DRAW = 3  # a draw for the whole tree made larger errors on large data


cdef bint draws(const Work *work) noexcept nogil:
    """Return True if nodes do not search all features."""
    return work.settings.max_features < work.X.n_usable


cdef void draw_features(Work *work, uint64_t seed, int64_t drawn, int64_t n) noexcept nogil:
    """Put n more random features, without replacement, after the first `drawn`."""
    cdef int64_t i, j, n_usable = work.X.n_usable
    for i in range(drawn, drawn + n if draws(work) else 0):
        j = i + <int64_t> (((cwb_random_word(seed, i) >> 32) * <uint64_t> (n_usable - i)) >> 32)
        work.swaps[i] = <int32_t> j
        work.features[i], work.features[j] = work.features[j], work.features[i]


cdef void undo_draws(Work *work, int64_t drawn) noexcept nogil:
    """Put the features back in their order, so that the draws of a node depend on it alone."""
    cdef int64_t i
    for i in range(drawn - 1 if draws(work) else -1, -1, -1):
        work.features[i], work.features[work.swaps[i]] = (
            work.features[work.swaps[i]], work.features[i])


cdef bint draws_anew(int64_t depth) noexcept nogil:
    """Return True if the nodes of a level have seeds of their own."""
    return depth % LEVELS_PER_DRAW == 0


cdef uint64_t child_seed(const Matrix *X, const Node *parent, int64_t side) noexcept nogil:
    if draws_anew(parent.depth + 1):
        return cwb_random_word(parent.seed, X.n_usable + side)
    return parent.seed
