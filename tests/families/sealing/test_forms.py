"""Forms of learners that differ are named; the training matrix is handed out read-only."""

from dataclasses import replace

import numpy as np
import pytest
from cwboost.plugins.stumps import StumpFamily
from models import context
from scipy import sparse

from cwboost import CWBoostClassifier, FamilyFault
from cwboost.datasets import load_vowel
from cwboost.families.discovery import resolve_weak_learner
from cwboost.families.sealing.forms import check_forms, check_scores
from cwboost.families.sealing.pricer import bind_family

X, y = load_vowel(return_X_y=True)
FORMS = {"dense": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_array}


def fitted(family):
    pricer = bind_family(family, X, context())
    weights = np.random.default_rng(0).normal(size=(11, len(X)))
    return pricer.price(weights).learners, pricer.sample.X


@pytest.mark.parametrize("family", ["stump", "tree", "projection", ["stump", "tree"]], ids=str)
def test_forms_agree_for_coefficients_of_any_size(family):
    family = resolve_weak_learner(family)
    learners, sample = fitted(family)
    coef = np.random.default_rng(1).normal(size=(len(learners), 3)) * 10.0 ** np.arange(-9, 9, 6)
    check_forms(learners, family, sample, sparse.csr_array(coef))
    check_forms(learners, family, sample, np.full((len(learners), 1), 5e-324))
    check_forms(learners.take([]), family, sample)


def test_the_flat_form_of_directions_is_compared_too():
    learners, sample = fitted(resolve_weak_learner("projection"))
    flat = learners.flat_form()
    assert flat.directions is not None
    for wrong in (replace(flat, output=-flat.output), replace(flat, directions=-flat.directions)):
        form = {"flat_form": lambda self, wrong=wrong: wrong}
        other = type("Wrong", (type(learners),), form).from_arrays(learners.arrays(), X.shape[1])
        with pytest.raises(FamilyFault, match="the flat form of learner"):
            check_forms(other, resolve_weak_learner("projection"), sample)


def test_scores_are_checked():
    scores = np.full((3, 2), 1e308)  # whose sum overflows
    assert check_scores(scores, StumpFamily(), (3, 2)) is scores
    for bad in (np.nan, np.inf, -np.inf):
        scores = np.zeros((3, 2))
        scores[1, 1] = bad
        with pytest.raises(FamilyFault, match="score 1 of example 1 must be finite"):
            check_scores(scores, StumpFamily(), (3, 2))


def parts_of(X):
    return [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]


@pytest.mark.parametrize("form", FORMS)
def test_the_training_matrix_is_handed_out_read_only_and_not_copied(form):
    given, seen = FORMS[form](X), []

    class Curious(StumpFamily):
        def bind(self, X, context):
            seen.append(X)
            return super().bind(X, context)

    pricer = bind_family(Curious(), given, context())
    (found,) = seen
    assert type(found) is type(given)
    for ours, theirs in zip(parts_of(given), parts_of(found), strict=True):
        assert np.shares_memory(ours, theirs) and ours.flags.writeable
        assert not theirs.flags.writeable
    for part in parts_of(pricer.sample.X):
        assert not part.flags.writeable
        assert not any(np.shares_memory(part, ours) for ours in parts_of(given))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_family_that_edits_the_training_matrix_fails_alone(form, part):
    """It changed the matrix of the families beside it, and its error fell to 0."""

    class Editing(StumpFamily):
        def bind(self, X, context):
            arrays = parts_of(X)
            arrays[part % len(arrays)][...] = 1
            return super().bind(X, context)

    given = FORMS[form](X)
    before = given.copy()
    with pytest.raises(ValueError, match="read-only") as caught:
        CWBoostClassifier(["stump", Editing()], init=None, n_estimators=3).fit(given, y)
    notes = getattr(caught.value, "__notes__", None) or [str(caught.value)]
    assert any("raised by bind of weak learner 'stump'" in note for note in notes)
    for ours, theirs in zip(parts_of(before), parts_of(given), strict=True):
        np.testing.assert_array_equal(ours, theirs)
