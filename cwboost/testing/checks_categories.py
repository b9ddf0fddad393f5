"""Checks of families that take columns of categories."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from cwboost.families.contract import BindContext
from cwboost.families.outputs import unpack_outputs
from cwboost.families.sealing.forms import check_forms
from cwboost.testing.material import WHOLE, assert_priced, integer_weights

MOST_CATEGORIES = 6


def check_categories(family):
    """Check that codes of categories are priced, predicted, stored and scored alike.

    One column of two holds categories, one of which does not occur in training. Exact pricing must
    find the same edges however the codes are numbered.
    """
    n_categories = min(MOST_CATEGORIES, family.capabilities.max_categories)
    _check_order(family, n_categories)
    _check_shared(family, n_categories)
    rng = np.random.default_rng(60)
    numbers, codes = rng.standard_normal(80), rng.integers(0, max(1, n_categories - 1), size=80)
    renamed = rng.permutation(n_categories)
    weights = integer_weights(80)
    for what, column in (("codes", codes), ("renamed codes", renamed[codes])):
        X = np.column_stack([numbers, column.astype(np.float64)])
        if family.capabilities.missing_values:
            X[::9, 1] = np.nan
        priced = _bind(family, X, n_categories).price(weights, WHOLE)
        outputs = assert_priced(family, priced, X, weights, what, len(priced.learners))
        target = np.arange(len(weights)) if priced.target is None else priced.target
        edges = np.einsum("ti,it->t", weights[target], outputs)
        assert np.allclose(edges, priced.edges), f"{what}: edges are not those of the outputs"
        stored = family.learners_type.from_arrays(priced.learners.arrays(), X.shape[1])
        every = np.column_stack([np.zeros(n_categories), np.arange(n_categories)])
        for rows in (X, X.astype(np.float32), every):
            assert np.array_equal(stored.outputs(rows), priced.learners.outputs(rows)), (
                f"{what}: stored learners predict differently"
            )
            check_forms(priced.learners, family, rows)


def _check_order(family, n_categories):
    rng = np.random.default_rng(62)
    codes, renamed = rng.integers(0, n_categories, size=(2, 60)), rng.permutation(n_categories)
    weights = integer_weights(60)
    pricers = [
        _bind(family, X.T.astype(np.float64), n_categories, all_categorical=True)
        for X in (codes, renamed[codes])
    ]
    if not pricers[0].exact:
        return
    edges = [pricer.price(weights, WHOLE).edges for pricer in pricers]
    assert np.allclose(*edges), f"edges depend on the numbering of the categories: {edges}"


def _check_shared(family, n_categories):
    rng = np.random.default_rng(63)
    X = rng.integers(0, n_categories, size=(50, 2)).astype(np.float64)
    weights = integer_weights(50)
    priced = _bind(family, X, n_categories, all_categorical=True).price_shared(weights, WHOLE)
    outputs = unpack_outputs(priced.outputs, 50)
    assert np.array_equal(outputs, priced.learners.outputs(X)), "outputs of price_shared differ"
    assert np.allclose(np.abs(weights @ outputs).sum(axis=0), priced.edges), (
        "edges of price_shared differ"
    )


def _bind(family, X, n_categories, all_categorical=False):
    context = BindContext(
        n_targets=3,
        random_state=np.random.default_rng(0),
        categorical=np.array([all_categorical, True]),
        n_categories=np.array([n_categories * all_categorical, n_categories]),
    )
    return clone(family).bind(X, context)
