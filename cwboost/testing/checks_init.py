"""Checks of init models: base scores of training examples and of others."""

import numpy as np
from scipy import sparse

from cwboost.families.init_models import checked_scores
from cwboost.families.sealing.faults import add_note, check_array
from cwboost.testing.material import (
    as_bytes,
    fit_init,
    init_scores,
    levels,
    pixels,
    reals,
    same_arrays,
    with_missing,
)


def check_scores_of_every_matrix(model):
    """Check fit and scores on dense and sparse X of every dtype and layout, with NaN and without.

    Scores are finite float64, one per example and class. `fit` returns two times None for examples
    that do not suit the model, such as those of a class of one. It may refuse sparse matrices and
    infinities with a TypeError or ValueError, and categories too. X, y and weights are read-only.
    """
    X = pixels()
    missing = with_missing(X)
    for what, variant, n_classes in (
        ("float64 X", X, 3),
        ("two classes", X, 2),
        ("Fortran-ordered X", np.asfortranarray(X), 3),
        ("X with strides", np.repeat(X, 2, axis=0)[::2], 3),
        ("float32 X", X.astype(np.float32), 3),
        ("uint8 X", as_bytes(X), 3),
        ("X with NaN", missing, 3),
        ("X with infinities", np.where(np.isnan(missing), np.inf, missing), 3),
        ("a constant X", np.repeat(X[:1], 61, axis=0), 3),
        ("CSR", sparse.csr_array(X), 3),
        ("CSC", sparse.csc_array(X), 3),
    ):
        may_refuse = sparse.issparse(variant) or bool(np.isinf(variant).any())
        try:
            _fit_and_score(model, variant, None, n_classes, may_refuse)
        except Exception as error:
            add_note(error, what)
            raise
    _fit_and_score(model, X, np.repeat([0, 1, 2], [1, 30, 30]))
    codes = with_missing(X % 5)
    _fit_and_score(model, codes, may_refuse=True, categorical=np.ones(X.shape[1], dtype=bool))


def _fit_and_score(model, X, y=None, n_classes=3, may_refuse=False, **facts):
    """Return the scores of training examples, None for none; check both kinds of scores."""
    try:
        made, scores = fit_init(model, X, y, n_classes, **facts)
    except (TypeError, ValueError):
        if may_refuse:
            return None
        raise
    if made is None:
        assert scores is None, "fit must return scores with a fitted model only"
        return None
    fitted_type = type(model).fitted_type
    assert isinstance(made, fitted_type), f"fit must return a {fitted_type.__name__}, got {made!r}"
    checked_scores(scores, model, (X.shape[0], n_classes))
    init_scores(model, made, X, n_classes=n_classes)
    return scores


def check_scores_without_own_label(model):
    """Check that the scores of training examples know nothing of these examples' own labels.

    Labels are drawn at random, many features let a model learn them by heart. Scores that have not
    seen them are right for a third of the examples: of single ones, and of equal ones that share a
    fold.
    """
    X = reals(120, 100, seed=50)
    y = np.sort(np.random.default_rng(51).integers(0, 3, size=120))
    together = {"folds": np.repeat(np.arange(120) % 3, 4), "alone": False}
    for what, copies, facts in (
        ("examples", 1, {}),
        ("examples with copies in the same fold", 4, together),
    ):
        labels = np.repeat(y, copies)
        scores = _fit_and_score(model, np.repeat(X, copies, axis=0), labels, **facts)
        right = 0.0 if scores is None else np.mean(scores.argmax(axis=1) == labels)
        assert right < 0.55, (
            f"the scores of training {what} guess {right:.0%} of random labels right: they have "
            "seen them"
        )


def check_scores_rise_with_the_class(model):
    """Check that the largest score is that of the own class no less often than by chance.

    The classes are the thirds of the examples by their first feature.
    """
    X = pixels(90)
    X = X[np.argsort(X[:, 0], kind="stable")]
    y = np.repeat([0, 1, 2], 30)
    made, left_out = fit_init(model, X, y)
    found = {} if made is None else {"scores": init_scores(model, made, X), "fit": left_out}
    for method, scores in found.items():
        right = np.mean(scores.argmax(axis=1) == y)
        assert right > 0.25, (
            f"the largest score that {method} returns is that of the own class for {right:.0%} of "
            "the examples, by chance for a third"
        )


def check_weights(model):
    """Check that weights count as copies: they bring the scores nearer to those of a fit on copies.

    A quarter of the examples has a weight of 5 and labels that contradict those of the others.
    """
    X = reals(96, 3, seed=52)
    heavy = np.arange(96) % 4 == 0
    y = (np.digitize(X[:, 0], [-0.5, 0.5]) + heavy) % 3
    order = np.argsort(y, kind="stable")
    X, y, weight = X[order], y[order], np.where(heavy, 5, 1)[order]
    folds, rows = np.arange(96) % 3, np.repeat(np.arange(96), weight)

    def scores(rows, weight):
        facts = {"folds": folds[rows], "alone": False, "weight": weight}
        made, _ = fit_init(model, X[rows], y[rows], **facts)
        return None if made is None else init_scores(model, made, X)

    copied, weighted, plain = (
        scores(rows, np.ones(len(rows))),
        scores(np.arange(96), weight.astype(np.float64)),
        scores(np.arange(96), np.ones(96)),
    )
    if copied is None or weighted is None or plain is None:
        return
    near, far = (np.abs(found - copied).mean() for found in (weighted, plain))
    assert near < far or far == 0, (
        f"the scores of a fit with weights are {near:.3g} from those of a fit with copies, those "
        f"of a fit without weights {far:.3g}"
    )


def check_fit_is_repeatable(model):
    """Check that a seed gives the same model and scores, at any number of threads."""
    X = levels(90, 5)
    made, scores = fit_init(model, X)
    for n_threads in (1, 2):
        again, others = fit_init(model, X, n_threads=n_threads)
        assert (again is None) == (made is None), "fit returns None only sometimes"
        if made is None:
            continue
        what = f"{n_threads} threads against 1"
        assert same_arrays(again, made), f"{what}: the arrays differ"
        assert np.array_equal(others, scores), f"{what}: the scores differ"
        one, several = (init_scores(model, made, X, n) for n in (1, n_threads))
        assert np.array_equal(one, several), f"{what}: the scores of new rows differ"


def check_fit_rows(model):
    """Check that fit_rows() does what fit() of a copy of these rows does."""
    X = with_missing(pixels(90))
    order = np.random.default_rng(5).permutation(len(X))
    for what, rows in ("all rows", order), ("some rows", order[:60]):
        expected, found = fit_init(model, X[rows]), fit_init(model, X, rows=rows)
        assert (expected[0] is None) == (found[0] is None), f"fit_rows of {what} alone returns None"
        if found[0] is not None:
            assert same_arrays(found[0], expected[0]), f"fit_rows of {what}: the arrays differ"
            assert np.array_equal(found[1], expected[1]), f"fit_rows of {what}: the scores differ"


def check_shapley_values(model):
    """Check shapley_values, if implemented: with the base they are the scores, row by row."""
    X = pixels()
    made, _ = fit_init(model, X)
    for background in (None, X[::3]):
        found = made.shapley_values(X, background)
        if found is None:
            return
        values, base = found
        scores = made.scores(X)
        shape = (*X.shape, scores.shape[1])
        check_array("values", values, np.dtype(np.float64), shape, AssertionError)
        total, size = base + values.sum(axis=1), np.abs(scores).max() + np.abs(values).max()
        assert np.allclose(total, scores, rtol=0, atol=1e-9 * size), "values must add up to scores"
        one = made.shapley_values(X[:1], background)[0]
        assert np.allclose(one, values[:1], rtol=0, atol=1e-9 * size), "values depend on other rows"
