"""Checks of training matrices of every layout, dtype and degenerate shape."""

import numpy as np
from scipy import sparse

from cwboost.families.sealing.sample import read_only
from cwboost.testing.material import (
    WHOLE,
    as_bytes,
    assert_priced,
    assert_same_answers,
    bind,
    boosting_weights,
    integer_weights,
    pixels,
    reals,
)


def _compare(family, X, variant, what):
    """Check that pricing on the variant gives the edges and outputs of pricing on X."""
    weights = integer_weights(len(X))
    expected = bind(family, X).price(weights, WHOLE)
    priced = bind(family, variant).price(weights, WHOLE)
    outputs = assert_priced(family, priced, variant, weights, what)
    if not family.capabilities.deterministic:
        return
    assert np.array_equal(priced.edges, expected.edges), (
        f"{what}: edges {priced.edges}, but {expected.edges} for C-ordered float64"
    )
    assert np.array_equal(priced.outputs, expected.outputs), (
        f"{what}: outputs differ from those for C-ordered float64"
    )
    assert np.array_equal(outputs, priced.learners.outputs(X)), (
        f"{what}: outputs of its learners differ on the C-ordered float64 copy"
    )


def check_layouts(family):
    """Check that X may have any order, strides and dtype, and may be read-only.

    Values exact in both dtypes give the same outputs. The arrays of a sparse X may be read-only.
    """
    X, single = pixels(), reals().astype(np.float32)
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), -1.0)
    wide[::2, ::3] = X
    _compare(family, X, read_only(X), "read-only X")
    _compare(family, X, np.asfortranarray(X), "Fortran-ordered X")
    _compare(family, X, wide[::2, ::3], "X with strides")
    _compare(family, X, X.astype(np.float32), "float32 X")
    _compare(family, single.astype(np.float64), single, "float32 X of real numbers")
    _compare(family, X, as_bytes(X), "uint8 X")
    if family.capabilities.sparse_input:
        for form in (sparse.csr_array, sparse.csc_array):
            _compare(family, X, read_only(form(X)), f"read-only {form.format} X")


def check_weights_layout(family):
    """Check that the weights may have padded rows and may be read-only."""
    X = pixels()
    weights = boosting_weights(len(X))
    padded = np.full((weights.shape[0], weights.shape[1] + 5), np.nan)
    padded[:, : len(X)] = weights
    padded.flags.writeable = False
    expected = bind(family, X)
    pricer = bind(family, X)
    view = padded[:, : len(X)]
    for method, what in (("price", "padded weights"), ("price_shared", "padded weights, shared")):
        first, second = getattr(expected, method), getattr(pricer, method)
        assert_same_answers(family, [first(weights, WHOLE)], [second(view, WHOLE)], what)


def check_one_feature(family):
    """Check that X may have a single feature, with and without ties."""
    for X in (pixels()[:, :1], pixels()[:, -1:], reals(33, 1)):
        weights = integer_weights(len(X))
        assert_priced(family, bind(family, X).price(weights, WHOLE), X, weights, "one feature")


def check_constant_features(family):
    """Check that some or all features may be constant; the latter leaves constant learners."""
    X = pixels()
    X[:, 0] = X[0, 0]
    weights = integer_weights(len(X))
    assert_priced(family, bind(family, X).price(weights, WHOLE), X, weights, "a constant feature")
    X[:] = X[0]
    for variant in (X, X.astype(np.float32), as_bytes(X)):
        priced = bind(family, variant).price(weights, WHOLE)
        what = "all features constant"
        assert_priced(family, priced, variant, weights, what)
        expected = np.abs(weights.sum(axis=1))
        assert np.array_equal(priced.edges, expected), (
            f"{what}: the best edge must be that of a constant, {expected}, got {priced.edges}"
        )


def check_one_example(family):
    """Check that X may have one example, whose absolute weight is the edge, or two."""
    weights = np.array([[2.0], [-3.0], [0.0]])
    for X in (reals(1, 4), as_bytes(pixels(1, 1))):
        priced = bind(family, X).price(weights, WHOLE)
        assert_priced(family, priced, X, weights, "one example")
        assert np.array_equal(priced.edges, [2.0, 3.0, 0.0]), (
            f"one example: edges must be [2, 3, 0], got {priced.edges}"
        )
    X, weights = reals(2, 4), integer_weights(2)
    assert_priced(family, bind(family, X).price(weights, WHOLE), X, weights, "two examples")


def check_new_examples(family):
    """Check that learners predict on examples far outside the training data."""
    X = pixels()
    learners = bind(family, X).price(integer_weights(len(X)), WHOLE).learners
    for value in (-1e30, -1.0, 300.0, 1e30):
        outputs = learners.outputs(np.full((3, X.shape[1]), value))
        assert np.isin(outputs, (-1, 1)).all(), f"features of {value}: outputs {outputs}"
        assert (outputs == outputs[0]).all(), f"features of {value}: equal rows, unequal outputs"
