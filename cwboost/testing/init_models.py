"""Checks of init models: base scores of training examples and of others."""

import numpy as np
from scipy import sparse

from cwboost.families.sealing.faults import check_array
from cwboost.testing.check import check
from cwboost.testing.material import (
    dense_forms,
    fit_init,
    init_scores,
    levels,
    on,
    pixels,
    reals,
    same_arrays,
    with_missing,
)


@check("Return finite float64 scores, and leave X as it is; refuse what is sparse or infinite.")
def check_scores_of_every_matrix(model):
    """Check fit and scores on dense and sparse X of every dtype and layout, with NaN and without.

    Scores are finite float64, one per example and class. `fit` returns two times None for examples
    that do not suit the model, such as those of a class of one. It may refuse sparse matrices,
    categories and infinities with a TypeError or ValueError. X, y and weights are read-only.
    """
    X = pixels()
    gaps = with_missing(X)
    kinds = {"finite X": X, "X with gaps": gaps, "a constant X": np.repeat(X[:1], 61, axis=0)}
    kinds |= dict(dense_forms(X))
    may_be_refused = {
        "X with infinities": np.where(np.isnan(gaps), np.inf, gaps),
        "categories": with_missing(X % 5),
        "CSR": sparse.csr_array(X),
        "CSC": sparse.csc_array(X),
    }
    for what, variant in (kinds | may_be_refused).items():
        facts = {} if what != "categories" else {"categorical": np.ones(X.shape[1], dtype=bool)}
        with on(what):
            try:
                made, _ = fit_init(model, variant, **facts)
            except (TypeError, ValueError):
                if what in may_be_refused:
                    continue
                raise
            if made is not None:
                init_scores(model, made, variant)
    fit_init(model, X, n_classes=2)
    fit_init(model, X, np.repeat([0, 1, 2], [1, 30, 30]))


@check("Draw from context.random_state alone; add in one fixed order.")
def check_fit_is_repeatable(model):
    """Check that a seed gives the same model and scores, at any number of threads."""
    X = levels(90, 5)
    made, scores = fit_init(model, X)
    for n_threads in (1, 2):
        again, others = fit_init(model, X, n_threads=n_threads)
        assert (again is None) == (made is None), "fit returns None only sometimes"
        if made is None:
            continue
        with on(f"{n_threads} threads against 1"):
            assert same_arrays(again, made), "the arrays differ"
            assert np.array_equal(others, scores), "the scores differ"
            one, several = (init_scores(model, made, X, n) for n in (1, n_threads))
            assert np.array_equal(one, several), "the scores of new rows differ"


@check("Give the likeliest class the largest score.")
def check_scores_rise_with_the_class(model):
    """Check that the largest score is that of the own class no less often than by chance.

    The classes are the thirds of the examples by their first feature.
    """
    X = pixels(90)
    X = X[np.argsort(X[:, 0], kind="stable")]
    y = np.repeat([0, 1, 2], 30)
    made, left_out = fit_init(model, X, y)
    scored = {} if made is None else {"scores": init_scores(model, made, X), "fit": left_out}
    for method, scores in scored.items():
        right = np.mean(scores.argmax(axis=1) == y)
        assert right > 0.25, (
            f"the largest score that {method} returns is that of the own class for {right:.0%} of "
            "the examples, by chance for a third"
        )


@check("Cross-fit by context.folds, or leave each example out in closed form.")
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
        _, scores = fit_init(model, np.repeat(X, copies, axis=0), labels, **facts)
        right = 0.0 if scores is None else np.mean(scores.argmax(axis=1) == labels)
        assert right < 0.55, (
            f"the scores of training {what} guess {right:.0%} of random labels right: they have "
            "seen them"
        )


@check("Let context.weight count, as copies of the examples would.")
def check_weights(model):
    """Check that weights count as copies: they bring the scores nearer to those of a fit on copies.

    A quarter of the examples has a weight of 5 and labels that contradict those of the others.
    """
    X, heavy = reals(96, 3, seed=52), np.arange(96) % 4 == 0
    y = (np.digitize(X[:, 0], [-0.5, 0.5]) + heavy) % 3
    order = np.argsort(y, kind="stable")
    X, y, weight = X[order], y[order], np.where(heavy, 5, 1)[order]
    folds, every, copies = np.arange(96) % 3, np.arange(96), np.repeat(np.arange(96), weight)
    scores = []
    for rows, given in (
        (copies, np.ones(len(copies))),
        (every, 1.0 * weight),
        (every, np.ones(96)),
    ):
        facts = {"folds": folds[rows], "alone": False, "weight": given}
        made, _ = fit_init(model, X[rows], y[rows], **facts)
        if made is None:
            return
        scores.append(init_scores(model, made, X))
    near, far = (np.abs(found - scores[0]).mean() for found in scores[1:])
    assert near < far or far == 0, (
        f"the scores of a fit with weights are {near:.3g} from those of a fit with copies, those "
        f"of a fit without weights {far:.3g}"
    )


@check("Take X[rows] in their order, or leave fit_rows to the base class.")
def check_fit_rows(model):
    """Check that fit_rows() does what fit() of a copy of these rows does."""
    X, order = with_missing(pixels(90)), np.random.default_rng(5).permutation(90)
    for what, rows in (("all rows", order), ("some rows", order[:60])):
        (one, scores), (other, others) = fit_init(model, X[rows]), fit_init(model, X, rows=rows)
        with on(f"fit_rows of {what}"):
            assert (one is None) == (other is None), "it alone returns None"
            if one is not None:
                assert same_arrays(other, one), "the arrays differ"
                assert np.array_equal(others, scores), "the scores differ"


@check("Return None, or values of each row that end at its scores.")
def check_shapley_values(model):
    """Check shapley_values, if implemented: with the base they are the scores, row by row."""
    X = pixels()
    made, _ = fit_init(model, X)
    for background in (None, X[::3]):
        explained = made.shapley_values(X, background)
        if explained is None:
            return
        values, base = explained
        scores = made.scores(X)
        shape = (*X.shape, scores.shape[1])
        check_array("values", values, np.dtype(np.float64), shape, AssertionError)
        total, size = base + values.sum(axis=1), np.abs(scores).max() + np.abs(values).max()
        assert np.allclose(total, scores, rtol=0, atol=1e-9 * size), "values must add up to scores"
        one = made.shapley_values(X[:1], background)[0]
        assert np.allclose(one, values[:1], rtol=0, atol=1e-9 * size), "values depend on other rows"
